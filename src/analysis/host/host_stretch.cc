// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/host_stretch.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"
#include "src/analysis/host/program_duration.h"
#include "src/analysis/host/sampled_functions.h"
#include "src/analysis/timeline/host_activity.h"
#include "src/analysis/timeline/stack_function.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

constexpr Ns kShortest = 10'000'000;
constexpr size_t kMostStretches = 20;

// What a program takes to load its libraries is less; of this much a thread must have computed half.
constexpr Ns kShortestStart = 1'000'000'000;
constexpr int64_t kFewestSamplesOfOthers = 20;
constexpr Ns kSampled = 100'000'000;  // a sample shows that the thread computes about then

// Setting up and tearing down the communicators of a job computes nothing.
bool IsOfCommunicators(const std::string& activity) {
  static const RE2 calls(
      R"((?i)^((nccl|rccl|nvshmem)x?_?(comm)?_?(init|destroy|abort|finalize|split|shrink)|MPI_(Init|Finalize)))");
  return RE2::PartialMatch(activity, calls);
}

struct Stretch {
  uint32_t process = 0, thread = kNoIndex;  // that makes the call after it
  uint32_t before = kNoIndex, after = kNoIndex;
  Interval time;
  std::string_view place;
  Ns called = 0;  // of it, in calls that start the driver
};

class Stretches {
 public:
  explicit Stretches(const Context& context)
      : context_(context), trace_(context.trace), kinds_(context.api_kinds) {}

  std::vector<HostStretchRow> Find() {
    Collect();
    std::stable_sort(found_.begin(), found_.end(), [](const Stretch& a, const Stretch& b) {
      return std::tuple(-a.time.length(), a.time.start) < std::tuple(-b.time.length(), b.time.start);
    });
    if (found_.size() > kMostStretches) found_.resize(kMostStretches);
    std::vector<ThreadTime> times;
    for (const Stretch& s : found_) times.push_back({s.thread, s.time});
    const std::vector<std::string> activities = HostActivities(context_, times);
    std::vector<HostStretchRow> rows;
    for (size_t i = 0; i < found_.size(); ++i)
      if (!IsOfCommunicators(activities[i])) rows.push_back(RowOf(found_[i], activities[i]));
    return rows;
  }

 private:
  void Collect() {
    const ApiCalls& calls = trace_.api_calls;
    struct Process {
      Ns first = 0, until = 0;
      bool launches = false;  // whether it came to its work, though nothing of the GPU may be recorded
      bool has_data = false;  // whether a call allocated, copied or launched
      uint32_t last = kNoIndex;
      std::optional<Ns> begins, worked;  // start of its first GPU operation, end of its last
    };
    std::map<uint32_t, Process> processes;
    for (size_t gpu = 0; gpu < context_.work.size(); ++gpu) {
      Process& process = processes[context_.ranks.gpus[gpu].process];
      const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& rows) {
        for (const uint32_t i : rows) {
          process.begins = std::min(process.begins.value_or(ops.start[i]), ops.start[i]);
          process.worked = std::max(process.worked.value_or(ops.end[i]), ops.end[i]);
        }
      };
      add(trace_.kernels, context_.work[gpu].kernels);
      add(trace_.copies, context_.work[gpu].copies);
      add(trace_.sets, context_.work[gpu].sets);
      add(trace_.graph_launches, context_.work[gpu].graphs);
    }
    for (auto& [index, process] : processes) process.launches = process.begins.has_value();
    for (uint32_t i = 0; i < calls.size(); ++i)
      if (calls.thread[i] != kNoIndex && kinds_[calls.name[i]] == ApiKind::kLaunch)
        processes[trace_.threads[calls.thread[i]].process].launches = true;
    for (uint32_t i = 0; i < calls.size(); ++i) {
      if (calls.thread[i] == kNoIndex) continue;
      const uint32_t of = trace_.threads[calls.thread[i]].process;
      Process& process = processes[of];
      if (process.last == kNoIndex) process.first = calls.start[i];
      if (process.launches && !process.has_data && HasData(i)) AddStart(of, i);
      process.has_data = process.has_data || HasData(i);
      if (process.last != kNoIndex) {
        const bool is_before = process.begins && calls.start[i] <= *process.begins;
        const Ns from =
            is_before ? process.until : std::max(process.until, process.worked.value_or(process.until));
        const bool of_data = HasData(process.last) && HasData(i);
        if (calls.start[i] - from >= kShortest && (of_data || (process.worked && !is_before)))
          found_.push_back({of,
                            calls.thread[i],
                            process.last,
                            i,
                            {from, calls.start[i]},
                            is_before        ? "before"
                            : process.worked ? "after"
                                             : "between"});
      }
      if (process.last == kNoIndex || calls.end[i] > process.until) process.last = i;
      process.until = std::max(process.until, calls.end[i]);
    }
    for (const auto& [index, process] : processes) {
      if (process.last == kNoIndex) continue;
      spans_[index] = {process.first, process.until};
      if (process.worked) AddEnd(index, process.last, std::max(process.until, *process.worked));
    }
  }

  static bool IsInterpreter(const std::string& process) {
    static const RE2 interpreter(R"((?i)python|julia|java|node|ruby|matlab|(^|/)R$)");
    return RE2::PartialMatch(process, interpreter);
  }

  // From the process's last call to the last that was seen of its thread, where that computes for half of it.
  void AddEnd(uint32_t process, uint32_t call, Ns from) {
    if (IsInterpreter(trace_.processes[process].name)) return;
    const uint32_t thread = trace_.api_calls.thread[call];
    std::vector<Interval> times;
    const auto add = [&](const auto& events) {
      for (size_t i = 0; i < events.size(); ++i)
        if (events.thread[i] == thread && events.end[i] > from)
          times.push_back({std::max(events.start[i], from), events.end[i]});
    };
    const CpuSamples& samples = trace_.cpu_samples;
    add(trace_.cpu_runs);
    if (trace_.cpu_runs.size() == 0)
      for (size_t i = 0; i < samples.size(); ++i)
        if (samples.thread[i] == thread && samples.time[i] > from)
          times.push_back({std::max(from, samples.time[i] - kSampled), samples.time[i]});
    const IntervalSet computing = Union(std::move(times));
    if (computing.empty()) return;
    const Interval time{from, computing.back().end};
    if (time.length() >= kShortestStart && 2 * Length(computing) >= time.length())
      found_.push_back({process, thread, call, kNoIndex, time, "end"});
  }

  // From the first that was seen of the thread to the process's first call for data. Interpreters import
  // there, and calls before it start the driver: their time is not the program's.
  void AddStart(uint32_t process, uint32_t call) {
    const std::string& name = trace_.processes[process].name;
    if (IsInterpreter(name)) return;
    const Ns until = trace_.api_calls.start[call];
    const uint32_t thread = trace_.api_calls.thread[call];
    const Seen seen = SeenBefore(thread, until, !name.empty());
    const ApiCalls& calls = trace_.api_calls;
    std::vector<Interval> starting;
    for (uint32_t i = 0; i < call; ++i)
      if (calls.thread[i] == thread) starting.push_back({calls.start[i], std::min(calls.end[i], until)});
    const IntervalSet called = Union(std::move(starting));
    const Ns computed = Length(Subtract(seen.computing, called));
    const Ns alone = Length(Subtract({{seen.from, until}}, called));
    if (until - seen.from >= kShortestStart && 2 * computed >= until - seen.from)
      found_.push_back(
          {process, thread, kNoIndex, call, {seen.from, until}, "start", until - seen.from - alone});
  }

  // What is known of a thread before a time: since when, and when it computes.
  struct Seen {
    Ns from = 0;
    IntervalSet computing;
  };
  Seen SeenBefore(uint32_t thread, Ns until, bool is_known_program) const {
    const CpuRuns& runs = trace_.cpu_runs;
    const CpuSamples& samples = trace_.cpu_samples;
    std::vector<Interval> times;
    for (size_t i = 0; i < runs.size() && runs.start[i] < until; ++i)
      if (runs.thread[i] == thread) times.push_back({runs.start[i], std::min(runs.end[i], until)});
    if (runs.size() > 0) return {times.empty() ? until : times.front().start, Union(std::move(times))};
    for (size_t i = 0; i < samples.size() && samples.time[i] < until; ++i)
      if (samples.thread[i] == thread) times.push_back({samples.time[i] - kSampled, samples.time[i]});
    if (samples.size() > 0) return {times.empty() ? until : times.front().end, Union(std::move(times))};
    // Without either, a thread of a known program computes where it is in no call of the operating system.
    if (!is_known_program) return {until, {}};
    const OsCalls& os = trace_.os_calls;
    for (size_t i = 0; i < os.size() && os.start[i] < until; ++i)
      if (os.thread[i] == thread) times.push_back({os.start[i], std::min(os.end[i], until)});
    const Ns from = times.empty() ? until : times.front().start;
    return {from, Subtract({{from, until}}, Union(std::move(times)))};
  }

  // Whether the call allocates, copies, prefetches or launches: between two such data is made, not the
  // program started.
  bool HasData(uint32_t call) const {
    const ApiKind kind = kinds_[trace_.api_calls.name[call]];
    return kind == ApiKind::kAllocation || kind == ApiKind::kCopy || kind == ApiKind::kAsyncCopy ||
           kind == ApiKind::kLaunch || kind == ApiKind::kPrefetch;
  }

  HostStretchRow RowOf(const Stretch& s, const std::string& activity) {
    HostStretchRow row;
    row.pid = trace_.processes[s.process].pid;
    row.start_ns = s.time.start;
    row.end_ns = s.time.end;
    row.duration_ns = s.time.length() - s.called;
    row.place = s.place;
    Interval span = spans_.at(s.process);
    span.start = std::min(span.start, s.time.start);
    if (s.place == "end") span = ProgramDuration(context_).value_or(Interval{span.start, s.time.end});
    row.share = static_cast<double>(row.duration_ns) / static_cast<double>(std::max<Ns>(1, span.length()));
    const ApiCalls& calls = trace_.api_calls;
    if (s.before != kNoIndex) row.before = std::string(ApiBaseName(trace_.names.View(calls.name[s.before])));
    if (s.after != kNoIndex) row.after = std::string(ApiBaseName(trace_.names.View(calls.name[s.after])));
    if (!activity.empty()) row.activity = activity;
    FindFunction(s, row);
    AddSampled(s, row);
    return row;
  }

  // What its samples show the thread in, and the others of its process.
  void AddSampled(const Stretch& s, HostStretchRow& row) const {
    const SampledFunctions own =
        FindSampledFunctions(trace_, s.time, [&](uint32_t thread) { return thread == s.thread; });
    const SampledFunctions others = FindSampledFunctions(trace_, s.time, [&](uint32_t thread) {
      return thread != s.thread && thread != kNoIndex && trace_.threads[thread].process == s.process;
    });
    row.samples = own.samples;
    if (std::string text = FunctionsText(own); !text.empty()) row.functions = std::move(text);
    if (std::string text = LeadingFunctionsText(own); !text.empty()) row.leading_functions = std::move(text);
    // A few samples are of threads that wake now and then.
    if (others.samples < kFewestSamplesOfOthers || others.samples < own.samples) return;
    row.other_threads = others.threads;
    if (std::string text = FunctionsText(others); !text.empty()) row.other_functions = std::move(text);
  }

  // Of the functions on the stack of most samples, the innermost.
  void FindFunction(const Stretch& s, HostStretchRow& row) const {
    const CpuSamples& samples = trace_.cpu_samples;
    std::map<NameId, std::pair<int64_t, int64_t>>
        functions;  // samples, and the sum of depths, from the innermost
    int64_t all = 0;
    const auto first = std::lower_bound(samples.time.begin(), samples.time.end(), s.time.start);
    for (auto i = static_cast<size_t>(first - samples.time.begin());
         i < samples.size() && samples.time[i] < s.time.end; ++i) {
      if (samples.thread[i] != s.thread) continue;
      ++all;
      if (samples.chain[i] == kNoIndex) continue;
      const std::vector<NameId>& chain = samples.chains[samples.chain[i]];
      std::set<NameId> seen;
      for (size_t depth = 0; depth < chain.size(); ++depth)
        if (seen.insert(chain[depth]).second && NamesAFunction(trace_.names.View(chain[depth]))) {
          ++functions[chain[depth]].first;
          functions[chain[depth]].second += static_cast<int64_t>(depth);
        }
    }
    const auto better = [&](const auto& a, const auto& b) {
      return std::tuple(a.second.first, -a.second.second, trace_.names.View(b.first)) <
             std::tuple(b.second.first, -b.second.second, trace_.names.View(a.first));
    };
    const auto most = std::max_element(functions.begin(), functions.end(), better);
    if (most == functions.end()) return;
    row.function = std::string(trace_.names.View(most->first));
    row.function_share = static_cast<double>(most->second.first) / static_cast<double>(all);
  }

  const Context& context_;
  const Trace& trace_;
  const std::vector<ApiKind>& kinds_;  // by name id
  std::vector<Stretch> found_;
  std::map<uint32_t, Interval> spans_;  // by process: from its first call to its last
};

}  // namespace

const RelationOf<HostStretchRow>& HostStretchRelation() {
  using Row = HostStretchRow;
  static const auto relation =
      RelationOf<Row>(
          "host_stretch",
          "Stretches of 10 ms and more outside the analysed window in which a process makes no CUDA call: "
          "between two calls that allocate, copy or launch where the profile has no GPU work or before the "
          "first of it, before the first call of a native program for data where its thread computes for a "
          "second and "
          "more, after its last call where the thread computes for as long, and after the "
          "last GPU operation until the last call; the longest twenty, without those in which communicators "
          "are "
          "set up or torn down.")
          .Key("pid", &Row::pid, Unit::kNone, "Process.")
          .Key("start_ns", &Row::start_ns, Unit::kNanoseconds, "Start on the profile's clock.")
          .Column("end_ns", &Row::end_ns, Unit::kNanoseconds, "End on the profile's clock.")
          .Column("duration_ns", &Row::duration_ns, Unit::kNanoseconds,
                  "Length, without the calls at the start that create the context.")
          .Column("place", &Row::place, Unit::kText,
                  "between: no GPU work was recorded; start: no call had been made; before: no work had "
                  "begun; after: all was done "
                  "by then; end: no call followed.")
          .Column("share", &Row::share, Unit::kRatio,
                  "Of the time from the first CUDA call, or from the start, to the last call; at the end, of "
                  "run's program_ns.")
          .Column("before", &Row::before, Unit::kText, "CUDA call before it; unknown at the start.")
          .Column("after", &Row::after, Unit::kText, "CUDA call after it; unknown at the end.")
          .Column("activity", &Row::activity, Unit::kText,
                  "Python function, range or call in which the thread that makes the call after it was for "
                  "most of "
                  "the time; unknown where none covers it.")
          .Column("function", &Row::function, Unit::kText,
                  "Function that most samples of that thread were in or below; unknown without samples.",
                  capability::kCpuStacks)
          .Column("function_share", &Row::function_share, Unit::kRatio, "Of these samples.",
                  capability::kCpuStacks)
          .Column("samples", &Row::samples, Unit::kCount, "Samples of that thread.", capability::kCpuStacks)
          .Column("functions", &Row::functions, Unit::kText,
                  "The program's functions that these samples were in, callees of libraries included, with "
                  "shares; libraries without names of functions; unknown where none has a twentieth.",
                  capability::kCpuStacks)
          .Column("leading_functions", &Row::leading_functions, Unit::kText,
                  "Of these the first, and the others with a fifth of the samples and more.",
                  capability::kCpuStacks)
          .Column(
              "other_threads", &Row::other_threads, Unit::kCount,
              "Other threads of the process with a tenth of the samples of the busiest of them, and more, "
              "where they were sampled as often as that thread; unknown else.",
              capability::kCpuStacks)
          .Column("other_functions", &Row::other_functions, Unit::kText, "The same of their samples.",
                  capability::kCpuStacks);
  return relation;
}

std::vector<HostStretchRow> ComputeHostStretches(const Context& context) { return Stretches(context).Find(); }

const Family& HostStretchFamily() {
  static const Family family = FamilyOf(HostStretchRelation(), ComputeHostStretches);
  return family;
}

}  // namespace dladvisor
