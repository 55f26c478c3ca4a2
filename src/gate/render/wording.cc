// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "engine/base/text.h"
#include "src/render/change_text.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

// Where rules of the program lie, which are no files of the repository.
constexpr std::string_view kBuiltIn = "built-in/";

bool IsKnown(const std::optional<double>& value) { return value && std::isfinite(*value); }

bool Regressed(const MetricVerdict& metric) {
  return metric.level == Level::kError && metric.verdict == Verdict::kRegressed && metric.not_gated.empty();
}

bool InconclusiveFails(const GateResult& result) {
  return result.exit_status == 1 && std::ranges::none_of(result.metrics, Regressed) &&
         std::ranges::none_of(result.rules, [](const RuleVerdict& rule) { return Fails(rule); }) &&
         std::ranges::none_of(result.trends, [](const Trend& trend) { return Fails(trend); });
}

bool IsWorse(Verdict verdict) { return verdict == Verdict::kRegressed || verdict == Verdict::kInconclusive; }

}  // namespace

bool Fails(const GateResult& result, const MetricVerdict& metric) {
  return Regressed(metric) || (metric.level == Level::kError && metric.verdict == Verdict::kInconclusive &&
                               metric.not_gated.empty() && InconclusiveFails(result));
}

bool Fails(const RuleVerdict& rule) {
  return rule.level == Level::kError && rule.verdict == Verdict::kRegressed;
}

bool Fails(const Trend& trend) {
  return trend.level == Level::kError && trend.verdict == Verdict::kRegressed;
}

bool Warns(const GateResult& result, const MetricVerdict& metric) {
  return metric.level >= Level::kWarn && metric.not_gated.empty() && IsWorse(metric.verdict) &&
         !Fails(result, metric);
}

bool Warns(const RuleVerdict& rule) {
  return rule.level >= Level::kWarn && rule.change != RuleVerdict::Change::kGone && !Fails(rule);
}

bool Warns(const Trend& trend) {
  return trend.level >= Level::kWarn && trend.verdict == Verdict::kRegressed && !Fails(trend);
}

std::string OutcomeText(const GateResult& result) {
  if (result.exit_status == 3) return "Not judged";
  if (result.exit_status == 2 || result.verdict == Verdict::kNotComparable) return "Not comparable";
  if (result.exit_status != 0) return "Gate failed";
  switch (result.verdict) {
    case Verdict::kImproved:
      return "Gate passed, improved";
    case Verdict::kInconclusive:
      return "Gate passed, inconclusive";
    default:
      return "Gate passed";
  }
}

std::string VerdictText(const MetricVerdict& metric) {
  if (metric.verdict != Verdict::kRegressed || !MissesBudget(metric))
    return std::string(VerdictName(metric.verdict));
  return metric.max && *metric.candidate > *metric.max ? "over its budget" : "below its least";
}

std::string VerdictClass(Verdict verdict) {
  std::string name(VerdictName(verdict));
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string_view ChangeName(RuleVerdict::Change change) {
  switch (change) {
    case RuleVerdict::Change::kNew:
      return "new";
    case RuleVerdict::Change::kVisible:
      return "newly visible";
    case RuleVerdict::Change::kNotEvaluated:
      return "not evaluated";
    case RuleVerdict::Change::kStill:
      return "still";
    case RuleVerdict::Change::kGone:
      return "gone";
  }
  return "";
}

std::string ValueText(const std::optional<double>& value, Unit unit, const char* unknown) {
  return IsKnown(value) ? FormatValue(*value, unit) : unknown;
}

std::string PercentText(const std::optional<double>& ratio) {
  return IsKnown(ratio) ? ChangeText(*ratio) : "";
}

std::string IntervalText(const MetricVerdict& metric) {
  return IsKnown(metric.low) && IsKnown(metric.high) ? ChangeRangeText(*metric.low, *metric.high) : "";
}

std::string StepText(const MetricVerdict& metric) {
  const bool before = IsKnown(metric.baseline), after = IsKnown(metric.candidate);
  if (!before || !after) return before ? "gone" : after ? "new" : "";
  const double step = *metric.candidate - *metric.baseline;
  return (step < 0 ? "-" : step > 0 ? "+" : "±") + FormatValue(std::abs(step), metric.unit);
}

std::string BudgetText(const MetricVerdict& metric) {
  std::string text;
  if (IsKnown(metric.max)) text = "at most " + FormatValue(*metric.max, metric.unit);
  if (IsKnown(metric.min))
    text += (text.empty() ? "" : ", ") + std::string("at least ") + FormatValue(*metric.min, metric.unit);
  return text;
}

std::string SubjectText(const std::vector<std::string>& subjects) {
  if (subjects.size() > 1)
    return fmt::format("{} and {} more", SubjectText({subjects.front()}), subjects.size() - 1);
  const std::string& subject = subjects.front();
  const auto keys = nlohmann::ordered_json::parse(subject, nullptr, false);
  if (!keys.is_object()) return subject;
  std::string text;
  for (const auto& [name, value] : keys.items())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name,
                        value.is_string()
                            ? value.get<std::string>()
                            : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  return text;
}

std::string SavingText(const RuleVerdict& rule) {
  if (!IsKnown(rule.saves_high_ns) || *rule.saves_high_ns <= 0) return "";
  std::string text = FormatValue(*rule.saves_high_ns, Unit::kNanoseconds);
  if (!IsKnown(rule.saves_low_ns) || *rule.saves_low_ns <= 0)
    text = "up to " + text;
  else if (const std::string low = FormatValue(*rule.saves_low_ns, Unit::kNanoseconds); low != text)
    text = low + " – " + text;
  return rule.saves_per_step ? text + " per step" : text;
}

std::string TextOr(const std::string& text, const char* otherwise) { return text.empty() ? otherwise : text; }

std::string CountText(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", WithThousands(static_cast<int64_t>(count)), noun, count == 1 ? "" : "s");
}

std::string SideText(const Side& side) {
  if (side.runs.empty()) return "was not read";
  std::string text = CountText(side.runs.size(), "run");
  if (side.ranks > 1) text += " of " + CountText(side.ranks, "rank");
  text += ", " + (side.steps == 0 ? "no steady steps" : CountText(side.steps, "steady step"));
  if (!side.incomplete.empty()) text += fmt::format(", {} incomplete", side.incomplete.size());
  if (side.unreadable > 0)
    text += fmt::format(", and {} that cannot be read", CountText(side.unreadable, "file"));
  return text;
}

std::vector<const MetricVerdict*> ExplainedBy(const GateResult& result, std::string_view prefix) {
  std::vector<const MetricVerdict*> metrics;
  for (const MetricVerdict& metric : result.explanation)
    if (metric.metric.starts_with(prefix)) metrics.push_back(&metric);
  return metrics;
}

std::string_view NameWithin(const MetricVerdict& metric) {
  const std::string_view name = metric.metric;
  const size_t slash = name.find('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

std::vector<const RuleVerdict*> RulesThatAre(const GateResult& result, RuleVerdict::Change change) {
  std::vector<const RuleVerdict*> rules;
  for (const RuleVerdict& rule : result.rules)
    if (rule.change == change && rule.level != Level::kOff) rules.push_back(&rule);
  return rules;
}

std::string RelativePath(std::string_view path, std::string_view root, std::string_view folder) {
  if (path.empty()) return "";
  std::string text = ValidUtf8(path);
  std::ranges::replace(text, '\\', '/');
  const bool drive = text.size() > 1 && text[1] == ':';
  if (text.starts_with('/') || drive) {
    std::string below(root);
    std::ranges::replace(below, '\\', '/');
    if (!below.empty() && !below.ends_with('/')) below += '/';
    if (below.empty() || !text.starts_with(below)) return "";
    text.erase(0, below.size());
  } else if (!folder.empty()) {
    text = std::string(folder) + "/" + text;
  }
  std::string clean;  // without "." and "..", as far as that can be
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (clean.empty()) return "";
      clean.erase(clean.find_last_of('/') == std::string::npos ? 0 : clean.find_last_of('/'));
    } else {
      clean += (clean.empty() ? "" : "/") + std::string(part);
    }
  }
  return clean;
}

FilePlace PlaceInCheckout(const RuleVerdict& rule, std::string_view root, std::string_view folder) {
  // Profiles name files of libraries, too, some relative to where those are installed.
  std::error_code ignored;
  const bool is_there = fs::is_directory(root, ignored);
  const auto has = [&](const std::string& path) {
    return !path.empty() && (!is_there || fs::is_regular_file(fs::path(root) / path, ignored));
  };
  // A relative one was recorded where the program ran: in the working folder, or else in the root.
  for (const std::string_view ran : {folder, std::string_view()})
    if (std::string path = RelativePath(rule.source_file, root, ran); has(path))
      return {std::move(path), rule.source_line};
  if (rule.rule_file.starts_with(kBuiltIn)) return {};
  if (std::string path = RelativePath(rule.rule_file, root, folder); has(path))
    return {std::move(path), rule.rule_line};
  return {};
}

std::string PathUri(std::string_view path) {
  std::string uri;
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace dladvisor
