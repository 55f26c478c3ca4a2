// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/step_detection.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/text.h"
#include "src/analysis/context/kernel_steps.h"
#include "src/analysis/context/markers.h"
#include "src/analysis/context/passes.h"
#include "src/analysis/context/program_phase.h"
#include "src/analysis/context/range_rounds.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/context/serving_step.h"
#include "src/analysis/context/token_passes.h"
#include "src/analysis/context/warm_up.h"

namespace dladvisor {
namespace {

// A range that is a step by its whole name, in some loop: train_step, Model.training_step, iteration; not
// Optimizer.step or scheduler.step, which are parts of one.
constexpr const char* kUnnumberedStep =
    R"((?i)(?:.*[^a-z])?train(?:ing)?[_ ]?(?:step|iteration|iter|batch)|step|iteration|iter|)"
    R"((?:.*[^a-z])?(?:time|sim(?:ulation)?|md|decod(?:e|ing)|generat(?:e|ion)|infer(?:ence)?|denois(?:e|ing))[_ ]?(?:step|iteration|iter))";

constexpr const char* kKernelSequence = "kernel sequence";

// The range that PyTorch's profiler writes itself: one is enough.
constexpr std::string_view kProfilerStep = "ProfilerStep#";

// The ranges that PyTorch and DLProf's plugin write around each update of the parameters, the end of a step
// of training.
bool IsUpdate(std::string_view text, const Marker& marker) {
  return text.starts_with("Optimizer.step#") || (marker.kind == Marker::Kind::kOp && marker.name == "step");
}

// "step 2", "steps 3 to 107", "steps from 3 on".
std::string StepsText(std::pair<int64_t, int64_t> steps) {
  const auto [first, last] = steps;
  if (first == last) return fmt::format("step {}", first);
  if (last == std::numeric_limits<int64_t>::max()) return fmt::format("steps from {} on", first);
  if (first == std::numeric_limits<int64_t>::min()) return fmt::format("steps up to {}", last);
  return fmt::format("steps {} to {}", first, last);
}

// Fewer between updates or passes may be of anything.
constexpr size_t kLeastRanges = 3;

// Chosen ranges that launch less than this share of the GPU time between the first and the last are parts of
// steps.
constexpr double kLeastShareOfWork = 0.1;

// Rounds that ranges mark launch at least this share of it, and so many kernels and copies each.
constexpr double kLeastShareMarked = 0.8;
constexpr size_t kLeastOperations = 2;

class StepFinder {
 public:
  StepFinder(const Trace& trace, const RangeTexts& texts, const Ranks& ranks,
             const std::vector<GpuWork>& work, const Launches& launches,
             const std::map<int64_t, Phases>& phases, const AnalysisOptions& options)
      : trace_(trace),
        texts_(texts),
        ranks_(ranks),
        work_(work),
        launches_(launches),
        phases_(phases),
        options_(options) {}

  Steps Find() {
    Steps steps;
    if (options_.whole) {
      steps.source = "none";
      return steps;
    }
    FromRanges(steps);
    if (steps.by_rank.empty() && options_.step_range.empty()) FromPasses(steps);
    if (steps.by_rank.empty() && options_.step_range.empty()) {
      steps.by_rank =
          phases_.empty()
              ? StepsFromKernels(trace_, ranks_, work_, launches_)
              : StepsFromKernels(trace_, ranks_, WorkThatCounts(trace_, ranks_, work_, launches_, phases_),
                                 launches_);
      if (!steps.by_rank.empty()) steps.source = kKernelSequence;
    }
    if (options_.step_range.empty() && (steps.by_rank.empty() || steps.source == kKernelSequence))
      FromRounds(steps);
    if (steps.by_rank.empty() && options_.step_range.empty()) FromUpdates(steps);
    if (steps.by_rank.empty() && options_.step_range.empty()) FromTokens(steps);
    std::string found;
    for (auto& [rank, list] : steps.by_rank) {
      if (found.empty() && !list.empty()) found = StepsText({list.front().number, list.back().number});
      if (options_.steps)
        std::erase_if(list, [&](const Step& s) {
          return s.number < options_.steps->first || s.number > options_.steps->second;
        });
      else
        MarkWarmup(list);
      if (!options_.steps && steps.source == kKernelSequence) MarkCutOff(list);
    }
    if (options_.steps) std::erase_if(steps.by_rank, [](const auto& entry) { return entry.second.empty(); });
    if (options_.steps && steps.by_rank.empty() && !ranks_.gpus.empty())
      throw Error(trace_.path,
                  "has no " + StepsText(*options_.steps) + (found.empty() ? "" : ", but " + found),
                  "`dladvisor query PROFILE step` lists the steps that were found.");
    return steps;
  }

 private:
  // The candidates of one thread and one pattern.
  using Candidates = std::map<std::pair<std::string, uint32_t>, std::vector<StepRange>>;  // (pattern, thread)

  Candidates FindCandidates() const {
    static const RE2 numbered(kNumberedStep);
    RE2::Options quiet;
    quiet.set_log_errors(false);
    const RE2 chosen(options_.step_range, quiet);
    // Each distinct text is matched once.
    struct Match {
      bool is_step = false, has_number = false;
      int64_t number = 0;
      std::string pattern;
    };
    std::vector<std::optional<Match>> matches(texts_.size());
    Candidates candidates;
    const Ranges& ranges = trace_.ranges;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (ranges.open[i] || ranges.kind[i] == RangeKind::kMark || ranges.thread[i] == kNoIndex) continue;
      const uint32_t index = texts_.IndexOf(ranges.name[i]);
      const bool is_new = !matches[index];
      if (is_new) matches[index].emplace();
      Match& match = *matches[index];
      if (is_new) {
        const std::string_view name = texts_.TextAt(index);
        const re2::StringPiece text(name.data(), name.size());
        if (options_.step_range.empty()) {
          re2::StringPiece prefix;
          match.is_step = match.has_number = RE2::PartialMatch(text, numbered, &prefix, &match.number);
          // Ranges of one loop share what stands before the number; what follows may be shapes.
          if (match.is_step) {
            match.pattern.assign(name.data(), prefix.data() + prefix.size());
            if (!match.pattern.ends_with('#')) match.pattern.push_back('#');
          }
          // The numbers of an engine's steps are sizes.
          if (const std::string_view serving = ServingStepPattern(name); !serving.empty())
            match = {.is_step = true, .pattern = std::string(serving)};
          static const RE2 unnumbered(kUnnumberedStep);
          if (!match.is_step && RE2::FullMatch(text, unnumbered)) {
            match.is_step = true;
            match.pattern = name;
          }
        } else {
          match.has_number =
              chosen.NumberOfCapturingGroups() > 0 && RE2::PartialMatch(text, chosen, &match.number);
          match.is_step = match.has_number || RE2::PartialMatch(text, chosen);
          match.pattern = options_.step_range;
        }
      }
      if (!match.is_step || (options_.step_range.empty() && !Counts(i))) continue;
      auto& list = candidates[{match.pattern, ranges.thread[i]}];
      list.push_back({match.has_number ? match.number : static_cast<int64_t>(list.size()),
                      {ranges.start[i], ranges.end[i]}});
    }
    for (auto& [key, list] : candidates)
      if (IsProfilerStep(key.first)) NumberAnew(list);
    return candidates;
  }

  // Whether the phases of the program leave the range in: a step of the warm-up is none of those to judge.
  bool Counts(size_t range) const { return Counts(trace_.ranges.thread[range], trace_.ranges.start[range]); }
  bool Counts(uint32_t thread, Ns time) const {
    if (phases_.empty()) return true;
    const uint32_t process = trace_.threads[thread].process;
    const auto phases = phases_.find(process == kNoIndex ? -1 : ranks_.of_process[process]);
    return phases == phases_.end() || phases->second.Counts(time);
  }

  // A profiler that was started again in one program numbers its steps from 0 again.
  static void NumberAnew(std::vector<StepRange>& ranges) {
    const bool rise = std::ranges::adjacent_find(ranges, [](const StepRange& a, const StepRange& b) {
                        return b.number <= a.number;
                      }) == ranges.end();
    for (size_t i = 0; i < ranges.size() && !rise; ++i) ranges[i].number = static_cast<int64_t>(i);
  }

  static bool AreSteps(const std::vector<StepRange>& ranges, size_t least) {
    if (ranges.size() < least) return false;
    for (size_t i = 1; i < ranges.size(); ++i)
      if (ranges[i].number <= ranges[i - 1].number || ranges[i].time.start < ranges[i - 1].time.end)
        return false;
    return true;
  }

  static bool IsProfilerStep(const std::string& pattern) { return pattern.starts_with(kProfilerStep); }
  static bool IsServingStep(const std::string& pattern) {
    return pattern == kEngineStep || pattern == kEngineExecution;
  }
  // Which ranges are steps where several may be: the higher.
  static int Preference(const std::string& pattern) {
    if (IsProfilerStep(pattern)) return 4;
    if (IsServingStep(pattern)) return pattern == kEngineStep ? 3 : 2;
    return pattern.ends_with('#') ? 1 : 0;
  }

  static Ns TotalTime(const std::vector<StepRange>& ranges) {
    Ns total = 0;
    for (const StepRange& range : ranges) total += range.time.length();
    return total;
  }

  void FromRanges(Steps& steps) {
    const Candidates candidates = FindCandidates();
    if (!options_.step_range.empty() && candidates.empty())
      throw Error(trace_.path, "has no range that matches --step-range " + options_.step_range,
                  "`dladvisor query PROFILE range_name` lists the ranges.");
    std::map<int64_t, std::pair<const std::string*, const std::vector<StepRange>*>> best;  // by rank
    for (const auto& [key, list] : candidates) {
      const uint32_t process = trace_.threads[key.second].process;
      const int64_t rank = process == kNoIndex ? -1 : ranks_.of_process[process];
      const auto weight = [](const std::string& pattern, const std::vector<StepRange>& ranges) {
        return std::tuple(Preference(pattern), ranges.size(), TotalTime(ranges));
      };
      const int preference = Preference(key.first);
      const size_t least = !options_.step_range.empty() || preference > 1 ? 1 : preference == 1 ? 2 : 3;
      if (rank < 0 || !AreSteps(list, least)) continue;
      auto& chosen = best[rank];
      if (!chosen.second || weight(key.first, list) > weight(*chosen.first, *chosen.second))
        chosen = {&key.first, &list};
    }
    if (!options_.step_range.empty() && best.empty() && !ranks_.gpus.empty())
      throw Error(
          trace_.path,
          "has ranges that match --step-range " + options_.step_range +
              ", but they overlap, their numbers do not rise, or their process has no GPU work",
          "A step is one range of one thread; a group such as (\\d+) in the expression reads its number.");
    for (const auto& [rank, chosen] : best) {
      if (!options_.step_range.empty()) CheckShareOfWork(rank, *chosen.second);
      steps.source = "ranges";
      if (steps.range_pattern.empty()) steps.range_pattern = *chosen.first;
      steps.by_rank.emplace_back(rank, Partition(rank, *chosen.second));
      if (!options_.step_range.empty()) continue;
      std::vector<Step>& list = steps.by_rank.back().second;
      DropEmptyEnd(list);
      if (IsServingStep(*chosen.first)) BeginWithGpu(list.front());
    }
  }

  // A profiler that is stopped after the last step begins another, in which nothing is launched.
  static void DropEmptyEnd(std::vector<Step>& list) {
    const auto last =
        std::find_if(list.rbegin(), list.rend(), [](const Step& s) { return s.operations > 0; });
    if (last != list.rend()) list.erase(last.base(), list.end());
  }

  // Servers launch a step while the one before it runs, of which the profile need not hold anything: that
  // nothing of it ran before the first operation is not known.
  static void BeginWithGpu(Step& first) {
    if (first.operations > 0) first.time.start = std::max(first.time.start, first.gpu.start);
  }

  // From each forward pass until the next one after a backward pass, or after an update where there are such,
  // for programs that name their passes and not their steps.
  void FromPasses(Steps& steps) const {
    const Ranges& ranges = trace_.ranges;
    std::vector<PassKind> passes(texts_.size(), PassKind::kUnknown);
    std::map<uint32_t, std::vector<std::pair<PassKind, Interval>>> by_thread;
    for (size_t i = 0; i < ranges.size(); ++i) {
      const std::string_view domain = trace_.names.View(ranges.domain[i]);
      if (ranges.open[i] || ranges.kind[i] == RangeKind::kMark || ranges.thread[i] == kNoIndex ||
          domain == "cpu_op" || domain == "nn.Module")
        continue;
      const uint32_t text = texts_.IndexOf(ranges.name[i]);
      if (passes[text] == PassKind::kUnknown) passes[text] = PassOf(texts_.TextAt(text));
      if (passes[text] == PassKind::kNone || !Counts(i)) continue;
      auto& list = by_thread[ranges.thread[i]];
      if (list.empty() || ranges.start[i] >= list.back().second.end)
        list.emplace_back(passes[text], Interval{ranges.start[i], ranges.end[i]});
    }
    std::map<int64_t, std::vector<Step>> best;  // by rank
    for (const auto& [thread, list] : by_thread) {
      const uint32_t process = trace_.threads[thread].process;
      const int64_t rank = process == kNoIndex ? -1 : ranks_.of_process[process];
      const std::vector<StepRange> between = BetweenPasses(list);
      if (rank < 0 || between.size() <= best[rank].size() ||
          ShareOfWork(rank, between, false) < kLeastShareOfWork)
        continue;
      best[rank] = Partition(rank, between);
    }
    for (auto& [rank, list] : best) {
      if (list.empty()) continue;
      steps.source = "passes";
      steps.by_rank.emplace_back(rank, std::move(list));
    }
  }

  // Rounds that ranges mark, whatever their name, in place of sequences of kernels of which several are in
  // each: what the host waits for as a whole is the step.
  void FromRounds(Steps& steps) const {
    struct Found {
      const RangeRounds* rounds;
      double share;
      std::vector<Step> list;
    };
    const std::vector<RangeRounds> all = FindRangeRounds(trace_, texts_);
    std::map<int64_t, Found> best;  // by rank
    for (const RangeRounds& rounds : all) {
      const uint32_t process = trace_.threads[rounds.thread].process;
      const int64_t rank = process == kNoIndex ? -1 : ranks_.of_process[process];
      if (rank < 0 || !std::ranges::all_of(rounds.ranges, [&](const StepRange& range) {
            return Counts(rounds.thread, range.time.start);
          }))
        continue;
      const double share = ShareOfWork(rank, rounds.ranges, false);
      if (share < kLeastShareMarked || (best.contains(rank) && best.at(rank).share >= share)) continue;
      std::vector<Step> list = Partition(rank, rounds.ranges);
      if (std::ranges::any_of(list, [](const Step& step) { return step.operations < kLeastOperations; }))
        continue;
      best.insert_or_assign(rank, Found{&rounds, share, std::move(list)});
    }
    if (best.empty()) return;
    for (const auto& [rank, sequences] : steps.by_rank) {
      const auto found = best.find(rank);
      if (found == best.end() || !HoldSeveral(*found->second.rounds, sequences.size(), trace_)) return;
    }
    steps.by_rank.clear();
    for (auto& [rank, found] : best) {
      steps.source = "ranges";
      if (steps.range_pattern.empty()) steps.range_pattern = found.rounds->pattern;
      steps.by_rank.emplace_back(rank, std::move(found.list));
    }
  }

  // Steps between the ends of an optimizer's updates.
  void FromUpdates(Steps& steps) const {
    const Ranges& ranges = trace_.ranges;
    std::vector<uint8_t> is_update(texts_.size());
    for (uint32_t text = 0; text < texts_.size(); ++text)
      is_update[text] = IsUpdate(texts_.TextAt(text), texts_.MarkerAt(text));
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Ns>> ends;  // by text and thread
    for (size_t i = 0; i < ranges.size(); ++i)
      if (!ranges.open[i] && ranges.kind[i] != RangeKind::kMark && ranges.thread[i] != kNoIndex)
        if (const uint32_t text = texts_.IndexOf(ranges.name[i]); is_update[text] && Counts(i))
          ends[{text, ranges.thread[i]}].push_back(ranges.end[i]);
    std::vector<OfThread> lists;
    for (const auto& [key, of_name] : ends) {
      std::vector<StepRange> between;  // what stands before the first update may be half a step
      for (size_t i = 1; i < of_name.size(); ++i)
        between.push_back({static_cast<int64_t>(i), {of_name[i - 1], of_name[i]}});
      lists.emplace_back(key.second, std::move(between));
    }
    TakeMost(lists, "optimizer steps", steps);
  }

  // Steps of a language model that generates, a token each.
  void FromTokens(Steps& steps) const {
    std::vector<OfThread> lists;
    for (auto& [thread, passes] : TokenPasses(trace_)) {
      std::vector<StepRange> counted;
      for (const StepRange& pass : passes)
        if (Counts(thread, pass.time.start)) counted.push_back(pass);
      lists.emplace_back(thread, std::move(counted));
    }
    TakeMost(lists, "passes", steps);
  }

  // Of each rank the ranges that are most, of those that launch about as much as one another, which those of
  // two optimizers that take turns do not.
  using OfThread = std::pair<uint32_t, std::vector<StepRange>>;
  void TakeMost(const std::vector<OfThread>& lists, const char* source, Steps& steps) const {
    std::map<int64_t, std::vector<Step>> best;  // by rank
    for (const auto& [thread, ranges] : lists) {
      const uint32_t process = trace_.threads[thread].process;
      const int64_t rank = process == kNoIndex ? -1 : ranks_.of_process[process];
      if (rank < 0 || ranges.size() < kLeastRanges) continue;
      std::vector<Step> list = Partition(rank, ranges);
      if (HaveEqualWork(list) && list.size() > best[rank].size()) best[rank] = std::move(list);
    }
    for (auto& [rank, list] : best) {
      if (list.empty()) continue;
      steps.source = source;
      steps.by_rank.emplace_back(rank, std::move(list));
    }
  }

  // Of the rank's GPU time what ranges launch; of that between the first and the last only.
  double ShareOfWork(int64_t rank, const std::vector<StepRange>& ranges, bool between_only) const {
    Ns within = 0, all = 0;
    ForEachOperation(rank, [&](Ns launched, Interval operation) {
      const bool between =
          !ranges.empty() && launched >= ranges.front().time.start && launched < ranges.back().time.end;
      if (between || !between_only) all += operation.length();
      if (!between) return;
      const auto after = std::upper_bound(ranges.begin(), ranges.end(), launched,
                                          [](Ns time, const StepRange& r) { return time < r.time.start; });
      if (launched < std::prev(after)->time.end) within += operation.length();
    });
    return all > 0 ? static_cast<double>(within) / static_cast<double>(all) : 1;
  }

  // Refuses ranges, such as those of one op, that are inside of steps.
  void CheckShareOfWork(int64_t rank, const std::vector<StepRange>& ranges) const {
    const double share = ShareOfWork(rank, ranges, true);
    if (share >= kLeastShareOfWork) return;
    throw Error(
        trace_.path,
        fmt::format("has {} ranges that match --step-range {}, but they launch only {:.1f} % of the GPU time "
                    "between the first and the last: they are parts of steps",
                    WithThousands(static_cast<int64_t>(ranges.size())), options_.step_range, share * 100),
        "Choose the range around a whole step; `dladvisor query PROFILE range_name` lists the ranges.");
  }

  // GPU work of a rank as (launch time, interval); where the launch is not known, the start.
  void ForEachOperation(int64_t rank, const std::function<void(Ns, Interval)>& visit) const {
    for (size_t g = 0; g < ranks_.gpus.size(); ++g) {
      if (ranks_.gpus[g].rank != rank) continue;
      const auto each = [&](const GpuOperations& ops, const std::vector<uint32_t>& calls,
                            const std::vector<uint32_t>& rows) {
        for (const uint32_t i : rows) {
          const Ns launched = calls[i] == kNoIndex ? ops.start[i] : trace_.api_calls.start[calls[i]];
          visit(launched, {ops.start[i], ops.end[i]});
        }
      };
      each(trace_.kernels, launches_.kernel, work_[g].kernels);
      each(trace_.copies, launches_.copy, work_[g].copies);
      each(trace_.sets, launches_.set, work_[g].sets);
      each(trace_.graph_launches, launches_.graph, work_[g].graphs);
    }
  }

  std::vector<Step> Partition(int64_t rank, const std::vector<StepRange>& ranges) const {
    std::vector<Step> steps;
    for (const StepRange& range : ranges) steps.push_back({.number = range.number, .time = range.time});
    std::vector<uint8_t> any(steps.size(), 0);
    ForEachOperation(rank, [&](Ns launched, Interval operation) {
      const auto after = std::upper_bound(ranges.begin(), ranges.end(), launched,
                                          [](Ns time, const StepRange& r) { return time < r.time.start; });
      if (after == ranges.begin() || launched >= std::prev(after)->time.end) return;
      const auto i = static_cast<size_t>(std::prev(after) - ranges.begin());
      ++steps[i].operations;
      Interval& gpu = steps[i].gpu;
      gpu = any[i] ? Interval{std::min(gpu.start, operation.start), std::max(gpu.end, operation.end)}
                   : operation;
      any[i] = 1;
    });
    Ns begin = ranges.front().time.start;
    // Where the host is far ahead, the GPU first works off what was launched before.
    if (any[0])
      ForEachOperation(rank, [&](Ns launched, Interval operation) {
        const bool is_of_step = launched >= ranges.front().time.start && launched < ranges.back().time.end;
        if (!is_of_step && operation.end <= steps[0].gpu.start) begin = std::max(begin, operation.end);
      });
    for (size_t i = 0; i < steps.size(); ++i) {
      const Ns end = std::max(begin, any[i] ? steps[i].gpu.end : ranges[i].time.end);
      steps[i].time = {begin, end};
      steps[i].host = {i > 0 ? ranges[i - 1].time.end : ranges[i].time.start, ranges[i].time.end};
      begin = end;
    }
    return steps;
  }

  const Trace& trace_;
  const RangeTexts& texts_;
  const Ranks& ranks_;
  const std::vector<GpuWork>& work_;
  const Launches& launches_;
  const std::map<int64_t, Phases>& phases_;
  const AnalysisOptions& options_;
};

}  // namespace

Steps FindSteps(const Trace& trace, const RangeTexts& texts, const Ranks& ranks,
                const std::vector<GpuWork>& work, const Launches& launches,
                const std::map<int64_t, Phases>& phases, const AnalysisOptions& options) {
  return StepFinder(trace, texts, ranks, work, launches, phases, options).Find();
}

}  // namespace dladvisor
