// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "src/analysis/context/kernel_kind.h"
#include "src/analysis/context/kernel_period.h"
#include "src/analysis/context/tensor_core.h"

namespace dladvisor {
namespace {

// Of more different names a sequence is none of a few kernels that repeat.
constexpr size_t kMostNames = 1000;

// Rounds of a program that says nothing of its structure may be shorter than a step of training.
constexpr PeriodCriteria kRounds = {.items = 2, .names = 2, .repeats = 5};
constexpr double kLeastShareOfRounds = 0.8;

// Rounds of one kernel: launched one by one, alike in shape and time, for longer than a test takes, or, as a
// benchmark does, many times one right after another.
constexpr PeriodCriteria kOneKernel = {.items = 1, .names = 1, .repeats = 5};
constexpr size_t kManyOfOneKernel = 20;
constexpr Ns kMostOfKernel = 2;  // times the kernel, from one start to the next
constexpr Ns kLeastOfOneKernel = 50'000'000, kLeastWork = 1'000'000;  // in all; of one, a piece being less
constexpr double kAlike = 0.5, kLeastAlike = 0.9;  // off the median by no more; share of the rounds
// A pause between such rounds lasts so many times as long as usual, and a tenth of the kernel.
constexpr Ns kPauseOverUsual = 4, kKernelsOverPause = 10;
constexpr double kLeastOfAll = 0.6;  // of the time in which the device works or is copied to

class KernelStepFinder {
 public:
  KernelStepFinder(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                   const Launches& launches)
      : trace_(trace), ranks_(ranks), work_(work), launches_(launches) {}

  StepsByRank Find() const {
    StepsByRank by_rank;
    for (size_t g = 0; g < ranks_.gpus.size(); ++g) {
      const int64_t rank = ranks_.gpus[g].rank;
      if (!by_rank.empty() && by_rank.back().first == rank) continue;  // a device of it has given them
      std::vector<uint32_t> names;
      for (const uint32_t kernel : work_[g].kernels) names.push_back(trace_.kernels.name[kernel]);
      auto period = FindPeriod(names);
      bool of_one_kernel = false;
      if (!period && trace_.ranges.size() == 0) {
        period = FindPeriod(names, kRounds);
        if (period && !TakeMostTime(g, *period)) period.reset();
        if (!period) {
          period = FindPeriod(names, kOneKernel);
          if (period && !AreOneKernelAgainAndAgain(g, *period)) period.reset();
          of_one_kernel = period.has_value();
        }
      }
      if (!period) period = FindPeriod(WithProductsAlike(g));
      if (period) {  // variants of a kernel, as for another direction, differ in their template arguments
        std::vector<uint32_t> short_names;
        for (const uint32_t kernel : work_[g].kernels)
          short_names.push_back(trace_.kernels.short_name[kernel]);
        period = WithoutAlternation(short_names, *period);
        if (of_one_kernel) period = BetweenPauses(g, *period);
      }
      if (!period || !MayBeSteps(g, period->first, period->count, period->period)) continue;
      std::vector<Step> list;
      Ns begin = 0, launching = 0;
      for (size_t n = 0; n < period->count; ++n) {
        Interval gpu{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
        for (size_t i = 0; i < period->period; ++i) {
          const uint32_t kernel = work_[g].kernels[period->first + n * period->period + i];
          gpu.start = std::min(gpu.start, trace_.kernels.start[kernel]);
          gpu.end = std::max(gpu.end, trace_.kernels.end[kernel]);
        }
        if (n == 0) {
          const uint32_t call = launches_.kernel[work_[g].kernels[period->first]];
          begin = call == kNoIndex ? gpu.start : std::min(gpu.start, trace_.api_calls.start[call]);
          // Launched while the kernel before it still ran: that time is not the step's.
          if (period->first > 0)
            begin = std::max(begin, trace_.kernels.end[work_[g].kernels[period->first - 1]]);
          begin = std::min(begin, gpu.start);
        }
        const Ns end = std::max(begin, gpu.end);
        if (n == 0) launching = LaunchOf(g, period->first).start;
        const Ns launched = LaunchOf(g, period->first + (n + 1) * period->period - 1).end;
        list.push_back({static_cast<int64_t>(n),
                        {begin, end},
                        gpu,
                        period->period,
                        false,
                        {launching, std::max(launching, launched)}});
        begin = end;
        launching = list.back().host.end;
      }
      GiveGraphs(g, list);
      by_rank.emplace_back(rank, std::move(list));
    }
    return by_rank;
  }

 private:
  // The kernels of a GPU by what they do: libraries choose another kernel for the same product where a size
  // grows by one, as that of a sequence does with each token. Nothing where their names are too many.
  std::vector<uint32_t> WithProductsAlike(size_t gpu) const {
    std::map<NameId, bool> is_product;
    std::vector<uint32_t> alike;
    for (const uint32_t kernel : work_[gpu].kernels) {
      const NameId name = trace_.kernels.name[kernel];
      const auto [known, is_new] = is_product.try_emplace(name, false);
      if (is_product.size() > kMostNames) return {};
      if (is_new) {
        const std::string_view text = trace_.names.View(name);
        known->second = KernelKind(text, ClassifyKernel(text)) == "matrix";
      }
      alike.push_back(known->second ? kNoIndex : trace_.kernels.short_name[kernel]);
    }
    return alike;
  }

  // The call that launches the i-th kernel of a GPU; the kernel's own time where it is not recorded.
  Interval LaunchOf(size_t gpu, size_t i) const {
    const uint32_t kernel = work_[gpu].kernels[i], call = launches_.kernel[kernel];
    return call == kNoIndex ? Interval{trace_.kernels.start[kernel], trace_.kernels.end[kernel]}
                            : Interval{trace_.api_calls.start[call], trace_.api_calls.end[call]};
  }

  // Graphs recorded as blocks are in no sequence of kernels. Where one runs behind the kernels of each round,
  // it ends the round.
  void GiveGraphs(size_t gpu, std::vector<Step>& rounds) const {
    const GraphLaunches& graphs = trace_.graph_launches;
    std::vector<uint32_t> last(rounds.size(), kNoIndex);
    size_t round = 0;
    for (const uint32_t graph : work_[gpu].graphs) {
      while (round + 1 < rounds.size() && graphs.start[graph] >= rounds[round + 1].gpu.start) ++round;
      // Behind the last round there is one, as many as may follow it.
      if (graphs.start[graph] < rounds[round].gpu.end ||
          (round + 1 == rounds.size() && last[round] != kNoIndex))
        continue;
      last[round] = graph;
    }
    if (std::count(last.begin(), last.end(), kNoIndex) > 0) return;
    for (size_t n = 0; n < rounds.size(); ++n) {
      Step& step = rounds[n];
      step.gpu.end = std::max(step.gpu.end, graphs.end[last[n]]);
      step.time.end = step.gpu.end;
      if (const uint32_t call = launches_.graph[last[n]]; call != kNoIndex)
        step.host.end = std::max(step.host.end, trace_.api_calls.end[call]);
      if (n + 1 == rounds.size()) break;
      rounds[n + 1].time.start = step.time.end;
      rounds[n + 1].host.start = step.host.end;
      rounds[n + 1].host.end = std::max(rounds[n + 1].host.end, step.host.end);
    }
  }

  // Whether most rounds and the next are launched within one call of a module, of an operator, of an
  // optimizer's update, or of a Python function `forward`.
  bool AreWithinOneCall(size_t gpu, size_t first, size_t count, size_t period) const {
    std::vector<std::pair<uint32_t, Ns>> launched;  // thread and time of each round's first kernel
    for (size_t n = 0; n < count; ++n)
      if (const uint32_t call = launches_.kernel[work_[gpu].kernels[first + n * period]]; call != kNoIndex)
        launched.emplace_back(trace_.api_calls.thread[call], trace_.api_calls.start[call]);
    std::map<uint32_t, IntervalSet> calls;  // by thread: what no other encloses
    for (const auto& [thread, time] : launched) calls.try_emplace(thread);
    const auto add = [&](uint32_t thread, Interval time) {
      const auto of = calls.find(thread);
      if (of == calls.end() || (!of->second.empty() && time.end <= of->second.back().end)) return;
      of->second.push_back(time);
    };
    const Ranges& ranges = trace_.ranges;
    for (size_t i = 0; i < ranges.size(); ++i)
      if (const std::string_view domain = trace_.names.View(ranges.domain[i]);
          !ranges.open[i] && (domain == "nn.Module" || domain == "cpu_op" ||
                              trace_.names.View(ranges.name[i]).starts_with("Optimizer.step#")))
        add(ranges.thread[i], {ranges.start[i], ranges.end[i]});
    size_t within = CountPairsWithin(launched, calls);
    for (auto& [thread, set] : calls) set.clear();
    const Frames& frames = trace_.frames;
    for (size_t i = 0; i < frames.size(); ++i)
      if (trace_.names.View(frames.name[i]).ends_with(": forward"))
        add(frames.thread[i], {frames.start[i], frames.end[i]});
    within = std::max(within, CountPairsWithin(launched, calls));
    return 2 * within >= count;
  }

  static size_t CountPairsWithin(const std::vector<std::pair<uint32_t, Ns>>& launched,
                                 const std::map<uint32_t, IntervalSet>& calls) {
    size_t within = 0;
    for (size_t n = 1; n < launched.size(); ++n) {
      const auto& [thread, time] = launched[n - 1];
      if (launched[n].first != thread) continue;
      const IntervalSet& set = calls.at(thread);
      const auto after =
          std::upper_bound(set.begin(), set.end(), time, [](Ns t, const Interval& i) { return t < i.start; });
      within += after != set.begin() && launched[n].second < std::prev(after)->end;
    }
    return within;
  }

  // Whether each round attends once, and what a model begins with, a look-up of embeddings or a convolution,
  // is called before the rounds and in none of them: they are the layers of one pass.
  bool AreLayersBehindAnInput(size_t gpu, size_t first, size_t count, size_t period) const {
    size_t attending = 0;
    for (size_t i = first; i < first + period; ++i) {
      const std::string_view name = trace_.names.View(trace_.kernels.name[work_[gpu].kernels[i]]);
      const std::string_view kind = KernelKind(name, ClassifyKernel(name));
      attending += kind == "attention" || kind == "softmax";
    }
    if (attending != 1) return false;
    static constexpr std::string_view kInputs[] = {"aten::embedding", "aten::conv1d", "aten::conv2d",
                                                   "aten::conv3d"};
    const Interval rounds{LaunchOf(gpu, first).start, LaunchOf(gpu, first + count * period - 1).end};
    bool before = false;
    const Ranges& ranges = trace_.ranges;
    for (size_t i = 0; i < ranges.size() && ranges.start[i] < rounds.end; ++i) {
      if (std::ranges::find(kInputs, trace_.names.View(ranges.name[i])) == std::end(kInputs)) continue;
      if (ranges.start[i] >= rounds.start) return false;
      before = true;
    }
    return before;
  }

  // Layers repeat as steps do. Those of one step are launched by fewer calls than they are (a CUDA graph), or
  // leave out most of the time that the device's work spans.
  bool MayBeSteps(size_t gpu, size_t first, size_t count, size_t period) const {
    const std::vector<uint32_t>& kernels = work_[gpu].kernels;
    const Kernels& k = trace_.kernels;
    std::set<uint32_t> calls;
    bool known = true;
    for (size_t i = first; i < first + count * period && calls.size() < count; ++i) {
      known = known && launches_.kernel[kernels[i]] != kNoIndex;
      calls.insert(launches_.kernel[kernels[i]]);
    }
    if (known && calls.size() < count) return false;
    if (AreWithinOneCall(gpu, first, count, period) || AreLayersBehindAnInput(gpu, first, count, period))
      return false;
    const auto covered =
        static_cast<double>(k.end[kernels[first + count * period - 1]] - k.start[kernels[first]]);
    return covered >= kLeastOfAll * static_cast<double>(k.end[kernels.back()] - k.start[kernels.front()]);
  }

  // Whether rounds take most of the device's kernel time, and not only of its kernels.
  bool TakeMostTime(size_t gpu, const SequencePeriod& rounds) const {
    const std::vector<uint32_t>& kernels = work_[gpu].kernels;
    double within = 0, all = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const auto length =
          static_cast<double>(trace_.kernels.end[kernels[i]] - trace_.kernels.start[kernels[i]]);
      all += length;
      if (i >= rounds.first && i < rounds.first + rounds.count * rounds.period) within += length;
    }
    return within >= kLeastShareOfRounds * all;
  }

  static Ns Median(std::vector<Ns> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
  }

  // Where each n-th of one kernel follows a pause, in which the host copies, allocates or writes, n of them
  // are a round: all pauses being as far apart.
  SequencePeriod BetweenPauses(size_t gpu, const SequencePeriod& one) const {
    const std::vector<uint32_t>& kernels = work_[gpu].kernels;
    const Kernels& k = trace_.kernels;
    std::vector<Ns> before, lengths;  // of each but the first, the time since the one before
    for (size_t n = 0; n < one.count; ++n) {
      const uint32_t kernel = kernels[one.first + n];
      lengths.push_back(k.end[kernel] - k.start[kernel]);
      if (n > 0) before.push_back(std::max<Ns>(0, k.start[kernel] - k.end[kernels[one.first + n - 1]]));
    }
    const Ns least = std::max(kPauseOverUsual * Median(before), Median(lengths) / kKernelsOverPause);
    std::vector<size_t> begins;  // of rounds
    for (size_t n = 0; n < before.size(); ++n)
      if (before[n] > least) begins.push_back(n + 1);
    if (begins.size() < kOneKernel.repeats) return one;
    const size_t every = begins[1] - begins[0];
    for (size_t i = 1; i < begins.size(); ++i)
      if (begins[i] - begins[i - 1] != every) return one;
    const size_t skipped = begins[0] % every, count = (one.count - skipped) / every;
    if (every < 2 || begins[0] > every || count < kOneKernel.repeats) return one;
    SequencePeriod rounds = one;
    rounds.first = one.first + skipped;
    rounds.period = every;
    rounds.count = count;
    return rounds;
  }

  // Whether rounds of one kernel are those of a loop, as of a solver, and not pieces of one call that differ.
  bool AreOneKernelAgainAndAgain(size_t gpu, const SequencePeriod& rounds) const {
    if (rounds.period != 1 || !TakeMostTime(gpu, rounds)) return false;
    const std::vector<uint32_t>& kernels = work_[gpu].kernels;
    const Kernels& k = trace_.kernels;
    const uint32_t first = kernels[rounds.first], last = kernels[rounds.first + rounds.count - 1];
    const Interval loop{k.start[first], k.end[last]};
    // Copies before and after a few rounds that take longer than these are what the program does, too.
    Interval all = loop;
    for (const uint32_t copy : work_[gpu].copies) {
      all.start = std::min(all.start, trace_.copies.start[copy]);
      all.end = std::max(all.end, trace_.copies.end[copy]);
    }
    if (static_cast<double>(loop.length()) < kLeastOfAll * static_cast<double>(all.length())) return false;
    std::vector<Ns> lengths, distances;
    for (size_t n = 0; n < rounds.count; ++n) {
      const uint32_t kernel = kernels[rounds.first + n];
      if (k.grid[kernel] != k.grid[first] || k.block[kernel] != k.block[first]) return false;
      lengths.push_back(k.end[kernel] - k.start[kernel]);
      if (n > 0) distances.push_back(k.start[kernel] - k.start[kernels[rounds.first + n - 1]]);
    }
    const Ns usual = Median(lengths);
    const bool is_long = loop.length() >= kLeastOfOneKernel && usual >= kLeastWork;
    const bool is_benchmark = rounds.count >= kManyOfOneKernel && Median(distances) <= kMostOfKernel * usual;
    if (!is_long && !is_benchmark) return false;
    const auto median = static_cast<double>(usual);
    const auto alike = std::ranges::count_if(lengths, [&](Ns length) {
      return std::abs(static_cast<double>(length) - median) <= kAlike * median;
    });
    return static_cast<double>(alike) >= kLeastAlike * static_cast<double>(lengths.size());
  }

  const Trace& trace_;
  const Ranks& ranks_;
  const std::vector<GpuWork>& work_;
  const Launches& launches_;
};

}  // namespace

StepsByRank StepsFromKernels(const Trace& trace, const Ranks& ranks, const std::vector<GpuWork>& work,
                             const Launches& launches) {
  return KernelStepFinder(trace, ranks, work, launches).Find();
}

}  // namespace dladvisor
