// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/log_line.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "src/importers/nvidia_smi/log_cell.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfEvent = 2048;
// Longer is something else: the program was stopped and started again.
constexpr int64_t kLongestEvent = int64_t{86'400} * 1'000'000'000;

#define CLOCK R"((\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?))"

// "2020/11/25 23:52:15", "02/13/2022 23:11:11", the month first where both can be, rich's "[04/12/24
// 16:46:13]", "[10/05 20:31:36]", MMEngine's without brackets and glog's "I0731 06:15:00.67", of any year: as
// ISO writes it, "" for none.
std::string LastSlashedTime(std::string_view text) {
  static const RE2 year_first(R"((?:^|[^\d/.])(\d{4})[/.](\d{2})[/.](\d{2})[ T,-]{1,3})" CLOCK),
      year_last(R"((?:^|[^\d/])(\d{2})/(\d{2})/(\d{4})[ T,-]{1,3})" CLOCK),
      short_year(R"(^\[(\d{2})/(\d{2})/(\d{2}) )" CLOCK),
      no_year(R"((?:^\[|^)(\d{2})/(\d{2}) )" CLOCK R"((?:[\s\]]|$))"),
      glog(R"(^[IWEF](\d{2})(\d{2}) )" CLOCK);
  std::string year, month, day, clock;
  if (text.find(':') == std::string_view::npos) return {};
  if (text.find_first_of("/.") != std::string_view::npos) {
    re2::StringPiece rest(text.data(), text.size());
    while (RE2::FindAndConsume(&rest, year_first, &year, &month, &day, &clock)) continue;
    if (clock.empty())
      while (RE2::FindAndConsume(&rest, year_last, &month, &day, &year, &clock)) continue;
    if (clock.empty() && RE2::PartialMatch(text, short_year, &month, &day, &year, &clock)) year = "20" + year;
    if (month > "12") std::swap(month, day);
  }
  if (clock.empty() && (RE2::PartialMatch(text, no_year, &month, &day, &clock) ||
                        RE2::PartialMatch(text, glog, &month, &day, &clock)))
    year = "2000";
  return clock.empty() ? std::string() : year + "-" + month + "-" + day + " " + clock;
}

#undef CLOCK

}  // namespace

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::optional<double> Number(std::string_view text) {
  text = Trim(text);
  double number = 0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  return number;
}

std::optional<int64_t> Integer(std::string_view text) {
  text = Trim(text);
  int64_t number = 0;
  const auto error = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<double> SecondsOfClock(std::string_view clock) {
  double seconds = 0;
  while (true) {
    const size_t colon = clock.find_first_of(":m");
    const auto part = Integer(clock.substr(0, colon));
    if (!part || *part > 1'000'000) return std::nullopt;
    seconds = seconds * 60 + static_cast<double>(*part);
    if (colon == std::string_view::npos) return seconds;
    clock.remove_prefix(colon + 1);
  }
}

std::optional<int64_t> CountedSteps(std::string_view text) {
  const auto number = Integer(text);
  return number && *number >= 0 && *number < int64_t{1} << 40 ? number : std::nullopt;
}

void ForEachPair(std::string_view text,
                 const std::function<void(std::string_view name, std::string_view value)>& pair) {
  while (!text.empty()) {
    const size_t bar = text.find('|');
    const std::string_view part = text.substr(0, bar);
    if (const size_t colon = part.find(':'); colon != std::string_view::npos)
      pair(Trim(part.substr(0, colon)), Trim(part.substr(colon + 1)));
    if (bar == std::string_view::npos) return;
    text.remove_prefix(bar + 1);
  }
}

std::optional<int64_t> LastTime(std::string_view text) {
  static const RE2 date(
      R"((?:^|[^\d-])((?:\d{2})?\d{2}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?))");
  re2::StringPiece rest(text.data(), text.size());
  std::string day, clock, last;
  while (RE2::FindAndConsume(&rest, date, &day, &clock)) {
    if (const size_t comma = clock.find(','); comma != std::string::npos) clock[comma] = '.';
    last = (day.size() == 8 ? "20" : "") + day + " " + clock;
  }
  if (last.empty() && !(last = LastSlashedTime(text)).empty()) {
    if (const size_t comma = last.find(','); comma != std::string::npos) last[comma] = '.';
  }
  if (last.empty()) return std::nullopt;
  const auto time = nvidia_smi::ParseTime(last);
  return time ? std::optional(time->ns) : std::nullopt;
}

std::string WithDateFirst(std::string_view line) {
  static const RE2 date(R"(^(.*\S) \[(\d{2})/(\d{2}) (\d{2}:\d{2}:\d{2})\]\s*$)");
  if (line.rfind(']') == std::string_view::npos) return {};
  std::string text, day, month, clock;
  if (!RE2::FullMatch(line, date, &text, &day, &month, &clock)) return {};
  return "2000-" + month + "-" + day + " " + clock + " " + text;
}

std::optional<int64_t> ClockOfLine(std::string_view line) {
  static const RE2 clock(
      R"(^(?:\[([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,6})?\]|([01]?\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,6})?) )");
  if (line.find(':') > 3) return std::nullopt;
  std::array<std::string, 8> parts;
  if (!RE2::PartialMatch(line, clock, &parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &parts[5],
                         &parts[6], &parts[7]))
    return std::nullopt;
  const size_t at = parts[0].empty() ? 4 : 0;
  const double seconds = Number(parts[at]).value_or(0) * 3600 + Number(parts[at + 1]).value_or(0) * 60 +
                         Number(parts[at + 2]).value_or(0) +
                         (parts[at + 3].empty() ? 0 : Number("0" + parts[at + 3]).value_or(0));
  return static_cast<int64_t>(seconds * 1e9);
}

std::string WithoutColours(std::string_view text) {
  static const RE2 sequence("\x1b\\[[0-9;]*[A-Za-z]");
  std::string plain(text);
  RE2::GlobalReplace(&plain, sequence, "");
  return plain;
}

void SetCovers(std::vector<TrainingIteration>& rows, std::optional<int64_t> interval) {
  if (!interval || *interval <= 0) {
    std::map<int64_t, int64_t> distances;
    for (size_t i = 1; i < rows.size(); ++i)
      if (rows[i].attempt == rows[i - 1].attempt) ++distances[rows[i].iteration - rows[i - 1].iteration];
    const auto most = std::ranges::max_element(distances, {}, [](const auto& d) { return d.second; });
    interval = most == distances.end() ? std::nullopt : std::optional(most->first);
  }
  for (size_t i = 0; interval && i < rows.size(); ++i) {
    const bool first = i == 0 || rows[i].attempt != rows[i - 1].attempt;
    const int64_t distance = first ? rows[i].iteration : rows[i].iteration - rows[i - 1].iteration;
    rows[i].covers = std::max<int64_t>(1, std::min({*interval, distance, rows[i].covers.value_or(distance)}));
  }
}

void SpreadSingleTimes(std::vector<TrainingIteration>& rows) {
  constexpr double kFar = 1.5;
  std::vector<double> times;
  for (const TrainingIteration& row : rows)
    if (row.elapsed_ns) times.push_back(*row.elapsed_ns);
  if (times.empty()) return;
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  // As slow as the line before or behind it are the steps between them.
  std::vector<bool> alone(rows.size(), true);
  for (size_t i = 1; i < rows.size(); ++i) {
    if (!rows[i].elapsed_ns || !rows[i - 1].elapsed_ns) continue;
    const auto [low, high] = std::minmax(*rows[i].elapsed_ns, *rows[i - 1].elapsed_ns);
    if (high < kFar * low) alone[i] = alone[i - 1] = false;
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    TrainingIteration& row = rows[i];
    const double covers = static_cast<double>(std::max<int64_t>(row.covers.value_or(1), 1));
    if (alone[i] && row.elapsed_ns && *row.elapsed_ns > kFar * *middle)
      row.elapsed_ns = ((covers - 1) * *middle + *row.elapsed_ns) / covers;
  }
}

std::optional<TrainingEventKind> BetweenSteps(std::string_view line) {
  for (const char* words :
       {"validation loss", "val_loss:", ": val loss ", ", val loss ", "step: val", "Validation bpb",
        "HellaSwag accuracy", "Start validation", "Starting validation", "begin validation", "Epoch(val)",
        "Iter(val)", "# Validation #", "Test: [", "Start inference on "})
    if (line.find(words) != std::string_view::npos) return TrainingEventKind::kEvaluation;
  for (const char* words : {"saving checkpoint", "Saving checkpoint", "Checkpoint saved",
                            "Saving the checkpoint", "Saved checkpoint", "Saving unsharded checkpoint",
                            "Saving sharded checkpoint", " checkpoint saved to "})
    if (line.find(words) != std::string_view::npos) return TrainingEventKind::kCheckpoint;
  return std::nullopt;
}

std::optional<TrainingEventKind> HappensBetween(std::string_view line) {
  if (line.size() > kLongestLineOfEvent) return std::nullopt;
  static const RE2 evaluation(
      R"re((?i)(?:^|[^\w./])(?:val|valid|validation|eval|evaluation|test)[ _:-].{0,24}?(?:loss|acc|mse|mae|psnr|miou|map|f1|ppl|perplexity|bleu|wer)\w*\b.{0,12}\d|\b(?:validation|evaluation) summary\b)re"),
      checkpoint(R"re((?i)\b(?:sav(?:e|ed|es|ing)) .{0,24}(?:checkpoint|ckpt|model|weights|state|best))re");
  if (line.find("begin validation") != std::string_view::npos || RE2::PartialMatch(line, evaluation))
    return TrainingEventKind::kEvaluation;
  if (line.find("av") != std::string_view::npos && RE2::PartialMatch(line, checkpoint))
    return TrainingEventKind::kCheckpoint;
  return std::nullopt;
}

void AddEvent(TrainingEvent event, std::string_view line_before, std::string_view line,
              std::vector<TrainingEvent>& events) {
  const auto since = LastTime(line_before), until = since ? LastTime(line.substr(0, kStartOfLine)) : since;
  if (until && *until >= *since && *until - *since <= kLongestEvent)
    event.ns = static_cast<double>(*until - *since);
  for (auto other = events.rbegin(); other != events.rend() && other->before == event.before; ++other) {
    if (other->kind != event.kind) continue;
    other->ns = other->ns && event.ns ? std::optional(*other->ns + *event.ns) : std::nullopt;
    return;
  }
  events.push_back(event);
}

}  // namespace dladvisor::training_log
