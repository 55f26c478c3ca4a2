// SPDX-License-Identifier: Apache-2.0
#include "src/importers/xla/xla_events.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "src/importers/xla/details.h"
#include "src/trace/event_tables.h"
#include "src/trace/intervals.h"

namespace dladvisor::xla {
namespace {

using kineto::kUnknown;

constexpr Ns kWakesUp = 50'000;  // from the end of the GPU's work until the host knows of it

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

// What waits for the GPU, as the calls that programs know. "" for all else.
std::string_view WaitOf(std::string_view name) {
  using Wait = std::pair<std::string_view, std::string_view>;
  static constexpr std::array kWaits = {
      Wait{"np.asarray(jax.Array)", "np.asarray(jax.Array)"},
      Wait{"BlockHostUntilReady", "jax.block_until_ready"},
      Wait{"PjRtBuffer::BlockHostUntilReady", "jax.block_until_ready"},
  };
  for (const auto& [text, call] : kWaits)
    if (name == text) return call;
  return "";
}

// Of CUPTI's kinds of overhead those that are the profiler's own.
bool IsOverhead(std::string_view name) {
  return name == "BUFFER_FLUSH" || name == "INSTRUMENTATION" || name == "RESOURCE" ||
         name == "ACTIVITY_BUFFER_REQUEST";
}

// The function of CUDA that an event with a correlation id is the call of: "cuGraphLaunch (CudaGraph:51)",
// "MemcpyH2D", or the name of a kernel.
std::string CallOf(std::string_view name, const CopyDetails& copy) {
  if (name.starts_with("cu") && name.size() > 2 &&
      (name.starts_with("cuda") || (name[2] >= 'A' && name[2] <= 'Z')))
    return std::string(name.substr(0, name.find_first_of(" (:")));
  if (name.starts_with("hip")) return std::string(name.substr(0, name.find_first_of(" (:")));
  const std::string_view end = copy.is_async ? "Async" : "";
  switch (DirectionOf(name.starts_with("Memcpy") ? name : "")) {
    case CopyDirection::kHostToDevice:
      return fmt::format("cuMemcpyHtoD{}", end);
    case CopyDirection::kDeviceToHost:
      return fmt::format("cuMemcpyDtoH{}", end);
    case CopyDirection::kDeviceToDevice:
      return fmt::format("cuMemcpyDtoD{}", end);
    default:
      break;
  }
  if (name.starts_with("Memcpy")) return fmt::format("cuMemcpy{}", end);
  if (name.starts_with("Memset")) return "cuMemsetD8Async";
  return "cuLaunchKernel";
}

Ns EndOf(const kineto::Event& e) { return e.start + (e.duration == kUnknown ? 0 : e.duration); }

void SetNames(const std::map<std::pair<int64_t, int64_t>, std::string>& names, Trace& trace) {
  for (Thread& thread : trace.threads) {
    const auto name = names.find({trace.processes[thread.process].pid, thread.tid});
    if (name == names.end()) continue;
    thread.name = name->second.substr(0, name->second.find('/'));
    thread.is_worker = thread.name.starts_with("pjrt") || thread.name.starts_with("py_xla");
  }
}

}  // namespace

Events::Events()
    : tables_(trace_),
      domain_(trace_.names.Intern("XLA")),
      annotation_(trace_.names.Intern("user_annotation")) {
  trace_.format = "xla";
  trace_.facts["profiler"] = "XLA's profiler";
}

uint32_t Events::Thread(const Event& e) { return tables_.Thread(kineto::IdOf(e.pid), kineto::IdOf(e.tid)); }

void Events::AddName(const Event& e) {
  std::string buffer;
  const int64_t pid = kineto::IdOf(e.pid);
  const std::string_view name = kineto::Unescape(e.value, buffer);
  if (e.name == "thread_name") {
    threads_[{pid, kineto::IdOf(e.tid)}] = name;
    names_late_ |= StreamOf(name) && unnamed_lines_.contains({pid, kineto::IdOf(e.tid)});
  }
  if (e.name != "process_name") return;
  const auto kind = ProcessKindOf(name);
  if (!kind) return;
  processes_[pid] = *kind;
  names_late_ |= unnamed_.contains(pid);
  has_tpu_ |= kind->kind == ProcessKind::Kind::kTpu;
}

void Events::Add(const Event& e) {
  if (e.phase == 'M') return AddName(e);
  if (e.phase != 'X') return;
  ++count_;
  const auto process = processes_.find(kineto::IdOf(e.pid));
  if (process == processes_.end()) {
    unnamed_.insert(kineto::IdOf(e.pid));
    return;
  }
  const bool is_host = process->second.kind == ProcessKind::Kind::kHost;
  std::string& rows = name_;
  rows = is_host ? "host" : "gpu";
  std::optional<int64_t> stream;
  if (process->second.kind == ProcessKind::Kind::kGpu) {
    if (const auto thread = threads_.find({process->first, kineto::IdOf(e.tid)}); thread != threads_.end())
      stream = StreamOf(thread->second);
    else
      unnamed_lines_.insert({process->first, kineto::IdOf(e.tid)});
  }
  if (!is_host && !stream) return;
  const auto of = pids_.try_emplace(is_host ? -1 : process->second.ordinal, process->first).first;
  has_hosts_ |= of->second != process->first;
  ++trace_.health.rows_read[rows];
  if (e.start == kUnknown || (e.duration != kUnknown && e.duration < 0)) {
    ++trace_.health.rows_skipped[rows];
    trace_.health.negative_durations += e.duration != kUnknown && e.duration < 0;
    return;
  }
  if (is_host)
    AddOfHost(e);
  else
    AddGpuWork(e, process->second.ordinal, *stream);
}

void Events::AddGpuWork(const Event& e, int64_t device, int64_t stream) {
  const auto add = [&](GpuOperations& ops) {
    ops.start.push_back(e.start);
    ops.end.push_back(EndOf(e));
    ops.process.push_back(kNoIndex);
    ops.device.push_back(tables_.Device(device));
    ops.stream.push_back(stream);
    ops.correlation.push_back(e.correlation == kUnknown || e.correlation == 0 ? kNoCorrelation
                                                                              : e.correlation);
    ops.graph_node.push_back(e.graph_node);
  };
  std::string buffer;
  const std::string_view name = kineto::Unescape(e.name, buffer);
  if (!e.hlo_module.empty()) signs_.try_emplace(std::string(e.hlo_module));
  if (!e.memcpy_details.empty() || name.starts_with("Memcpy")) {
    const CopyDetails details = CopyDetailsOf(e.memcpy_details);
    Copies& c = trace_.copies;
    add(c);
    c.bytes.push_back(details.bytes);
    c.direction.push_back(DirectionOf(name));
    c.source.push_back(details.from);
    c.destination.push_back(details.to);
    return;
  }
  if (!e.memset_details.empty() || name.starts_with("Memset")) {
    const CopyDetails details = CopyDetailsOf(e.memset_details);
    add(trace_.sets);
    trace_.sets.bytes.push_back(details.bytes);
    trace_.sets.memory.push_back(details.from);
    return;
  }
  Kernels& k = trace_.kernels;
  add(k);
  if (e.correlation != kUnknown && !e.annotation.empty())
    if (const std::string_view of = OperatorOf(e.annotation); !of.empty())
      operators_.push_back({e.correlation, Name(of)});
  const KernelDetails details = KernelDetailsOf(e.kernel_details);
  const NameId id = Name(name);
  k.name.push_back(id);
  k.short_name.push_back(Name(gpu_rows::ShortNameOf(name)));
  k.grid.push_back(gpu_rows::Product(details.shape.grid));
  k.block.push_back(gpu_rows::Product(details.shape.block));
  k.registers.push_back(details.registers);
  k.shared_bytes.push_back(details.shared_bytes);
  k.shape.push_back(tables_.Shape(details.shape));
}

void Events::AddOfHost(const Event& e) {
  std::string buffer;
  const std::string_view name = kineto::Unescape(e.name, buffer);
  if (name.starts_with('$')) return AddFrame(e, name.substr(1));
  if (e.correlation != kUnknown && e.correlation != 0)
    return AddCall(e, CallOf(name, CopyDetailsOf(e.memcpy_details)));
  if (IsOverhead(name)) {
    Overheads& o = trace_.overheads;
    o.start.push_back(e.start);
    o.end.push_back(EndOf(e));
    o.thread.push_back(Thread(e));
    o.name.push_back(Name(name));
    return;
  }
  if (name == "<UNKNOWN>") return;  // of CUPTI's overheads, too
  if (const std::string_view wait = WaitOf(name); !wait.empty()) return AddCall(e, wait);
  if (!e.step_number.empty()) {
    const bool says_step = RE2::PartialMatch(Piece(name), R"((?i)step$)");
    return AddRange(e, fmt::format("{}{} {}", name, says_step ? "" : " step", e.step_number), annotation_);
  }
  AddRange(e, name, domain_);
}

// "train.py:23 step" -> "train.py(23): step", and "builtins len" -> "<built-in> len".
void Events::AddFrame(const Event& e, std::string_view name) {
  static const RE2 form(R"((.+):(\d+) (.*))");
  re2::StringPiece file, line, function;
  Frames& f = trace_.frames;
  f.start.push_back(e.start);
  f.end.push_back(EndOf(e));
  f.thread.push_back(Thread(e));
  if (RE2::FullMatch(Piece(name), form, &file, &line, &function)) {
    f.name.push_back(Name(fmt::format("{}({}): {}", std::string_view(file.data(), file.size()),
                                      std::string_view(line.data(), line.size()),
                                      std::string_view(function.data(), function.size()))));
    if (std::string_view(function.data(), function.size()) == "block_until_ready")
      AddCall(e, "jax.block_until_ready");
    return;
  }
  const size_t blank = name.rfind(' ');
  f.name.push_back(Name(blank == std::string_view::npos
                            ? std::string(name)
                            : fmt::format("<built-in> {}", name.substr(blank + 1))));
}

void Events::AddCall(const Event& e, std::string_view name) {
  ApiCalls& a = trace_.api_calls;
  a.start.push_back(e.start);
  a.end.push_back(EndOf(e));
  a.thread.push_back(Thread(e));
  a.correlation.push_back(e.correlation == kUnknown || e.correlation == 0 ? kNoCorrelation : e.correlation);
  a.name.push_back(Name(name));
  a.result.push_back(0);
}

void Events::AddRange(const Event& e, std::string_view name, NameId domain) {
  Ranges& r = trace_.ranges;
  r.start.push_back(e.start);
  r.end.push_back(EndOf(e));
  r.thread.push_back(Thread(e));
  r.name.push_back(Name(name));
  r.domain.push_back(domain);
  r.kind.push_back(RangeKind::kPushPop);
  r.open.push_back(e.duration == kUnknown);
}

namespace {

// Which framework's: by the names of its modules and of the functions of its runtime on the host.
std::string_view FrameworkOf(const Trace& trace, const std::map<std::string, bool, std::less<>>& modules) {
  static const RE2 torch(
      R"(^XLAGraphExecutor|^TensorCollectBarrier|^torch_xla|^aten::|^xla::(add|mm|view)$)");
  static const RE2 tensorflow(
      R"(^(FunctionRun|EagerExecute|EagerLocalExecute|EagerKernelExecute|EagerCopyToDeviceAndAddCacheKey|TFE_\w+|)"
      R"(KernelAndDeviceFunc::Run|ExecutorState::Process|ExecutorDoneCallback|RunGraphDone|Iterator::\w.*|GpuCompile)$|)"
      R"(^ProcessFunctionLibraryRuntime)");
  static const RE2 jax(R"(^PjitFunction\(|^pjit|^np\.asarray\(jax|^PjRtCApiLoaded|^jax\.|^pmap|^cpp_pjit)");
  bool is_torch = false, is_tensorflow = false, is_jax = false;
  std::vector<uint8_t> seen(trace.names.size(), 0);
  const auto look = [&](NameId id) {
    if (std::exchange(seen[id], uint8_t{1})) return;
    const re2::StringPiece name = Piece(trace.names.View(id));
    is_torch = is_torch || RE2::PartialMatch(name, torch);
    is_tensorflow = is_tensorflow || RE2::PartialMatch(name, tensorflow);
    is_jax = is_jax || RE2::PartialMatch(name, jax);
  };
  for (const NameId id : trace.ranges.name) look(id);
  for (const NameId id : trace.api_calls.name) look(id);
  for (const auto& [module, unused] : modules) {
    is_torch = is_torch || module.starts_with("SyncTensorsGraph") || module.starts_with("IrToHlo");
    is_jax = is_jax || module.starts_with("jit_") || module.starts_with("pmap_");
    is_tensorflow = is_tensorflow || module.starts_with("cluster_") || module.starts_with("a_inference_");
  }
  if (is_torch) return "PyTorch/XLA";
  if (is_jax) return "JAX";
  return is_tensorflow ? "TensorFlow" : "";
}

}  // namespace

namespace {

bool IsWait(std::string_view call) { return call.starts_with("jax.") || call.starts_with("np."); }

}  // namespace

// A wait that is called by one waits once, and for no GPU where there is none.
void Events::DropInnerWaits() {
  ApiCalls& a = trace_.api_calls;
  std::vector<Ns> end(trace_.threads.size(), kUnknown);
  ApiCalls kept;
  const bool uses_gpu =
      trace_.kernels.size() + trace_.copies.size() + trace_.sets.size() > 0 ||
      std::ranges::any_of(a.name, [&](NameId id) { return !IsWait(trace_.names.View(id)); });
  for (size_t i = 0; i < a.size(); ++i) {
    const std::string_view name = trace_.names.View(a.name[i]);
    const bool is_wait = IsWait(name);
    if (is_wait && !uses_gpu) continue;
    Ns& last = end[a.thread[i]];
    if (is_wait && a.end[i] <= last) continue;
    if (is_wait) last = a.end[i];
    kept.start.push_back(a.start[i]);
    kept.end.push_back(a.end[i]);
    kept.thread.push_back(a.thread[i]);
    kept.correlation.push_back(a.correlation[i]);
    kept.name.push_back(a.name[i]);
    kept.result.push_back(0);
  }
  a = std::move(kept);
}

// A call that waits does more than that, as a copy of the array on the host: what comes after the GPU's work
// is none of the wait.
void Events::EndWaitsWithWork() {
  std::vector<Interval> all;
  for (const GpuOperations* ops :
       {static_cast<const GpuOperations*>(&trace_.kernels), static_cast<const GpuOperations*>(&trace_.copies),
        static_cast<const GpuOperations*>(&trace_.sets)})
    for (size_t i = 0; i < ops->size(); ++i) all.push_back({ops->start[i], ops->end[i]});
  const IntervalSet work = Union(std::move(all));
  ApiCalls& a = trace_.api_calls;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!IsWait(trace_.names.View(a.name[i]))) continue;
    const auto next = std::ranges::lower_bound(work, a.end[i], {}, &Interval::start);  // after the wait
    const Ns worked = next == work.begin() ? a.start[i] : std::max(std::prev(next)->end, a.start[i]);
    a.end[i] = std::min(a.end[i], worked + kWakesUp);
  }
}

// Names of frames have no folder. JAX's own are known by the functions that programs call, and below those by
// the names of their files.
void Events::MarkFramesOfJax() {
  static const RE2 entry(
      R"(^(api\.py\(\d+\): (block_until_ready|device_put\w*|device_get|clear_caches)|)"
      R"(array\.py\(\d+\): (__\w+__|_value|item|tolist|block_until_ready|copy_to_host_async)|)"
      R"(profiler\.py\(\d+\): (wrapper|start_trace|stop_trace|__init__|__enter__|__exit__)|)"
      R"((pjit|array_constructors|lax_numpy|array_methods|traceback_util|api_util|linear_util|ufunc_api|dispatch|)"
      R"(pxla|tree_util|xla_bridge|sharding_impls|indexed_array|ufuncs|reductions|lax)\.py\())");
  static const RE2 inner(
      R"(^(api|array|profiler|core|dispatch|pjit|lax|util|config|dtypes|basearray|literals|layout|sharding\w*|)"
      R"(named_sharding|abstract_arrays|monitoring|partial_eval|ad|batching|mlir|compiler|stages|source_info_util|)"
      R"(array_constructors|lax_numpy|array_methods|traceback_util|api_util|linear_util|pxla|tree_util|xla_bridge|)"
      R"(ufunc_api|ufuncs|reductions|custom_\w+|compilation_cache|cache_key|deprecations|typing)\.py\()");
  Frames& f = trace_.frames;
  std::vector<uint8_t> kind(trace_.names.size(), 0);  // 1 of neither, 2 inner, 3 entry
  std::vector<NameId> named(trace_.names.size(), kNoName);
  std::vector<Ns> until(trace_.threads.size(), kUnknown);
  for (size_t i = 0; i < f.size(); ++i) {
    const NameId id = f.name[i];
    if (kind[id] == 0) {
      const std::string name(trace_.names.View(id));
      kind[id] = RE2::PartialMatch(name, entry) ? 3 : RE2::PartialMatch(name, inner) ? 2 : 1;
      if (kind[id] > 1) named[id] = trace_.names.Intern("jax/" + name);
    }
    Ns& end = until[f.thread[i]];
    const bool is_inside = f.start[i] < end;
    if (kind[id] == 3 && !is_inside) end = f.end[i];
    if (kind[id] == 3 || (kind[id] == 2 && is_inside)) f.name[i] = named[id];
  }
}

Trace Events::Finish() {
  if (const std::string_view framework = FrameworkOf(trace_, signs_); !framework.empty())
    trace_.facts["framework"] = framework;
  uint32_t host = kNoIndex;  // of a trace there is one
  for (uint32_t i = 0; i < trace_.processes.size(); ++i)
    if (const auto kind = processes_.find(trace_.processes[i].pid);
        kind != processes_.end() && kind->second.kind == ProcessKind::Kind::kHost)
      host = i;
  if (host == kNoIndex) {
    host = static_cast<uint32_t>(trace_.processes.size());
    trace_.processes.emplace_back();
  }
  for (GpuOperations* ops :
       {static_cast<GpuOperations*>(&trace_.kernels), static_cast<GpuOperations*>(&trace_.copies),
        static_cast<GpuOperations*>(&trace_.sets)})
    for (size_t i = 0; i < ops->size(); ++i) ops->process.Set(i, host);
  SetNames(threads_, trace_);
  SortByStartLongestFirst(trace_.ranges);
  SortByStartLongestFirst(trace_.api_calls);
  SortByStartLongestFirst(trace_.frames);
  SortByStart(trace_.kernels);
  SortByStart(trace_.copies);
  SortByStart(trace_.sets);
  SortByStart(trace_.overheads);
  AddAnnotatedOperators(trace_, std::move(operators_), domain_);
  DropInnerWaits();
  EndWaitsWithWork();
  MarkFramesOfJax();
  SortDevices(trace_);
  if (const auto first = FirstTime(trace_)) SetOrigin(trace_, *first);
  return std::move(trace_);
}

}  // namespace dladvisor::xla
