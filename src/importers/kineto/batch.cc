// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/batch.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "src/importers/kineto/memcpy_kind.h"
#include "src/trace/event_tables.h"

namespace dladvisor::kineto {

namespace {

constexpr std::string_view kModule = "nn.Module: ";
constexpr std::string_view kDataFlow = "DataFlow";  // of rocprof's arrows from calls to what they launch
constexpr int64_t kNoTid = -1;

// The number of a token: 7, "7" or "stream 7"; nothing where it holds none.
std::optional<int64_t> NumberOf(std::string_view token) {
  if (const int64_t whole = WholeNumber(token); whole >= 0) return whole;
  const size_t digit = token.find_first_of("0123456789");
  if (digit == std::string_view::npos) return std::nullopt;
  const bool negative = digit > 0 && token[digit - 1] == '-';
  int64_t number = 0;
  if (std::from_chars(token.data() + digit, token.data() + token.size(), number).ec != std::errc())
    return std::nullopt;
  return negative ? -number : number;
}

SyncKind SyncKindOf(std::string_view kind) {
  if (kind == "Stream Wait Event") return SyncKind::kStreamWaitEvent;
  if (kind == "Stream Sync" || kind == "Stream Synchronize") return SyncKind::kStream;
  if (kind == "Event Sync" || kind == "Event Synchronize") return SyncKind::kEvent;
  if (kind == "Context Sync" || kind == "Context Synchronize") return SyncKind::kContext;
  return SyncKind::kUnknown;
}

// Sequence numbers begin at 0, which is none here. What is hashed of them serves as well, where they are
// missing.
int64_t CollectiveNumber(const Event& e) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  if (e.collective_sequence >= 0 && e.collective_sequence < kLargest) return e.collective_sequence + 1;
  uint64_t hash = 0;
  const std::string_view text = e.collective_operation;
  std::from_chars(text.data(), text.data() + text.size(), hash);
  return static_cast<int64_t>(hash & static_cast<uint64_t>(kLargest));
}

}  // namespace

int64_t IdOf(std::string_view token) { return NumberOf(token).value_or(kNoTid); }

Batch::Batch()
    : tables(trace),
      operator_(trace.names.Intern("cpu_op")),
      annotation_(trace.names.Intern("user_annotation")),
      module_(trace.names.Intern("nn.Module")) {}

const Batch::Known& Batch::KnownCategory(std::string_view name) {
  for (const Known& known : known_)
    if (known.name == name) return known;
  constexpr size_t kMost = 32;  // of programs that invent them
  if (known_.size() == kMost) known_.clear();
  std::string text(name);
  int64_t* const count = &rows_read[text];
  return known_.emplace_back(Known{std::move(text), EventCategoryOf(name), count});
}

void Batch::Add(const Event& e) {
  if (e.phase == 'M') return AddMetadata(e);
  if (e.phase == 'i' || e.phase == 'I') {
    if (e.name == "[memory]") AddMemory(e);
    return;
  }
  if (e.phase == 'C') return AddCounter(e);
  if ((e.phase == 's' || e.phase == 't' || e.phase == 'f') && e.category == kDataFlow) return KeepSpan(e);
  if (e.phase == 's' || e.phase == 'f') return launches.AddFlow(e);
  if (e.phase == 'B' || e.phase == 'E' || e.phase == 'b' || e.phase == 'e') return KeepSpan(e);
  if (e.phase != 'X') return;
  const std::string_view category = e.category.empty() ? LegacyCategory(e.pid) : e.category;
  const Known& known = KnownCategory(category);
  ++*known.rows_read;
  if (e.start == kUnknown || (e.duration != kUnknown && e.duration < 0)) {
    ++rows_skipped[known.name];
    trace.health.negative_durations += e.duration != kUnknown && e.duration < 0;
    return;
  }
  switch (known.category) {
    case EventCategory::kKernel:
      return AddKernel(e);
    case EventCategory::kCopy:
      return AddCopy(e);
    case EventCategory::kSet:
      return AddSet(e);
    case EventCategory::kApiCall:
      return AddApiCall(e);
    case EventCategory::kSync:
      return AddSync(e);
    case EventCategory::kOperator:
      // Old traces have no category of annotations.
      return AddOperator(e, e.name.starts_with("ProfilerStep#") ? annotation_ : operator_);
    case EventCategory::kAnnotation:
      return AddOperator(e, annotation_);
    case EventCategory::kPythonFunction:
      return AddPythonFunction(e);
    case EventCategory::kOverhead:
      return AddOverhead(e);
    case EventCategory::kGraphEvent:
      return AddGraphEvent(e);
    case EventCategory::kSpan:
      span_start = span_start == kUnknown ? e.start : std::min(span_start, e.start);
      span_end = std::max(span_end, e.start + std::max<Ns>(0, e.duration));
      return;
    case EventCategory::kMirrored:
      if (known.name == kLegacyGpu) legacy_gpu.Add(e, trace.names);
      return;
    case EventCategory::kCounters:
      return;
    case EventCategory::kOther:
      if (e.stream != kUnknown && e.duration > 0 && IsDeviceWork(known.name, e.name)) return AddDeviceWork(e);
      if (known.name.empty()) npu.Add(e.name, e.start, std::max<Ns>(0, e.duration));
      ++rows_skipped[known.name];
      ++rows_unknown[known.name];
      KeepSpan(e);
  }
}

bool Batch::HasKnownEvents() const {
  return trace.kernels.size() + trace.copies.size() + trace.sets.size() + trace.api_calls.size() +
             trace.ranges.size() + trace.frames.size() >
         0;
}

NameId Batch::Name(std::string_view text) {
  return trace.names.Intern(texts_are_plain ? text : Unescape(text, buffer_));
}

uint32_t Batch::Thread(const Event& e) { return tables.Thread(IdOf(e.pid), IdOf(e.tid)); }

namespace {

int64_t StreamOf(const Event& e) {
  if (e.original_stream != kUnknown) return e.original_stream;
  return e.stream == kUnknown ? IdOf(e.tid) : e.stream;
}

// CUPTI's ids have the graph in the upper half; some writers record the halves apart.
int64_t GraphNodeOf(const Event& e) {
  constexpr int64_t kHalf = int64_t{1} << 32;
  const bool is_apart = e.graph > 0 && e.graph < kHalf / 2 && e.graph_node >= 0 && e.graph_node < kHalf;
  return is_apart ? e.graph * kHalf + e.graph_node : e.graph_node;
}

Ns EndOf(const Event& e) { return e.start + (e.duration == kUnknown ? 0 : e.duration); }

float Bandwidth(const Event& e) {
  return e.gigabytes_per_second < 0 ? -1 : static_cast<float>(e.gigabytes_per_second * 1e9);
}

}  // namespace

void Batch::AddMetadata(const Event& e) {
  const int64_t pid = IdOf(e.pid);
  if (e.name == "process_name") process_names[pid] = Unescape(e.value, buffer_);
  if (e.name == "thread_name") thread_names[{pid, IdOf(e.tid)}] = Unescape(e.value, buffer_);
}

void Batch::AddGpuOperation(GpuOperations& ops, const Event& e) {
  ops.start.push_back(e.start);
  ops.end.push_back(EndOf(e));
  ops.process.push_back(kNoIndex);
  ops.device.push_back(tables.Device(e.device == kUnknown ? IdOf(e.pid) : e.device));
  ops.stream.push_back(StreamOf(e));
  ops.correlation.push_back(e.correlation == kUnknown || e.correlation == 0 ? kNoCorrelation : e.correlation);
  ops.graph_node.push_back(GraphNodeOf(e));
}

void Batch::AddKernel(const Event& e) {
  Kernels& k = trace.kernels;
  AddGpuOperation(k, e);
  launches.AddWork(Launches::Work::kKernel, k.size() - 1, e);
  const NameId name = Name(e.name);
  if (short_names_.size() <= name) short_names_.resize(name + 1, kNoName);
  if (short_names_[name] == kNoName)
    short_names_[name] = trace.names.Intern(gpu_rows::ShortNameOf(trace.names.View(name)));
  k.name.push_back(name);
  k.short_name.push_back(short_names_[name]);
  k.grid.push_back(e.has_shape ? gpu_rows::Product(e.grid) : 0);
  k.block.push_back(e.has_shape ? gpu_rows::Product(e.block) : 0);
  k.registers.push_back(std::clamp<int64_t>(e.registers, 0, gpu_rows::kMostPerBlock));
  k.shared_bytes.push_back(std::clamp<int64_t>(e.shared_bytes, 0, gpu_rows::kMostPerBlock));
  k.shape.push_back(tables.Shape(e.has_shape ? LaunchShape{e.grid, e.block} : LaunchShape{}));
  k.blocks_per_sm.push_back(static_cast<float>(e.blocks_per_sm));
  k.occupancy.push_back(static_cast<float>(e.occupancy));
  k.collective.push_back(Collective(e));
  k.collective_number.push_back(CollectiveNumber(e));
}

void Batch::AddCopy(const Event& e) {
  Copies& c = trace.copies;
  AddGpuOperation(c, e);
  launches.AddWork(Launches::Work::kCopy, c.size() - 1, e);
  c.bytes.push_back(std::clamp<int64_t>(e.bytes, 0, gpu_rows::kMostBytes));
  const MemcpyKind kind = MemcpyKindOf(e);
  c.direction.push_back(kind.direction);
  c.source.push_back(kind.from);
  c.destination.push_back(kind.to);
  c.bandwidth.push_back(Bandwidth(e));
}

void Batch::AddDeviceWork(const Event& e) {
  static const RE2 moves(R"((?i)^(dma|mem(ory)?_?(cpy|copy))|(host|device)_to_(host|device))");
  if (RE2::PartialMatch(re2::StringPiece(e.name.data(), e.name.size()), moves)) return AddCopy(e);
  AddKernel(e);
}

void Batch::AddSet(const Event& e) {
  AddGpuOperation(trace.sets, e);
  launches.AddWork(Launches::Work::kSet, trace.sets.size() - 1, e);
  trace.sets.bytes.push_back(std::clamp<int64_t>(e.bytes, 0, gpu_rows::kMostBytes));
  trace.sets.memory.push_back(SetMemoryOf(e));
  trace.sets.bandwidth.push_back(Bandwidth(e));
}

void Batch::AddApiCall(const Event& e) {
  ApiCalls& a = trace.api_calls;
  a.start.push_back(e.start);
  a.end.push_back(EndOf(e));
  a.thread.push_back(Thread(e));
  a.correlation.push_back(e.correlation == kUnknown || e.correlation == 0 ? kNoCorrelation : e.correlation);
  a.name.push_back(Name(e.name));
  a.result.push_back(0);
  launches.AddCall(a.size() - 1, e);
}

void Batch::AddSync(const Event& e) {
  Syncs& s = trace.syncs;
  s.start.push_back(e.start);
  s.end.push_back(EndOf(e));
  s.process.push_back(kNoIndex);
  s.device.push_back(tables.Device(e.device == kUnknown ? IdOf(e.pid) : e.device));
  s.stream.push_back(e.stream == kUnknown ? IdOf(e.tid) : e.stream);
  s.correlation.push_back(e.correlation == kUnknown ? kNoCorrelation : e.correlation);
  s.kind.push_back(SyncKindOf(e.sync_kind.empty() ? e.name : e.sync_kind));
  s.record_correlation.push_back(e.record_correlation);
}

int64_t Batch::Collective(const Event& e) {
  if (e.collective.empty()) return 0;
  return tables.Collective({.name = Raw(e.collective),
                            .dtype = Raw(e.dtype),
                            .group = Raw(e.group),
                            .group_ranks = Raw(e.group_ranks),
                            .group_size = e.group_size,
                            .in_elements = e.in_elements,
                            .out_elements = e.out_elements});
}

void Batch::AddOperator(const Event& e, NameId domain) {
  Ranges& r = trace.ranges;
  const uint32_t thread = Thread(e);
  r.start.push_back(e.start);
  r.end.push_back(EndOf(e));
  r.thread.push_back(thread);
  r.name.push_back(Name(e.name));
  r.domain.push_back(domain);
  r.kind.push_back(RangeKind::kPushPop);
  r.open.push_back(e.duration == kUnknown);
  OperatorArguments arguments{.shapes = Raw(e.shapes),
                              .types = Raw(e.types),
                              .strides = Raw(e.strides),
                              .values = Raw(e.values),
                              .collective = static_cast<uint32_t>(Collective(e))};
  if (!e.stack.empty()) arguments.stack = Name(e.stack);
  if (!e.module.empty()) arguments.module = Name(e.module);
  r.arguments.push_back(tables.Arguments(arguments));
  r.sequence.push_back(e.sequence == kUnknown ? -1 : e.sequence);
  r.forward_thread.push_back(e.forward_thread);
}

void Batch::AddPythonFunction(const Event& e) {
  if (e.name.starts_with(kModule)) return AddOperator(e, module_);
  Frames& f = trace.frames;
  f.start.push_back(e.start);
  f.end.push_back(EndOf(e));
  f.thread.push_back(Thread(e));
  f.name.push_back(Name(e.name));
}

// Of CUPTI's kinds of overhead these are the driver's, and happen without a profiler, too. A kind that Kineto
// does not know, as those of loading code were to its older versions, is nobody's for certain.
void Batch::AddOverhead(const Event& e) {
  if (e.name == "Driver Compiler" || e.name == "Runtime Triggered Module Loading" ||
      e.name == "Lazy Function Loading" || e.name == "Command Buffer Full" || e.name == "Unrecognized")
    return;
  Overheads& o = trace.overheads;
  o.start.push_back(e.start);
  o.end.push_back(EndOf(e));
  o.thread.push_back(Thread(e));
  o.name.push_back(Name(e.name));
}

void Batch::AddGraphEvent(const Event& e) {
  CudaEvents& events = trace.cuda_events;
  events.time.push_back(e.start);
  events.process.push_back(kNoIndex);
  events.device.push_back(tables.Device(e.device == kUnknown ? IdOf(e.pid) : e.device));
  events.stream.push_back(StreamOf(e));
  events.correlation.push_back(e.correlation == kUnknown ? kNoCorrelation : e.correlation);
  events.event.push_back(e.event_handle);
}

// Of "GPU 0 Counters". Other programs write counters of their own.
void Batch::AddCounter(const Event& e) {
  if (!e.pid.starts_with("\"GPU ") || !std::isfinite(e.counter)) return;
  ++rows_read["counter"];
  if (e.start == kUnknown) {
    ++rows_skipped["counter"];
    return;
  }
  GpuMetrics& g = trace.gpu_metrics;
  g.time.push_back(e.start);
  g.device.push_back(tables.Device(IdOf(e.pid)));
  g.metric.push_back(Name(e.name));
  g.value.push_back(e.counter);
}

void Batch::AddMemory(const Event& e) {
  ++rows_read["[memory]"];
  if (e.start == kUnknown || e.allocator_bytes == kUnknown) {
    ++rows_skipped["[memory]"];
    return;
  }
  MemoryEvents& m = trace.memory_events;
  constexpr int64_t kHost = 0;  // c10::DeviceType::CPU
  m.time.push_back(e.start);
  m.process.push_back(kNoIndex);
  m.device.push_back(e.device_type == kHost ? kNoIndex : tables.Device(e.allocator_device));
  m.bytes.push_back(e.allocator_bytes);
  m.address.push_back(e.address);
  m.memory.push_back(e.device_type == kHost ? MemoryKind::kPageable : MemoryKind::kDevice);
  m.allocated.push_back(e.allocated == kUnknown ? -1 : e.allocated);
  m.reserved.push_back(e.reserved == kUnknown ? -1 : e.reserved);
  m.thread.push_back(Thread(e));
}

namespace {

void Count(std::map<std::string, int64_t>& to, const std::map<std::string, int64_t>& from) {
  for (const auto& [category, rows] : from) to[category] += rows;
}

}  // namespace

void Batch::Append(Batch& chunk) {
  npu.Append(chunk.npu);
  const Trace& from = chunk.trace;
  IndexMaps maps;
  for (NameId i = 0; i < from.names.size(); ++i) maps.name.push_back(trace.names.Intern(from.names.View(i)));
  maps.domain = maps.name;
  for (const dladvisor::Thread& t : from.threads)
    maps.thread.push_back(tables.Thread(from.processes[t.process].pid, t.tid));
  for (const Device& d : from.devices) maps.device.push_back(tables.Device(d.ordinal));
  for (const LaunchShape& s : from.kernels.shapes) maps.shape.push_back(tables.Shape(s));
  for (dladvisor::Collective c : from.collectives) {
    for (NameId* field : {&c.name, &c.dtype, &c.group, &c.group_ranks}) *field = maps.name[*field];
    maps.collective.push_back(static_cast<uint32_t>(tables.Collective(c)));
  }
  if (maps.collective.empty()) maps.collective.push_back(0);
  for (OperatorArguments a : from.operator_arguments) {
    for (NameId* field : {&a.shapes, &a.types, &a.strides, &a.values, &a.stack, &a.module})
      *field = maps.name[*field];
    a.collective = maps.collective[a.collective];
    maps.arguments.push_back(static_cast<uint32_t>(tables.Arguments(a)));
  }
  if (HasKnownEvents() || chunk.HasKnownEvents())
    spans.Clear();
  else
    spans.Append(chunk.spans.all(), maps.name);
  legacy_gpu.Append(chunk.legacy_gpu.all(), maps.name);
  launches.Append(chunk.launches, trace);
  Trace::ForEachTable([&](auto table) { AppendRows(trace.*table, from.*table, maps); });

  Count(rows_read, chunk.rows_read);
  Count(rows_skipped, chunk.rows_skipped);
  Count(rows_unknown, chunk.rows_unknown);
  trace.health.negative_durations += from.health.negative_durations;
  process_names.merge(chunk.process_names);
  thread_names.merge(chunk.thread_names);
  if (chunk.span_start != kUnknown) {
    span_start = span_start == kUnknown ? chunk.span_start : std::min(span_start, chunk.span_start);
    span_end = std::max(span_end, chunk.span_end);
  }
}

}  // namespace dladvisor::kineto
