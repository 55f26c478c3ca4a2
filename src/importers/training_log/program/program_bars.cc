// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_bars.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"
#include "src/importers/training_log/program/part_names.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestTitle = 48, kMostTitles = 64, kMostPoints = 4096, kMostOpen = 64;
// Less is of a start.
constexpr double kLeastBarsNs = 30e9;
// Of calls that each have a bar.
constexpr double kLeastCallsNs = 10e9;
// Steps at once, from which on a bar shows that a program goes on where it stopped.
constexpr int64_t kLeastSkipped = 20;
// By how much what a bar counts takes longer in the last half of its time, from which on the mean is
// nobody's.
constexpr double kSlower = 2;
// Of a bar the few that take nearly all of its time, each so many times the mean.
constexpr double kOfMean = 4, kFewSlow = 0.2, kNearlyAllTime = 0.8;
// What is done and passed by which copies of one bar may lie apart.
constexpr int64_t kApart = 2, kPartApart = 20;
// A bar's last line is drawn once more as it is closed; of how many bars more of them are, only a start
// tells.
constexpr int64_t kMostEnds = 2;

// "d: -0.001;gen: -0.008" as "d: #.#;gen: #.#".
std::string Measures(std::string values) {
  static const RE2 value(R"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)");
  RE2::GlobalReplace(&values, value, "#.#");
  while (values.ends_with(':')) values.pop_back();
  return CutTo(values, kLongestTitle);
}

}  // namespace

// Of the title, nothing where there are too many. "d: -0.001;gen: -0.008" are values, which change; bars
// without a title may lie within one another.
ProgramBarsReader::Bars* ProgramBarsReader::BarsOf(std::string_view title, int64_t total,
                                                   std::string& with_numbers) {
  static const RE2 values(R"(\d\.\d)");
  const std::string_view words = Trim(title);
  std::string name = PlainWords(words.substr(words.size() - std::min(words.size(), kLongestTitle)));
  std::string measures = RE2::PartialMatch(name, values) ? name : "";
  with_numbers = !measures.empty() || !HasWord(name) ? "" : CutTo(name, kLongestTitle);
  name = WithoutNumbers(with_numbers);
  if (bars_.size() >= kMostTitles) return nullptr;
  Bars& bars = bars_[name.empty() ? "\n" + std::to_string(total) : name];
  if (name.empty() && HasWord(measures)) name = Measures(std::move(measures));
  bars.all.name = name;
  return &bars;
}

// "Processing examples:   3%|#    | 55/2000 [11:53<7:17:54, 13.51s/it, est. speed output: 20.1 toks/s]"
bool ProgramBarsReader::TakeBar(std::string_view line) {
  static const RE2 bar(
      R"(([^|%]*?):? *\d{1,3}%\|[^|]*\| *(\d{1,12})/(\d{1,12}) \[(?:(\d{1,6}):)?(\d{1,6}):(\d{2})<([^\]]*))"),
      rate(R"(output: (\d+(?:\.\d+)?) toks/s)");
  re2::StringPiece rest(line.data(), line.size());
  std::string title, name, hours, behind;
  int64_t done = 0, total = 0, minutes = 0, seconds = 0;
  bool goes_on = false;
  while (RE2::FindAndConsume(&rest, bar, &title, &done, &total, &hours, &minutes, &seconds, &behind)) {
    Bars* bars = done > total ? nullptr : BarsOf(title, total, name);
    if (bars == nullptr) continue;
    const int64_t since = (Integer(hours).value_or(0) * 60 + minutes) * 60 + seconds;
    // Calls are drawn one behind the other only where each begins but once.
    if (done == 0 && bars->last.starts > 0 && bars->last.latest.done == 0 &&
        behind.find("toks/s") != std::string::npos)
      bars->mixed = true;
    TakePoint(*bars, name, {done, since}, total);
    goes_on = goes_on || (done > 1 && since > 1);
    double tokens = 0;
    if (done == total && RE2::PartialMatch(behind, rate, &tokens)) {
      bars->tokens += tokens * static_cast<double>(since);
      bars->rated_ns += static_cast<double>(since) * kNsPerSecond;
    }
  }
  return goes_on;
}

// "29948it [35:34,  7.00s/it]"
void ProgramBarsReader::TakeBarWithoutTotal(std::string_view line) {
  static const RE2 bar(R"(^([^|%]*?):? *(\d{1,12})it \[([\d:]{4,12}), )");
  std::string title, name, clock;
  int64_t done = 0;
  if (!RE2::PartialMatch(line, bar, &title, &done, &clock)) return;
  if (Bars* bars = BarsOf(title, 0, name))
    TakePoint(*bars, name, {done, static_cast<int64_t>(SecondsOfClock(clock).value_or(0))}, 0);
}

// Whether bars of one title are of several processes, or lie within one another: one that is not done goes on
// behind another, or what is done falls while time goes on. Of ends alone, neither which are of one process
// nor how many bars there were is known.
bool ProgramBarsReader::DrawnByTurns(Bars& bars, const std::string& title, Point point, int64_t total) {
  const Bar& bar = bars.last;
  if (bar.points.empty()) return false;
  const Point before = bar.latest;
  const auto key = [](const std::string& name, int64_t of) { return name + "\n" + std::to_string(of); };
  if (title != bar.title || total != bar.total) {
    const std::string now = key(title, total);
    if (before.done < bar.total && bars.open.size() < kMostOpen) bars.open.insert(key(bar.title, bar.total));
    if (point.done == 0 || point.seconds == 0) bars.open.erase(now);
    return bars.open.contains(now);
  }
  if (total == 0) return false;
  if (before.done == total && point.done == total)
    return std::abs(point.seconds - before.seconds) >= kApart || (bar.starts == 0 && bar.ends >= kMostEnds);
  const bool begins = point.seconds < before.seconds && (2 * point.done < before.done || point.done <= 1);
  const int64_t apart = std::max(kApart, total / kPartApart);
  return !begins && (before.done - point.done > apart ||
                     before.seconds - point.seconds > std::max(kApart, before.seconds / kPartApart));
}

void ProgramBarsReader::TakePoint(Bars& bars, const std::string& title, Point point, int64_t total) {
  Bar& bar = bars.last;
  bars.mixed = DrawnByTurns(bars, title, point, total) || bars.mixed;
  // A title may have the number of what is done; ranks that draw the same bar
  // are ahead of one another by little.
  const bool other = total != bar.total || (title != bar.title && point.done < bar.latest.done);
  const bool begins = !bar.points.empty() && (other || point.seconds < bar.points.back().seconds) &&
                      (other || 2 * point.done < bar.points.back().done ||
                       (point.done <= 1 && bar.points.back().done == bar.total));
  if (begins) EndBar(bars);
  bar.total = total;
  bar.title = title;
  bar.latest = point;
  bar.starts += point.done == 0;
  bar.ends = point.done == total ? bar.ends + 1 : 0;
  const int64_t last = bar.points.empty() ? 0 : bar.points.back().done;
  // What was done before goes into the bar's first step.
  if (point.done <= 1) bar.first = bar.first_seconds = 0;
  if (last <= 1 && point.done > kLeastSkipped && total > 0) {
    bar.first = point.done;
    bar.first_seconds = point.seconds;
  }
  if (bar.points.empty() || point.seconds > bar.points.back().seconds)
    bar.points.push_back(point);
  else if (point.seconds == bar.points.back().seconds)
    bar.points.back().done = std::max(bar.points.back().done, point.done);
  if (bar.points.size() > kMostPoints) {
    bool keep = false;
    std::erase_if(bar.points, [&](const Point&) { return keep = !keep; });
  }
}

// Where it goes fast again and again between: the few that take nearly all of its time, where each takes far
// more than what is known of it.
void ProgramBarsReader::TakeSlowOnes(const Bar& bar, ProgramPart& all) {
  const Point end = bar.points.back();
  const double mean = static_cast<double>(end.seconds) / static_cast<double>(end.done);
  int64_t slow = 0, slow_seconds = 0;
  Point before{};
  for (const Point& point : bar.points) {
    const int64_t done = point.done - before.done, seconds = point.seconds - before.seconds;
    if (done <= 0) continue;  // drawn once more
    if (static_cast<double>(seconds) > kOfMean * mean * static_cast<double>(done)) {
      slow += done;
      slow_seconds += seconds;
    }
    before = point;
  }
  if (slow == 0 || static_cast<double>(slow) > kFewSlow * static_cast<double>(end.done) ||
      static_cast<double>(slow_seconds) < kNearlyAllTime * static_cast<double>(end.seconds))
    return;
  const double each_ns = static_cast<double>(slow_seconds) * kNsPerSecond / static_cast<double>(slow);
  if (!(each_ns > kOfMean * all.each_ns.value_or(0))) return;
  all.batches = slow;
  all.each_ns = each_ns;
  all.since = 0;
}

void ProgramBarsReader::EndBar(Bars& bars) {
  Bar bar = std::exchange(bars.last, {});
  if (bar.points.empty() || bar.points.back().done <= 0) return;
  const Point end = bar.points.back();
  ProgramPart& all = bars.all;
  const double ns = static_cast<double>(end.seconds) * kNsPerSecond;
  ++all.count;
  all.done += end.done;
  all.total += bar.total;
  all.ns += ns;
  all.longest_ns = std::max(all.longest_ns, ns);
  const auto each = [&](const Point& since) {
    return static_cast<double>(end.seconds - since.seconds) * kNsPerSecond /
           static_cast<double>(end.done - since.done);
  };
  const Point first{bar.first, bar.first_seconds};
  all.since = 0;
  all.each_ns = each({});
  all.batches.reset();
  if (bar.first > 0 && end.done > bar.first) {
    all.since = bar.first;
    all.each_ns = each(first);
    return;
  }
  // What is only looked at or skipped, as what an earlier run has done, goes
  // fast.
  const auto behind = std::ranges::upper_bound(bar.points, end.seconds / 2, {}, &Point::seconds);
  if (behind == bar.points.begin()) return;
  // Where it slows down: the most is done before it for the time that it took.
  const auto ahead = [&](const Point& at) { return at.done * end.seconds - at.seconds * end.done; };
  const Point late = *std::ranges::max_element(bar.points.begin(), behind, {}, ahead);
  if (late.done > 0 && end.done > late.done && each(late) > kSlower * *all.each_ns) {
    all.since = late.done;
    all.each_ns = each(late);
  }
  TakeSlowOnes(bar, all);
}

ProgramPart ProgramBarsReader::PartOf(Bars bars) {
  EndBar(bars);
  ProgramPart part = std::move(bars.all);
  part.kind = ProgramPartKind::kBars;
  if (part.count > 1 && part.done > 0) {
    part.each_ns = part.ns / static_cast<double>(part.done);
    part.since = 0;
    part.batches.reset();
  }
  if (bars.rated_ns > 0) part.tokens_per_second = bars.tokens * kNsPerSecond / bars.rated_ns;
  return part;
}

void ProgramBarsReader::AddTo(ProgramOutput& output) const {
  for (const auto& [key, bars] : bars_) {
    if (bars.mixed) continue;
    ProgramPart part = PartOf(bars);
    if (part.ns >= (part.tokens_per_second ? kLeastCallsNs : kLeastBarsNs) && part.done > 0)
      output.parts.push_back(std::move(part));
  }
}

}  // namespace dladvisor::training_log
