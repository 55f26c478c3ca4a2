// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/durations.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestTimedLine = 1024;
// Before a time, where words say that it is left.
constexpr size_t kWordsBefore = 24;

bool IsDigitOf(char c) { return c >= '0' && c <= '9'; }

// "5m", "1.5 hours": cheap to find, and rare.
bool HasLongUnit(std::string_view line) {
  for (size_t at = line.find_first_of("0123456789"); at != std::string_view::npos && at + 1 < line.size();
       at = line.find_first_of("0123456789", at + 1)) {
    const size_t unit = at + (line[at + 1] == ' ' ? 2 : 1);
    if (unit < line.size() && (line[unit] == 'm' || line[unit] == 'h')) return true;
  }
  return false;
}

std::string WithoutLongUnits(std::string_view line) {
#define MINUTES R"((\d{1,5}) ?m(?:in(?:ute)?s?)?)"
#define SECONDS R"((\d{1,2}(?:\.\d+)?) ?s(?:ec(?:ond)?s?)?)"
  static const RE2 time(R"((?i)\b(?:(\d{1,4}) ?h(?:ours?|rs?)? ?(?:and )?)" MINUTES "(?: ?(?:and )?" SECONDS
                        ")?|" MINUTES " ?(?:and )?" SECONDS R"(|(\d+(?:\.\d+)?) ?(?:hours?|hrs?))\b)"),
      left(R"((?i)\b(?:left|remain\w*|eta|est\w*|limit|every|after)\b)");
#undef MINUTES
#undef SECONDS
  std::string result;
  re2::StringPiece rest(line.data(), line.size()), groups[7];
  bool changed = false;
  while (time.Match(rest, 0, rest.size(), RE2::UNANCHORED, groups, 7)) {
    const auto value = [&](int group) {
      return Number(std::string_view(groups[group].data(), groups[group].size())).value_or(0);
    };
    const auto start = static_cast<size_t>(groups[0].data() - rest.data()), end = start + groups[0].size();
    const std::string_view before = std::string_view(rest.data(), start);
    const char next = end < rest.size() ? rest[end] : ' ', last = start > 0 ? rest[start - 1] : ' ';
    // "3 min 0.2 s/it" are two values, and "0.5m 3s" begins within a number.
    const bool whole = next != '/' && last != '.' && last != ':' && !IsDigitOf(next) && value(3) < 60 &&
                       value(5) < 60 && (groups[1].empty() || value(2) < 60);
    const bool is_left =
        RE2::PartialMatch(before.substr(before.size() - std::min(before.size(), kWordsBefore)), left);
    result += before;
    if (whole && !is_left) {
      result += fmt::format(
          "{} s", value(1) * 3600 + (value(2) + value(4)) * 60 + value(3) + value(5) + value(6) * 3600);
      changed = true;
    } else {
      result.append(groups[0].data(), groups[0].size());
    }
    rest.remove_prefix(end);
  }
  if (!changed) return {};
  result.append(rest.data(), rest.size());
  return result;
}

}  // namespace

std::optional<double> EvaluationBesideTraining(std::string_view line) {
  if (line.size() > kLongestTimedLine || line.find("rain") == std::string_view::npos) return std::nullopt;
  static const RE2 evaluation(
      R"((?i)\b(?:val|valid|validation|eval|evaluation|test|testing)[ _-](?:time|took|takes|duration)\b[^\d,;|]{0,12}(\d+(?:\.\d+)?)(?: *(m?s|secs?|seconds?|min|mins|minutes?)\b)?)"),
      training(R"((?i)\btrain(?:ing)?[ _-](?:time|took|takes|duration)\b[^\d,;|]{0,12}\d)");
  const std::string in_seconds = HasLongUnit(line) ? WithoutLongUnits(line) : std::string();
  if (!in_seconds.empty()) line = in_seconds;
  // "train 31.1s val 12.1s"
  static const RE2 parts(
      R"((?i)\btrain(?:ing)?[ :=]{1,2}\d+(?:\.\d+)? *s(?:ec\w*)?\b.*\b(?:val|valid|validation|eval|evaluation|test)[ :=]{1,2}(\d+(?:\.\d+)?) *s(?:ec\w*)?\b)");
  std::string number, unit;
  if (RE2::PartialMatch(line, parts, &number)) return Number(number);
  if (!RE2::PartialMatch(line, training) || !RE2::PartialMatch(line, evaluation, &number, &unit))
    return std::nullopt;
  const auto value = Number(number);
  if (!value) return std::nullopt;
  return *value * (unit == "ms" ? 1e-3 : unit.starts_with("m") || unit.starts_with("M") ? 60 : 1);
}

std::string InSeconds(std::string_view line) {
  if (line.size() > kLongestTimedLine) return {};
  std::string result = HasLongUnit(line) ? WithoutLongUnits(line) : std::string();
  const std::string_view now = result.empty() ? line : std::string_view(result);
  static const RE2 evaluation(
      R"((?i)\b(?:val|valid|validation|eval|evaluation|test|testing)[ _-](?:time|took|takes|duration|cost)\b[^\d,;|]{0,12}\d+(?:\.\d+)?(?: *(?:m?s|secs?|seconds?|min|mins|minutes?)\b)?)"),
      both(R"((?i)\b(?:and|\+|&)\W{0,2}(?:val|eval|test))"),
      other(R"((?i)\b(?:time|took|takes|duration|cost|in)\b[^\d,;|]{0,12}\d)");
  if ((now.find("ime") == std::string_view::npos && now.find("too") == std::string_view::npos &&
       now.find("tak") == std::string_view::npos && now.find("ura") == std::string_view::npos &&
       now.find("ost") == std::string_view::npos) ||
      !RE2::PartialMatch(now, evaluation) || RE2::PartialMatch(now, both))
    return result;
  std::string without(now);
  RE2::GlobalReplace(&without, evaluation, "");
  return RE2::PartialMatch(without, other) ? without : result;
}

}  // namespace dladvisor::training_log
