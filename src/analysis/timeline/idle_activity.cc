// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/idle_activity.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/timeline/stack_function.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr size_t kMostRows = 50;
constexpr size_t kMostFrames = 12;
constexpr int64_t kLeastSamples = 10;  // below which they say nothing
constexpr double kMostSamples = 0.4;   // of those left, of a function that is named
constexpr double kLeastLeft = 0.2;     // of all, from which one more is looked for

// Events of each thread that lie in no other of their kind, in order: neither starts nor ends overlap.
class ByThread {
 public:
  template <class Events>
  ByThread(const Events& events, size_t threads) : start_(events.start), end_(events.end), of_(threads) {
    std::vector<Ns> last(threads, std::numeric_limits<Ns>::min());
    for (uint32_t i = 0; i < events.size(); ++i) {
      const uint32_t thread = events.thread[i];
      if (thread == kNoIndex || events.end[i] <= last[thread]) continue;
      of_[thread].push_back(i);
      last[thread] = events.end[i];
    }
  }

  // Calls visit(event, overlap) for the events of the thread that overlap `time`.
  template <class Visit>
  void In(uint32_t thread, Interval time, Visit visit) const {
    const std::vector<uint32_t>& events = of_[thread];
    auto i = std::lower_bound(events.begin(), events.end(), time.start,
                              [&](uint32_t e, Ns t) { return end_[e] <= t; });
    for (; i != events.end() && start_[*i] < time.end; ++i)
      visit(*i, std::min(end_[*i], time.end) - std::max(start_[*i], time.start));
  }
  bool Knows(uint32_t thread) const { return !of_[thread].empty(); }

 private:
  const std::vector<Ns>&start_, &end_;
  std::vector<std::vector<uint32_t>> of_;
};

struct Total {
  int64_t ns = 0, events = 0, longest_ns = -1;
  uint32_t chain = kNoIndex;  // of the longest one
};

class Collector {
 public:
  explicit Collector(const Trace& trace)
      : trace_(trace),
        calls_(trace.api_calls, trace.threads.size()),
        os_calls_(trace.os_calls, trace.threads.size()),
        mpi_calls_(trace.mpi_calls, trace.threads.size()),
        runs_(trace.cpu_runs, trace.threads.size()),
        samples_(trace.threads.size()) {
    for (uint32_t i = 0; i < trace.cpu_samples.size(); ++i)
      if (trace.cpu_samples.thread[i] != kNoIndex) samples_[trace.cpu_samples.thread[i]].push_back(i);
  }

  void Add(uint32_t thread, Interval time) {
    if (thread == kNoIndex || time.length() <= 0) return;
    const auto add = [&](std::string_view kind, NameId name, int64_t ns, uint32_t chain) {
      Total& total = totals_[{kind, name}];
      total.ns += ns;
      ++total.events;
      if (ns > total.longest_ns && (chain != kNoIndex || total.chain == kNoIndex)) {
        total.longest_ns = ns;
        total.chain = chain;
      }
    };
    calls_.In(thread, time,
              [&](uint32_t i, int64_t ns) { add("CUDA call", trace_.api_calls.name[i], ns, kNoIndex); });
    os_calls_.In(thread, time, [&](uint32_t i, int64_t ns) {
      add("OS call", trace_.os_calls.name[i], ns, trace_.os_calls.chain[i]);
    });
    mpi_calls_.In(thread, time,
                  [&](uint32_t i, int64_t ns) { add("MPI call", trace_.mpi_calls.name[i], ns, kNoIndex); });
    if (runs_.Knows(thread)) {
      int64_t off = 0, in_call = 0;
      Ns from = time.start;
      const auto until = [&](Ns end) {
        if (end > from) (InCall(thread, from) ? in_call : off) += end - from;
      };
      runs_.In(thread, time, [&](uint32_t i, int64_t) {
        until(trace_.cpu_runs.start[i]);
        from = trace_.cpu_runs.end[i];
      });
      until(time.end);
      if (off > 0) add("off CPU", kNoName, off, kNoIndex);
      if (in_call > 0) add("blocked", kNoName, in_call, kNoIndex);
    }
    const std::vector<Ns>& at = trace_.cpu_samples.time;
    const std::vector<uint32_t>& samples = samples_[thread];
    auto i = std::lower_bound(samples.begin(), samples.end(), time.start,
                              [&](uint32_t s, Ns t) { return at[s] < t; });
    for (; i != samples.end() && at[*i] < time.end; ++i) {
      const uint32_t chain = trace_.cpu_samples.chain[*i];
      if (chain == kNoIndex || trace_.cpu_samples.chains[chain].empty()) continue;
      add("sample", trace_.cpu_samples.chains[chain][0], 0, chain);
      if (!InCall(thread, at[*i])) ++outside_calls_[chain];
    }
  }

  void Rows(int64_t rank, int64_t device, int64_t starved_ns, std::vector<IdleActivityRow>& rows) {
    std::map<std::string_view, std::vector<IdleActivityRow>> by_kind;
    for (const auto& [key, total] : totals_) {
      IdleActivityRow row;
      row.rank = rank;
      row.device = device;
      row.kind = key.first;
      row.name =
          key.second == kNoName ? std::string("(not running)") : std::string(trace_.names.View(key.second));
      row.events = total.events;
      if (row.kind != "sample") {
        row.ns = total.ns;
        if (starved_ns > 0) row.share = static_cast<double>(total.ns) / static_cast<double>(starved_ns);
      }
      if (total.chain != kNoIndex) row.callers = Callers(row.kind, total.chain);
      by_kind[key.first].push_back(std::move(row));
    }
    for (auto& [kind, of_kind] : by_kind) {
      std::sort(of_kind.begin(), of_kind.end(), [](const IdleActivityRow& a, const IdleActivityRow& b) {
        return std::tuple(-a.ns.value_or(0), -a.events, std::string_view(a.name)) <
               std::tuple(-b.ns.value_or(0), -b.events, std::string_view(b.name));
      });
      of_kind.resize(std::min(of_kind.size(), kMostRows));
      for (IdleActivityRow& row : of_kind) rows.push_back(std::move(row));
    }
    AddFunctions(rank, device, rows);
    totals_.clear();
    outside_calls_.clear();
  }

 private:
  struct Function {
    int64_t samples = 0, depth = 0;  // sum of depths, from the innermost frame
  };

  // The innermost function of the program that is on the stack of enough samples outside of calls, and the
  // same of the samples that are left without it.
  void AddFunctions(int64_t rank, int64_t device, std::vector<IdleActivityRow>& rows) const {
    struct Stack {
      std::vector<std::string> functions;  // from the innermost
      int64_t samples = 0;
    };
    std::vector<Stack> stacks;
    int64_t sampled = 0;
    for (const auto& [chain, samples] : outside_calls_) {
      Stack& stack = stacks.emplace_back();
      stack.samples = samples;
      sampled += samples;
      for (const NameId frame : trace_.cpu_samples.chains[chain])
        stack.functions.push_back(OwnFunction(trace_.names.View(frame)));
    }
    int64_t left = sampled;
    while (left >= kLeastSamples && static_cast<double>(left) >= kLeastLeft * static_cast<double>(sampled)) {
      std::map<std::string, Function> functions;
      for (const Stack& stack : stacks) {
        std::set<std::string> seen;
        for (size_t depth = 0; depth < stack.functions.size(); ++depth) {
          const std::string& name = stack.functions[depth];
          if (name.empty() || !seen.insert(name).second) continue;
          functions[name].samples += stack.samples;
          functions[name].depth += stack.samples * static_cast<int64_t>(depth);
        }
      }
      const auto mean_depth = [](const Function& f) {
        return static_cast<double>(f.depth) / static_cast<double>(f.samples);
      };
      const std::pair<const std::string, Function>* best = nullptr;
      for (const auto& function : functions)
        if (static_cast<double>(function.second.samples) >= kMostSamples * static_cast<double>(left) &&
            (best == nullptr || mean_depth(function.second) < mean_depth(best->second)))
          best = &function;
      if (best == nullptr) return;
      IdleActivityRow row;
      row.rank = rank;
      row.device = device;
      row.kind = "function";
      row.name = best->first;
      row.events = best->second.samples;
      row.share = static_cast<double>(best->second.samples) / static_cast<double>(sampled);
      rows.push_back(std::move(row));
      left -= best->second.samples;
      std::erase_if(stacks, [&](const Stack& stack) {
        return std::ranges::find(stack.functions, best->first) != stack.functions.end();
      });
    }
  }

  std::optional<std::string> Callers(std::string_view kind, uint32_t chain) const {
    const bool sample = kind == "sample";
    const std::vector<NameId>& frames = (sample ? trace_.cpu_samples.chains : trace_.os_calls.chains)[chain];
    std::string text;
    for (size_t i = sample ? 1 : 0; i < std::min(frames.size(), kMostFrames); ++i)
      text.append(text.empty() ? "" : " < ").append(trace_.names.View(frames[i]));
    if (text.empty()) return std::nullopt;
    return text;
  }

  // Whether the thread is in a call: one that leaves the CPU there waits until it is woken.
  bool InCall(uint32_t thread, Ns time) const {
    bool in = false;
    const auto visit = [&](uint32_t, int64_t) { in = true; };
    calls_.In(thread, {time, time + 1}, visit);
    os_calls_.In(thread, {time, time + 1}, visit);
    mpi_calls_.In(thread, {time, time + 1}, visit);
    return in;
  }

  const Trace& trace_;
  ByThread calls_, os_calls_, mpi_calls_, runs_;
  std::vector<std::vector<uint32_t>> samples_;
  std::map<std::pair<std::string_view, NameId>, Total> totals_;
  std::map<uint32_t, int64_t> outside_calls_;  // samples by stack
};

}  // namespace

const RelationOf<IdleActivityRow>& IdleActivityRelation() {
  static const auto relation =
      RelationOf<IdleActivityRow>("idle_activity",
                                  "What the launching thread did while a GPU had nothing to do, by function: "
                                  "the 50 with most time of each kind.")
          .Key("rank", &IdleActivityRow::rank, kRankNumber, "Rank.")
          .Key("device", &IdleActivityRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("kind", &IdleActivityRow::kind, Unit::kText,
               "CUDA call, OS call, MPI call, sample (of the stack), function (the innermost of the program "
               "on "
               "the stack of two fifths of the samples outside of calls), off CPU, or blocked: off the CPU "
               "since within a call.")
          .Key("name", &IdleActivityRow::name, Unit::kText, "Function.")
          .Column("ns", &IdleActivityRow::ns, Unit::kNanoseconds,
                  "Time in it while nothing was queued; unknown for samples. Kinds overlap.")
          .Column("events", &IdleActivityRow::events, Unit::kCount, "Calls, or samples.")
          .Column("share", &IdleActivityRow::share, Unit::kRatio, "Of the time in which nothing was queued.")
          .Column("callers", &IdleActivityRow::callers, Unit::kText,
                  "Stack of the longest call, innermost first; unknown where none was recorded.",
                  capability::kStacksOfOsCalls);
  return relation;
}

std::vector<IdleActivityRow> ComputeIdleActivity(const Context& context,
                                                 const std::vector<GpuTimeline>& timelines) {
  std::vector<IdleActivityRow> rows;
  Collector collector(context.trace);
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu) {
    int64_t starved_ns = 0;
    for (const Starvation& starvation : timelines[gpu].starvation) {
      starved_ns += starvation.time.length();
      collector.Add(starvation.thread, starvation.time);
    }
    collector.Rows(context.ranks.gpus[gpu].rank,
                   context.trace.devices[context.ranks.gpus[gpu].device].ordinal, starved_ns, rows);
  }
  return rows;
}

const Family& IdleActivityFamily() {
  static const Family family = FamilyOf(IdleActivityRelation(), ComputeIdleActivity).Detail();
  return family;
}

}  // namespace dladvisor
