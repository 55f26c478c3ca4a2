// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/program_phase.h"

#include <re2/re2.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/range_text.h"

namespace dladvisor {
namespace {

enum class Phase : uint8_t { kUnknown, kNone, kWarmUp, kMeasured };

Phase PhaseOf(std::string_view name) {
  static const RE2 warm_up(R"((?i:^|[^a-z])(?i:warm(?:ing)?[-_ ]?ups?)(?:[^a-z]|$))");
  static const RE2 measured(
      R"((?i:^|[^a-z])(?i:measur(?:e|ed|ing|ements?)|benchmark(?:s|ed|ing)?|timed)(?:[^a-z]|$))");
  static const RE2 rate(R"((?i)(?:^|[^a-z])lr(?:[^a-z]|$)|learning|sched)");
  // TorchInductor's own: "CachingAutotuner.benchmark_all_configs (dynamo_timed)".
  static const RE2 compiler("dynamo_timed|Autotun");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::PartialMatch(text, warm_up)) return RE2::PartialMatch(text, rate) ? Phase::kNone : Phase::kWarmUp;
  if (RE2::PartialMatch(text, compiler)) return Phase::kNone;
  return RE2::PartialMatch(text, measured) ? Phase::kMeasured : Phase::kNone;
}

bool Contains(const IntervalSet& set, Ns time) {
  const auto after =
      std::upper_bound(set.begin(), set.end(), time, [](Ns t, const Interval& i) { return t < i.start; });
  return after != set.begin() && time < std::prev(after)->end;
}

// Calls visit(rows, launch times, operations) for each kind of operation of a GPU.
template <class Visit>
void ForEachKind(const Trace& trace, const Launches& launches, Visit visit) {
  const auto each = [&](const GpuOperations& ops, const std::vector<uint32_t>& calls,
                        std::vector<uint32_t> GpuWork::*rows) {
    visit(
        rows,
        [&ops, &calls, &trace](uint32_t i) {
          return calls[i] == kNoIndex ? ops.start[i] : trace.api_calls.start[calls[i]];
        },
        ops);
  };
  each(trace.kernels, launches.kernel, &GpuWork::kernels);
  each(trace.copies, launches.copy, &GpuWork::copies);
  each(trace.sets, launches.set, &GpuWork::sets);
  each(trace.graph_launches, launches.graph, &GpuWork::graphs);
}

// Calls that wait for what is typed, or sent by another program, where one of them lasts this long.
constexpr Ns kLeastWait = 1'000'000'000;
bool WaitsForInput(std::string_view call) {
  static const RE2 input(R"((f?getc|getchar|f?gets|v?f?scanf|getline|readline)(_unlocked)?)");
  return RE2::FullMatch(re2::StringPiece(call.data(), call.size()), input);
}

// What a rank launches between two such waits, or behind the last: the part with most time on its GPUs, where
// they are more than half of the time from its first launch to its last end. Nobody means to judge the time
// in which a program waits for a person.
std::optional<Phases> BetweenInputs(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                                    const Launches& launches, int64_t rank) {
  const OsCalls& calls = trace.os_calls;
  std::vector<Interval> waiting;
  std::string_view by;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.end[i] - calls.start[i] < kLeastWait || calls.thread[i] == kNoIndex) continue;
    const uint32_t process = trace.threads[calls.thread[i]].process;
    if (process == kNoIndex || ranks.of_process[process] != rank) continue;
    const std::string_view name = trace.names.View(calls.name[i]);
    if (!WaitsForInput(name)) continue;
    waiting.push_back({calls.start[i], calls.end[i]});
    by = name;
  }
  if (waiting.empty()) return std::nullopt;
  const IntervalSet waits = Union(std::move(waiting));
  std::vector<Ns> worked(waits.size() + 1, 0);  // on the GPUs, before each wait and behind the last
  Interval span{std::numeric_limits<Ns>::max(), 0};
  for (size_t g = 0; g < ranks.gpus.size(); ++g) {
    if (ranks.gpus[g].rank != rank) continue;
    ForEachKind(trace, launches, [&](auto rows, auto launched_of, const GpuOperations& ops) {
      for (const uint32_t row : work[g].*rows) {
        const Ns launched = launched_of(row);
        span = {std::min(span.start, launched), std::max(span.end, ops.end[row])};
        const auto next = std::ranges::upper_bound(waits, launched, {}, &Interval::end);
        worked[static_cast<size_t>(next - waits.begin())] += ops.end[row] - ops.start[row];
      }
    });
  }
  if (span.end <= span.start) return std::nullopt;
  if (2 * Length(Intersect(waits, {span})) <= span.length()) return std::nullopt;
  const auto most = static_cast<size_t>(std::ranges::max_element(worked) - worked.begin());
  const Interval counted{most == 0 ? 0 : waits[most - 1].end,
                         most == waits.size() ? std::numeric_limits<Ns>::max() : waits[most].start};
  return Phases{counted, {}, std::string(by)};
}

}  // namespace

std::map<int64_t, Phases> FindPhases(const Trace& trace, const RangeTexts& texts, const Ranks& ranks,
                                     const std::vector<GpuWork>& work, const Launches& launches) {
  constexpr double kLeastAlone = 0.5, kLeastBesideWarmUp = 0.1;
  const Ranges& ranges = trace.ranges;
  struct Found {
    IntervalSet warm_up, measured;
    std::vector<std::string_view> texts;  // of `measured`
    std::string_view last_warm_up;
  };
  std::map<int64_t, Found> found;
  std::vector<Phase> phases(texts.size(), Phase::kUnknown);
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.open[i] || ranges.kind[i] == RangeKind::kMark || ranges.thread[i] == kNoIndex) continue;
    const uint32_t text = texts.IndexOf(ranges.name[i]);
    if (phases[text] == Phase::kUnknown) phases[text] = PhaseOf(texts.TextAt(text));
    if (phases[text] == Phase::kNone) continue;
    const std::string_view domain = trace.names.View(ranges.domain[i]);
    if (domain == "cpu_op" || domain == "nn.Module") continue;
    const uint32_t process = trace.threads[ranges.thread[i]].process;
    const int64_t rank = process == kNoIndex ? -1 : ranks.of_process[process];
    if (rank < 0) continue;
    Found& of_rank = found[rank];
    const Interval time{ranges.start[i], ranges.end[i]};
    if (phases[text] == Phase::kWarmUp) {
      of_rank.warm_up.push_back(time);
      of_rank.last_warm_up = texts.TextAt(text);
    } else {
      of_rank.measured.push_back(time);
      of_rank.texts.push_back(texts.TextAt(text));
    }
  }
  std::map<int64_t, Phases> by_rank;
  for (auto& [rank, of_rank] : found) {
    IntervalSet& warm_up = of_rank.warm_up;
    warm_up = Union(std::move(warm_up));
    IntervalSet measuring;
    std::string_view by = of_rank.last_warm_up;
    for (size_t m = 0; m < of_rank.measured.size(); ++m) {
      const Interval& time = of_rank.measured[m];
      const auto within = std::ranges::lower_bound(warm_up, time.start, {}, &Interval::start);
      const bool is_around = within != warm_up.end() && within->end <= time.end;
      if (is_around || Contains(warm_up, time.start)) continue;
      if (measuring.empty()) by = of_rank.texts[m];
      measuring.push_back(time);
    }
    const IntervalSet measured = Union(std::move(measuring));
    Interval counted{warm_up.empty() ? 0 : warm_up.back().end, std::numeric_limits<Ns>::max()};
    if (!measured.empty()) counted = {measured.front().start, measured.back().end};
    int64_t all = 0, in_counted = 0, in_measured = 0, before = 0, in_warm_up = 0;
    for (size_t g = 0; g < ranks.gpus.size(); ++g) {
      if (ranks.gpus[g].rank != rank) continue;
      ForEachKind(trace, launches, [&](auto rows, auto launched_of, const GpuOperations&) {
        for (const uint32_t row : work[g].*rows) {
          const Ns launched = launched_of(row);
          ++all;
          in_counted += launched >= counted.start && launched < counted.end;
          in_measured += Contains(measured, launched);
          before += launched < counted.start;
          in_warm_up += launched < counted.start && Contains(warm_up, launched);
        }
      });
    }
    const auto is_share = [](int64_t part, double least, int64_t whole) {
      return part > 0 && static_cast<double>(part) >= least * static_cast<double>(whole);
    };
    const bool has_measured = is_share(in_measured, warm_up.empty() ? kLeastAlone : kLeastBesideWarmUp, all);
    const bool follows_warm_up = measured.empty() && is_share(in_counted, kLeastBesideWarmUp, all) &&
                                 is_share(in_warm_up, kLeastAlone, before);
    if (in_counted == all || (!has_measured && !follows_warm_up)) continue;
    by_rank[rank] = {counted, std::move(warm_up), std::string(by)};
  }
  for (const Ranks::Gpu& gpu : ranks.gpus) {
    if (by_rank.contains(gpu.rank)) continue;
    if (auto phases_of = BetweenInputs(trace, ranks, work, launches, gpu.rank))
      by_rank[gpu.rank] = std::move(*phases_of);
  }
  return by_rank;
}

std::vector<GpuWork> WorkThatCounts(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                                    const Launches& launches, const std::map<int64_t, Phases>& phases) {
  std::vector<GpuWork> counting = work;
  for (size_t g = 0; g < ranks.gpus.size(); ++g) {
    const auto of_rank = phases.find(ranks.gpus[g].rank);
    if (of_rank == phases.end()) continue;
    ForEachKind(trace, launches, [&](auto rows, auto launched_of, const GpuOperations&) {
      std::erase_if(counting[g].*rows,
                    [&](uint32_t row) { return !of_rank->second.Counts(launched_of(row)); });
    });
  }
  return counting;
}

}  // namespace dladvisor
