// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/annotations.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/gate/render/wording.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr size_t kMaxAnnotations = 10;  // of a kind that GitHub shows of a step
constexpr size_t kMaxColumns = 1000;

// `text` may have lines of our own; those of profiles are visible already.
std::string EscapeData(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '%')
      escaped += "%25";
    else if (c == '\r')
      escaped += "%0D";
    else if (c == '\n')
      escaped += "%0A";
    else
      escaped += c;
  }
  return escaped;
}

std::string EscapeProperty(std::string_view text) {
  std::string escaped;
  for (const char c : EscapeData(text)) {
    if (c == ':')
      escaped += "%3A";
    else if (c == ',')
      escaped += "%2C";
    else
      escaped += c;
  }
  return escaped;
}

struct Annotation {
  std::string title, message;
  std::string file;  // or ""
  int line = 0;
};

std::string OnOneLine(const std::string& text) { return Ellipsize(Visible(OneLine(text)), kMaxColumns); }

// `policy` is where it is shown.
Annotation Of(const MetricVerdict& metric, const std::string& policy) {
  std::string message = OnOneLine(metric.why);
  if (message.empty())
    message = fmt::format("{} before, {} now", ValueText(metric.baseline, metric.unit),
                          ValueText(metric.candidate, metric.unit));
  // The change is not what makes a budget be missed.
  const std::string change = MissesBudget(metric) ? "" : PercentText(metric.change);
  return {fmt::format("{} {}{}", OnOneLine(metric.title), VerdictText(metric),
                      change.empty() ? "" : " (" + change + ")"),
          message, policy, policy.empty() ? 0 : 1};
}

Annotation Of(const Trend& trend, const std::string& policy) {
  return {OnOneLine(trend.title) + ": trend regressed", OnOneLine(trend.why), policy, policy.empty() ? 0 : 1};
}

// Shown where it happens in the program, else where the rule stands, else at the policy.
Annotation Of(const RuleVerdict& rule, std::string_view root, std::string_view folder,
              const std::string& policy) {
  std::string message = OnOneLine(rule.problem.text);
  if (!rule.recommendation.empty()) message += "\n" + OnOneLine(rule.recommendation[0]);
  if (const std::string saving = SavingText(rule); !saving.empty()) message += "\nSaves " + saving + ".";
  FilePlace place = PlaceInCheckout(rule, root, folder);
  if (place.path.empty()) place = {policy, policy.empty() ? 0 : 1};
  return {fmt::format("{} [{}]", OnOneLine(rule.title), OnOneLine(rule.rule)), message, Visible(place.path),
          place.line};
}

std::string Command(const char* kind, const Annotation& annotation) {
  std::string command = fmt::format("::{} ", kind);
  if (!annotation.file.empty()) {
    command += "file=" + EscapeProperty(annotation.file) + ",";
    if (annotation.line > 0) command += fmt::format("line={},", annotation.line);
  }
  return command + "title=" + EscapeProperty(annotation.title) + "::" + EscapeData(annotation.message) + "\n";
}

std::string Commands(const char* kind, std::vector<Annotation> annotations) {
  if (annotations.size() > kMaxAnnotations) {
    const size_t left_out = annotations.size() - (kMaxAnnotations - 1);
    annotations.resize(kMaxAnnotations - 1);
    annotations.push_back({fmt::format("{} more", left_out),
                           "GitHub shows ten annotations of a kind; the gate's report has all.", "", 0});
  }
  std::string commands;
  for (const Annotation& annotation : annotations) commands += Command(kind, annotation);
  return commands;
}

}  // namespace

std::string RenderGateAnnotations(const GateResult& result, std::string_view root) {
  std::vector<Annotation> errors, warnings;
  const std::string policy = Visible(RelativePath(result.policy_file, root, result.folder));
  if (result.verdict == Verdict::kNotComparable)
    (result.exit_status == 0 ? warnings : errors)
        .push_back({OutcomeText(result),
                    OnOneLine(result.headline) + (result.next_step.empty() ? "" : "\n") +
                        OnOneLine(result.next_step),
                    "", 0});
  for (const MetricVerdict& metric : result.metrics) {
    if (Fails(result, metric)) {
      errors.push_back(Of(metric, policy));
      // Which names the cause; of a budget there is no more to say than why.
      if (errors.size() == 1 && !MissesBudget(metric)) errors[0].message += "\n" + OnOneLine(result.headline);
    }
    if (Warns(result, metric)) warnings.push_back(Of(metric, policy));
  }
  for (const Trend& trend : result.trends) {
    if (Fails(trend)) errors.push_back(Of(trend, policy));
    if (Warns(trend)) warnings.push_back(Of(trend, policy));
  }
  // What is new matters more than what was there; of either, what saves most.
  std::vector<const RuleVerdict*> rules;
  for (const RuleVerdict& rule : result.rules) rules.push_back(&rule);
  std::ranges::stable_sort(rules, [](const RuleVerdict* a, const RuleVerdict* b) {
    if (a->change != b->change) return a->change < b->change;
    return a->saves_high_ns.value_or(0) > b->saves_high_ns.value_or(0);
  });
  for (const RuleVerdict* rule : rules) {
    if (Fails(*rule)) errors.push_back(Of(*rule, root, result.folder, policy));
    if (Warns(*rule)) warnings.push_back(Of(*rule, root, result.folder, policy));
  }
  return Commands("error", std::move(errors)) + Commands("warning", std::move(warnings));
}

}  // namespace dladvisor
