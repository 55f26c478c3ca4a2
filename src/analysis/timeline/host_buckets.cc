// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/host_buckets.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/timeline/awaited_input.h"
#include "src/analysis/timeline/copy_calls.h"

namespace dladvisor {
namespace {

constexpr Ns kNever = std::numeric_limits<Ns>::min();
constexpr size_t kMinLaunches = 20;  // from which on their median says what one costs
constexpr Ns kLeastDispatch = 50'000, kMostDispatch = 1'000'000;
constexpr Ns kLooksUp = 10'000'000;    // at most, for code that is found in a cache
constexpr Ns kLeastSetUp = 1'000'000;  // which calls that ask for something take a thousandth of
constexpr size_t kMostFrees = 4;       // beyond, they are the program's own, but for long ones
constexpr Ns kLeastLongFree = 100'000'000;
constexpr Ns kNoSetUp = std::numeric_limits<Ns>::max();
// A range that ran so often since, and so much faster, spent its first call on its start.
constexpr size_t kLeastCallsSince = 4;
constexpr Ns kLeastFirstCall = 5'000'000, kFasterSince = 50;

// Calls that do next to nothing, but for the first use of CUDA or of a library, which initialises itself and
// loads its code within: from how long on one is set-up. Freeing is such a call where hardly anything is
// freed, and where it takes a hundred thousand times what freeing takes: libraries begin with
// cudaFree(nullptr).
Ns LeastSetUp(std::string_view name, size_t calls) {
  static const RE2 asks(
      R"(^(cuda|hip)(StreamCreate|EventCreate|GetDevice|DeviceGet|SetDevice|FuncGet|FuncSet|Occupancy|GetSymbol|PointerGet|StreamGet|StreamIs|Peek|RuntimeGet|DriverGet)|)"
      R"(^cu(Init|DeviceGet|DevicePrimaryCtx|CtxCreate|GetProc|StreamCreate|EventCreate|FuncGet|Occupancy))");
  static const RE2 frees(R"(^(cuda|hip)Free(_v\d+)?$)");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::PartialMatch(text, asks)) return kLeastSetUp;
  if (!RE2::PartialMatch(text, frees)) return kNoSetUp;
  return calls <= kMostFrees ? kLeastSetUp : kLeastLongFree;
}

// The first of them creates the pool that the others take from.
bool TakesFromPool(std::string_view name) {
  return name.starts_with("cudaMallocAsync") || name.starts_with("cudaMallocFromPoolAsync") ||
         name.starts_with("cuMemAllocAsync") || name.starts_with("cuMemAllocFromPoolAsync") ||
         name.starts_with("hipMallocAsync") || name.starts_with("hipMallocFromPoolAsync");
}

// By name.
std::vector<Ns> FindSetUp(const Trace& trace) {
  std::vector<size_t> count(trace.names.size(), 0);
  for (const NameId name : trace.api_calls.name) ++count[name];
  std::vector<Ns> least(trace.names.size(), kNoSetUp);
  for (NameId name = 0; name < least.size(); ++name)
    if (count[name] > 0) least[name] = LeastSetUp(trace.names.View(name), count[name]);
  return least;
}

}  // namespace

Bucket BucketOfRange(std::string_view name) {
  // "checkpoint" alone may be activation checkpointing, which is compute.
  static const RE2 input(
      R"((?i)data_?loader|_next_data|get_?batch|data_iterator|enumerate\(.*loader|^Iterator::\w|)"
      R"(^(Eager\w*Execute: )?IteratorGetNext|^QueueDequeue(Many|UpTo)?(V2)?$|^ReaderRead(UpTo)?(V2)?$)");
  static const RE2 communication(R"((?i)^(gloo|mpi)[:_])");
  static const RE2 checkpoint(
      R"((?i)(save|write|store|dump)_?\s?(check_?point|model|state)|check_?point_?\s?(sav|writ)|torch\.save)");
  static const RE2 garbage(R"((?i)\bgc\b|garbage.?collect)");
  // Not "compiled", which is what runs compiled code. What torch.compile times is a part of compiling.
  static const RE2 compilation(
      R"((?i)\bnvrtc|compile_?fusion|compile_?kernel|backend_compile|^xla_?compil|compile_fx|jit_?compil|triton_?compil|inductor_codecache|CUDAGraphNode\.record|\(dynamo_timed\)$)");
  // Of JAX and its runtime: from the call of a compiled function to the launch of its kernels.
  static const RE2 dispatch(
      R"(^(PjitFunction\(|PJRT_LoadedExecutable_Execute|(\[\d+\] )?\w*Pj[Rr]t\w*Executable::Execute))");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::PartialMatch(text, dispatch)) return Bucket::kLaunch;
  if (RE2::PartialMatch(text, input)) return Bucket::kInput;
  if (RE2::PartialMatch(text, compilation)) return Bucket::kCompilation;
  if (RE2::PartialMatch(text, communication)) return Bucket::kIdleCommunication;
  if (RE2::PartialMatch(text, checkpoint)) return Bucket::kCheckpoint;
  if (RE2::PartialMatch(text, garbage)) return Bucket::kGarbageCollection;
  return Bucket::kHost;
}

Bucket BucketOfFunction(std::string_view name) {
  // The rest of the data loader's frames are waits for its workers, which are loading, too.
  static const RE2 input(
      R"((?i)torch[/\\]utils[/\\]data[/\\]|torchvision[/\\](transforms|io|datasets)|torchaudio[/\\]|)"
      R"(albumentations|webdataset|(^|[/\\])datasets[/\\]|(^|[/\\])PIL[/\\]|decord|)"
      R"((image|video|audio|feature|sequence)_(processing|processor|extraction)\w*\.py|[/\\]tokenization_\w+\.py|)"
      R"(\): _*(preprocess\w*|pre_process\w*|collate\w*|\w+_collate|collate_fn|tokenize\w*|)"
      R"((get|next|load|read|fetch|prepare)_(batch|sample|image|video|audio|data)(es|s)?)$)");
  static const RE2 checkpoint(R"((?i)torch[/\\]serialization\.py\(\d+\): (save|_save)$|)"
                              R"(\): (save|write|store|dump)_(checkpoint|model|state)\w*$)");
  static const RE2 garbage(R"(<built-in method collect of module gc|<built-in function collect>)");
  // Of torch.compile what runs once a graph: not what looks the code up and runs it.
  static const RE2 compilation(
      R"(torch[/\\]_dynamo[/\\]convert_frame\.py|torch[/\\]_inductor[/\\](codegen|scheduler|lowering|async_compile)\b|)"
      R"(torch[/\\]_inductor[/\\]cudagraph_trees\.py\(\d+\): (record_function|_record|_allocate_and_copy_recording_inputs)$|)"
      R"(triton[/\\]compiler[/\\]compiler\.py\(\d+\): compile$|triton_heuristics\.py\(\d+\): (benchmark_all_configs|autotune_to_one_config)$)");
  const re2::StringPiece text(name.data(), name.size());
  if (RE2::PartialMatch(text, input)) return Bucket::kInput;
  if (RE2::PartialMatch(text, compilation)) return Bucket::kCompilation;
  if (RE2::PartialMatch(text, checkpoint)) return Bucket::kCheckpoint;
  if (RE2::PartialMatch(text, garbage)) return Bucket::kGarbageCollection;
  return Bucket::kHost;
}

HostBuckets::HostBuckets(const Context& context) : context_(context), threads_(context.trace.threads.size()) {
  const Trace& trace = context.trace;
  FindOwners();
  const std::vector<uint8_t> launching = LaunchingThreads();
  const std::vector<ApiKind>& kinds = context.api_kinds;
  AddCalls(kinds);
  FindCaptures();
  AddNamed(launching);
  AddAwaitedInput(launching);
  const auto add_all = [&](const auto& events, Bucket bucket) {
    for (size_t i = 0; i < events.size(); ++i)
      if (events.thread[i] != kNoIndex && launching[events.thread[i]])
        Add(events.thread[i], bucket, {events.start[i], events.end[i]});
    if (events.size() > 0) captured_[static_cast<size_t>(bucket)] = true;
  };
  add_all(trace.overheads, Bucket::kProfiler);
  add_all(trace.mpi_calls, Bucket::kIdleCommunication);
  add_all(trace.os_calls, Bucket::kOs);
  FindLaunches();
  FindTimeBeforeLoading(kinds);
  FindFirstCalls();
  for (Thread& thread : threads_) {
    for (IntervalSet& set : thread.by_activity) set = Union(std::move(set));
    thread.dispatching = Union(std::move(thread.dispatching));
  }
  FindDispatch(kinds);
  JoinCallsAndRanges(launching);
  MarkCaptured();
}

void HostBuckets::Add(uint32_t thread, Bucket bucket, Interval time) {
  if (bucket == Bucket::kLaunch) return threads_[thread].dispatching.push_back(time);
  const auto index =
      static_cast<size_t>(std::find(kActivities.begin(), kActivities.end(), bucket) - kActivities.begin());
  threads_[thread].by_activity[index].push_back(time);
}

std::vector<uint8_t> HostBuckets::LaunchingThreads() const {
  std::vector<uint8_t> launching(threads_.size(), 0);
  const ApiCalls& calls = context_.trace.api_calls;
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls.thread[i] != kNoIndex) launching[calls.thread[i]] = 1;
  for (size_t thread = 0; thread < threads_.size(); ++thread)
    if (launching[thread]) launching[owner_[thread]] = 1;
  return launching;
}

void HostBuckets::AddCalls(const std::vector<ApiKind>& kinds) {
  const Trace& trace = context_.trace;
  const ApiCalls& calls = trace.api_calls;
  const std::vector<Ns> set_up = FindSetUp(trace);
  const CopyCalls copies = FindCopyCalls(context_);
  std::set<uint32_t> with_pool;  // processes
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls.thread[i] == kNoIndex) continue;
    const Interval time{calls.start[i], calls.end[i]};
    const bool creates_pool = kinds[calls.name[i]] == ApiKind::kAllocation &&
                              TakesFromPool(trace.names.View(calls.name[i])) &&
                              with_pool.insert(trace.threads[calls.thread[i]].process).second;
    if (time.length() >= (creates_pool ? kLeastSetUp : set_up[calls.name[i]])) {
      Add(calls.thread[i], Bucket::kCompilation, time);
      continue;
    }
    switch (kinds[calls.name[i]]) {
      case ApiKind::kSync:
        Add(calls.thread[i], Bucket::kIdleSync, time);
        break;
      case ApiKind::kCopy:
      case ApiKind::kAsyncCopy: {
        if (kinds[calls.name[i]] == ApiKind::kAsyncCopy && !copies.pageable[i]) break;
        const Ns waits_until = copies.waits_until[i];
        if (waits_until > time.start)
          threads_[calls.thread[i]].by_activity[kBehindKernels].push_back({time.start, waits_until});
        Add(calls.thread[i], Bucket::kIdleCopy, {waits_until, time.end});
        break;
      }
      case ApiKind::kAllocation:
        Add(calls.thread[i], Bucket::kAllocation, time);
        break;
      case ApiKind::kLoading:
        Add(calls.thread[i], Bucket::kCompilation, time);
        break;
      default:
        break;
    }
  }
}

void HostBuckets::AddNamed(const std::vector<uint8_t>& launching) {
  const Trace& trace = context_.trace;
  // `text_of` gives the index of an event's text, below `texts`, and `bucket_of` what such a text says.
  const auto add_named = [&](const auto& events, size_t texts, auto text_of, auto bucket_of, auto is_closed) {
    std::vector<std::optional<Bucket>> bucket_of_text(texts);
    for (size_t i = 0; i < events.size(); ++i) {
      const uint32_t thread = events.thread[i];
      if (thread == kNoIndex || !launching[thread] || !is_closed(i)) continue;
      const uint32_t text = text_of(events.name[i]);
      std::optional<Bucket>& bucket = bucket_of_text[text];
      if (!bucket) bucket = bucket_of(text);
      if (*bucket == Bucket::kHost) continue;
      Add(thread, *bucket, {events.start[i], events.end[i]});
      captured_[static_cast<size_t>(*bucket)] = true;
    }
  };
  const RangeTexts& texts = *context_.texts;
  add_named(
      trace.ranges, texts.size(), [&](NameId name) { return texts.IndexOf(name); },
      [&](uint32_t text) { return BucketOfRange(texts.TextAt(text)); },
      [&](size_t i) { return !trace.ranges.open[i]; });
  add_named(
      trace.frames, trace.frames.size() > 0 ? trace.names.size() : 0, [](NameId name) { return name; },
      [&](NameId name) { return BucketOfFunction(trace.names.View(name)); }, [](size_t) { return true; });
}

void HostBuckets::AddAwaitedInput(const std::vector<uint8_t>& launching) {
  const std::vector<IntervalSet> awaited = AwaitedInput(context_);
  for (uint32_t thread = 0; thread < threads_.size(); ++thread) {
    if (!launching[thread]) continue;
    for (const Interval& time : awaited[context_.trace.threads[thread].process])
      Add(thread, Bucket::kInput, time);
    if (!awaited[context_.trace.threads[thread].process].empty())
      captured_[static_cast<size_t>(Bucket::kInput)] = true;
  }
}

void HostBuckets::JoinCallsAndRanges(const std::vector<uint8_t>& launching) {
  const ApiCalls& calls = context_.trace.api_calls;
  // Calls mostly lie in ranges: going through both at once keeps the sets small.
  const Ranges& ranges = context_.trace.ranges;
  for (size_t call = 0, range = 0; call < calls.size() || range < ranges.size();) {
    const bool is_call =
        range == ranges.size() || (call < calls.size() && calls.start[call] < ranges.start[range]);
    const size_t i = is_call ? call++ : range++;
    const uint32_t thread = is_call ? calls.thread[i] : ranges.thread[i];
    if (thread == kNoIndex || !launching[thread] || (!is_call && ranges.open[i])) continue;
    Append(threads_[thread].calls_and_ranges,
           is_call ? Interval{calls.start[i], calls.end[i]} : Interval{ranges.start[i], ranges.end[i]});
  }
}

void HostBuckets::MarkCaptured() {
  for (const Bucket bucket : {Bucket::kTensor, Bucket::kOther, Bucket::kCommunication, Bucket::kCopy,
                              Bucket::kMemset, Bucket::kUnknown})
    captured_[static_cast<size_t>(bucket)] = true;
  // The causes of idleness need the calls that launch; these need nothing more.
  for (const Bucket bucket :
       {Bucket::kLaunchLatency, Bucket::kDependency, Bucket::kIdleSync, Bucket::kIdleCopy,
        Bucket::kAllocation, Bucket::kCompilation, Bucket::kProfiler, Bucket::kHost, Bucket::kLaunch})
    captured_[static_cast<size_t>(bucket)] = true;
  if (context_.trace.api_calls.size() == 0)
    for (size_t b = static_cast<size_t>(Bucket::kLaunchLatency); b < kBuckets; ++b)
      captured_[b] = b == static_cast<size_t>(Bucket::kUnknown);
}

void HostBuckets::FindOwners() {
  const Trace& trace = context_.trace;
  owner_.resize(threads_.size());
  std::iota(owner_.begin(), owner_.end(), 0u);
  if (std::ranges::none_of(trace.threads, &dladvisor::Thread::is_worker)) return;
  std::vector<size_t> events(threads_.size(), 0);
  const auto count = [&](const auto& table) {
    for (size_t i = 0; i < table.size(); ++i)
      if (table.thread[i] != kNoIndex) ++events[table.thread[i]];
  };
  count(trace.frames);
  count(trace.api_calls);
  count(trace.ranges);
  std::map<uint32_t, uint32_t> most;  // by process
  for (uint32_t thread = 0; thread < threads_.size(); ++thread) {
    if (trace.threads[thread].is_worker || events[thread] == 0) continue;
    const auto [known, is_new] = most.try_emplace(trace.threads[thread].process, thread);
    if (!is_new && events[thread] > events[known->second]) known->second = thread;
  }
  for (uint32_t thread = 0; thread < threads_.size(); ++thread)
    if (const auto owner = most.find(trace.threads[thread].process);
        trace.threads[thread].is_worker && owner != most.end())
      owner_[thread] = owner->second;
}

// Launches between the two calls are written into a graph, which happens once.
void HostBuckets::FindCaptures() {
  static const RE2 begin(R"(^(cuda|cu|hip)StreamBeginCapture)"), end(R"(^(cuda|cu|hip)StreamEndCapture)");
  const Trace& trace = context_.trace;
  const ApiCalls& calls = trace.api_calls;
  enum : uint8_t { kNotAsked, kNeither, kBegin, kEnd };
  std::vector<uint8_t> kind_of_name(trace.names.size(), kNotAsked);
  std::vector<Ns> began(threads_.size(), kNever);
  const auto compilation = static_cast<size_t>(
      std::find(kActivities.begin(), kActivities.end(), Bucket::kCompilation) - kActivities.begin());
  for (size_t i = 0; i < calls.size(); ++i) {
    const uint32_t thread = calls.thread[i];
    if (thread == kNoIndex) continue;
    uint8_t& kind = kind_of_name[calls.name[i]];
    if (kind == kNotAsked) {
      const std::string_view name = trace.names.View(calls.name[i]);
      const re2::StringPiece text(name.data(), name.size());
      kind = RE2::PartialMatch(text, begin) ? kBegin : RE2::PartialMatch(text, end) ? kEnd : kNeither;
    }
    if (kind == kBegin) began[thread] = calls.start[i];
    if (kind != kEnd || began[thread] == kNever) continue;
    threads_[thread].by_activity[compilation].push_back({began[thread], calls.end[i]});
    began[thread] = kNever;
  }
}

void HostBuckets::FindLaunches() {
  const Trace& trace = context_.trace;
  const ApiCalls& calls = trace.api_calls;
  calls_.assign(calls.size(), 0);
  const Launches& launches = context_.launches;
  for (const std::vector<uint32_t>* of : {&launches.kernel, &launches.copy, &launches.set, &launches.graph})
    for (const uint32_t call : *of)
      if (call != kNoIndex) calls_[call] = kLaunches;
  std::vector<uint32_t> first(trace.names.size(), kNoIndex);  // call that launches a kernel, by its name
  for (size_t k = 0; k < trace.kernels.size(); ++k)
    if (const uint32_t call = launches.kernel[k]; call != kNoIndex)
      first[trace.kernels.name[k]] = std::min(first[trace.kernels.name[k]], call);
  for (const uint32_t call : first)
    if (call != kNoIndex) calls_[call] |= kFirstOfKernel;
}

// The cost of launching, by thread: without what is known to be something else.
void HostBuckets::FindDispatch(const std::vector<ApiKind>& kinds) {
  const ApiCalls& calls = context_.trace.api_calls;
  std::vector<std::vector<uint32_t>> between(threads_.size());  // no more than counts of each
  std::vector<Ns> launched(threads_.size(), kNever);
  for (size_t i = 0; i < calls.size(); ++i) {
    const uint32_t thread = calls.thread[i];
    if (thread == kNoIndex) continue;
    const ApiKind kind = kinds[calls.name[i]];
    if (kind == ApiKind::kSync || kind == ApiKind::kAllocation || kind == ApiKind::kLoading)
      launched[thread] = kNever;
    if (calls_[i] == 0) continue;
    if (launched[thread] != kNever && (calls_[i] & kFirstOfKernel) == 0)
      between[thread].push_back(
          static_cast<uint32_t>(std::clamp<Ns>(calls.start[i] - launched[thread], 0, kMostDispatch)));
    launched[thread] = calls.end[i];
  }
  for (size_t t = 0; t < threads_.size(); ++t) {
    std::vector<uint32_t>& times = between[t];
    const auto median = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    if (times.size() >= kMinLaunches) std::nth_element(times.begin(), median, times.end());
    threads_[t].dispatch = times.size() < kMinLaunches
                               ? kLeastDispatch
                               : std::clamp(8 * Ns{*median}, kLeastDispatch, kMostDispatch);
  }
}

// The host compiles what it loads, or looks for it, since its last call for work of the GPU. That this is so
// is plain where a range begins in between that ends after the loading; else only a short time is taken for
// it.
void HostBuckets::FindTimeBeforeLoading(const std::vector<ApiKind>& kinds) {
  const ApiCalls& calls = context_.trace.api_calls;
  const Ranges& ranges = context_.trace.ranges;
  std::vector<Ns> worked(threads_.size(), std::numeric_limits<Ns>::min());  // end of the last such call
  for (size_t i = 0; i < calls.size(); ++i) {
    const uint32_t thread = calls.thread[i];
    const ApiKind kind = kinds[calls.name[i]];
    if (thread == kNoIndex || (kind == ApiKind::kOther && calls_[i] == 0)) continue;
    if (kind == ApiKind::kLoading) {
      Ns from = std::max(worked[thread], calls.start[i] - kLooksUp);
      for (uint32_t range = context_.attribution.api_range[i];
           range != kNoIndex && ranges.start[range] >= worked[thread];
           range = context_.attribution.range_parent[range])
        from = std::min(from, ranges.start[range]);
      Append(threads_[thread].by_activity[kBeforeLoading], {from, calls.start[i]});
    }
    worked[thread] = std::max(worked[thread], calls.end[i]);
  }
}

// Libraries initialise themselves, and frameworks load and choose their kernels, in the first operator that
// needs them: where it launches a kernel that was not launched before, and takes far longer than all its
// later calls, what comes before the launch is start-up.
void HostBuckets::FindFirstCalls() {
  const ApiCalls& calls = context_.trace.api_calls;
  const Ranges& ranges = context_.trace.ranges;
  const RangeTexts& texts = *context_.texts;
  struct FirstCall {
    uint32_t range = kNoIndex;
    Ns until = 0;  // the start of the last first launch in it
    bool is_first = true;
    std::vector<Ns> since;
  };
  std::map<uint32_t, FirstCall> candidates;  // by text
  for (size_t i = 0; i < calls.size(); ++i) {
    if ((calls_[i] & kFirstOfKernel) == 0 || calls.thread[i] == kNoIndex) continue;
    for (uint32_t range = context_.attribution.api_range[i]; range != kNoIndex;
         range = context_.attribution.range_parent[range]) {
      const uint32_t text = texts.IndexOf(ranges.name[range]);
      if (text == kNoIndex || texts.TextAt(text) == RangeTexts::kRareText || ranges.open[range] ||
          ranges.end[range] - ranges.start[range] < kLeastFirstCall)
        continue;
      FirstCall& first = candidates[text];
      if (first.range == kNoIndex) first.range = range;
      if (first.range == range) first.until = std::max(first.until, calls.start[i]);
    }
  }
  if (candidates.empty()) return;
  std::vector<FirstCall*> by_text(texts.size(), nullptr);
  for (auto& [text, first] : candidates) by_text[text] = &first;
  for (uint32_t range = 0; range < ranges.size(); ++range) {
    const uint32_t text = texts.IndexOf(ranges.name[range]);
    FirstCall* const first = text == kNoIndex ? nullptr : by_text[text];
    if (first == nullptr || range == first->range || ranges.open[range]) continue;
    first->is_first = first->is_first && ranges.start[range] >= ranges.start[first->range];
    first->since.push_back(ranges.end[range] - ranges.start[range]);
  }
  for (auto& [text, first] : candidates) {
    if (!first.is_first || first.since.size() < kLeastCallsSince) continue;
    const auto median = first.since.begin() + static_cast<std::ptrdiff_t>(first.since.size() / 2);
    std::nth_element(first.since.begin(), median, first.since.end());
    const Interval time{ranges.start[first.range], first.until};
    if (ranges.end[first.range] - time.start >= kFasterSince * *median)
      threads_[ranges.thread[first.range]].by_activity[kBeforeLoading].push_back(time);
  }
}

Ns HostBuckets::WaitedAt(uint32_t thread, Ns time) const {
  const IntervalSet& waits = threads_[thread].by_activity[kWaiting];
  const auto wait =
      std::lower_bound(waits.begin(), waits.end(), time, [](const Interval& i, Ns t) { return i.end <= t; });
  return wait != waits.end() && wait->start <= time ? wait->length() : 0;
}

Ns HostBuckets::DispatchIn(uint32_t thread, Interval time) const {
  if (thread == kNoIndex) return kLeastDispatch;
  const ApiCalls& calls = context_.trace.api_calls;
  Ns launches = 1;
  for (auto i = static_cast<size_t>(std::lower_bound(calls.start.begin(), calls.start.end(), time.start) -
                                    calls.start.begin());
       i < calls.size() && calls.start[i] < time.end; ++i)
    launches += calls.thread[i] == thread && calls_[i] != 0;
  return launches * threads_[thread].dispatch;
}

IntervalSet HostBuckets::First(const IntervalSet& set, Ns length) {
  IntervalSet first;
  for (const Interval& i : set) {
    if (length <= 0) break;
    first.push_back({i.start, std::min(i.end, i.start + length)});
    length -= i.length();
  }
  return first;
}

IntervalSet HostBuckets::Last(const IntervalSet& set, Ns length) {
  const Ns before = Length(set) - length;
  return before <= 0 ? set : Subtract(set, First(set, before));
}

IntervalSet HostBuckets::Within(const IntervalSet& set, Interval window) {
  auto first = std::lower_bound(set.begin(), set.end(), window.start,
                                [](const Interval& i, int64_t t) { return i.end <= t; });
  IntervalSet inside;
  for (; first != set.end() && first->start < window.end; ++first)
    inside.push_back({std::max(first->start, window.start), std::min(first->end, window.end)});
  return inside;
}

Ns HostBuckets::FirstActivity(uint32_t thread, Interval time) const {
  if (thread == kNoIndex) return time.start;
  const IntervalSet& active = threads_[thread].calls_and_ranges;
  const auto first = std::lower_bound(active.begin(), active.end(), time.start,
                                      [](const Interval& i, int64_t t) { return i.end <= t; });
  return first == active.end() ? time.end : std::clamp(first->start, time.start, time.end);
}

Ns HostBuckets::BeginOfTask(uint32_t thread, Interval time) const {
  const IntervalSet& active = threads_[thread].calls_and_ranges;
  const auto after = std::upper_bound(active.begin(), active.end(), time.end,
                                      [](int64_t t, const Interval& i) { return t < i.start; });
  return after == active.begin() ? time.start : std::clamp((after - 1)->start, time.start, time.end);
}

}  // namespace dladvisor
