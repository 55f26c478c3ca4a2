// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/endless_bars.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestEndlessTitle = 48, kMostEndlessTitles = 64, kMostEndlessBars = 4096;
// Less is of a start.
constexpr double kLeastEndlessNs = 30e9;
// Counts that are done at once, from which on an earlier run has done them.
constexpr int64_t kLeastSkippedOfEndless = 20;
// By how many times its last step a bar may go on before another may be meant.
constexpr int64_t kFarStep = 3;
// Fewer turns are bars one behind the other.
constexpr int64_t kLeastTurns = 3;

}  // namespace

bool EndlessBarsReader::Line(std::string_view line) {
  static const RE2 bar(R"(([^|%\]]*?):? *\|[^|]*\| *(\d{1,12})/\? \[([\d:]{4,12})<)"), number(R"(\d+)");
  if (line.find("/? [") == std::string_view::npos) return false;
  re2::StringPiece rest(line.data(), line.size());
  std::string title, clock;
  int64_t done = 0;
  bool goes_on = false;
  while (RE2::FindAndConsume(&rest, bar, &title, &done, &clock)) {
    const auto seconds = static_cast<int64_t>(SecondsOfClock(clock).value_or(0));
    std::string name(Trim(title));
    std::erase_if(name, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
    name = name.substr(name.size() - std::min(name.size(), kLongestEndlessTitle));
    RE2::GlobalReplace(&name, number, "#");
    if (!bars_.contains(name) && bars_.size() >= kMostEndlessTitles) continue;
    Bars& bars = bars_[name];
    bars.name = std::move(name);
    Take(bars, done, seconds);
    goes_on = goes_on || (done > 1 && seconds > 1);
  }
  return goes_on;
}

// The bar that was drawn last, unless it would have to go on by far more than before and another one by less.
void EndlessBarsReader::Take(Bars& bars, int64_t done, int64_t seconds) {
  const auto follows = [&](const Bar& bar) { return bar.done <= done && bar.seconds <= seconds; };
  size_t found = bars.all.size();
  if (bars.last < bars.all.size() && follows(bars.all[bars.last])) found = bars.last;
  if (found == bars.all.size() || done - bars.all[found].done > kFarStep * bars.all[found].step)
    for (size_t i = 0; i < bars.all.size(); ++i)
      if (follows(bars.all[i]) && (found == bars.all.size() || bars.all[i].done > bars.all[found].done))
        found = i;
  if (found == bars.all.size()) {
    if (bars.all.size() >= kMostEndlessBars) return;
    bars.last = found;
    const bool skipped = done > kLeastSkippedOfEndless;
    bars.all.push_back({skipped ? done : 0, skipped ? seconds : 0, done, seconds, 1});
    return;
  }
  bars.turns += found != bars.last;
  bars.last = found;
  Bar& bar = bars.all[found];
  if (done > bar.done) bar.step = done - bar.done;
  bar.done = done;
  bar.seconds = seconds;
}

// Of those that go on at the same time the longest.
void EndlessBarsReader::AddTo(ProgramOutput& output) const {
  for (const auto& [key, bars] : bars_) {
    ProgramPart part;
    part.kind = ProgramPartKind::kBars;
    part.name = bars.name;
    int64_t counted = 0, counted_seconds = 0;
    for (const Bar& bar : bars.all) {
      const double ns = static_cast<double>(bar.seconds) * kNsPerSecond;
      const bool longer = ns > part.longest_ns;
      part.longest_ns = std::max(part.longest_ns, ns);
      if (bars.turns >= kLeastTurns) {
        if (!longer) continue;
        part.count = part.done = counted = counted_seconds = 0;
        part.ns = 0;
      }
      ++part.count;
      part.done += bar.done;
      part.ns += ns;
      part.since = bar.first;
      counted += bar.done - bar.first;
      counted_seconds += bar.seconds - bar.first_seconds;
    }
    if (part.count > 1) part.since = 0;
    if (counted <= 0 || part.ns < kLeastEndlessNs) continue;
    part.each_ns = static_cast<double>(counted_seconds) * kNsPerSecond / static_cast<double>(counted);
    output.parts.push_back(std::move(part));
  }
}

}  // namespace dladvisor::training_log
