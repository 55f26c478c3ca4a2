// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocm/rocm_trace.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/trace/event_tables.h"

namespace dladvisor::rocm {
namespace {

constexpr Ns kLastTime = 4'000'000'000'000'000'000;   // 126 years: differences of two times fit
constexpr Ns kMostTotal = 1'000'000'000'000'000'000;  // sums of tables fit
constexpr int64_t kMostDimension = int64_t{1} << 40;

// Kernels of AMD's runtime: __amd_rocclr_fillBufferAligned, __amd_rocclr_copyBuffer.
constexpr std::string_view kOfRuntime = "__amd_rocclr_";

}  // namespace

Domain DomainOf(std::string_view name) {
  if (name.starts_with("HIP_")) return Domain::kHip;
  if (name.starts_with("HSA_")) return Domain::kHsa;
  if (name.starts_with("MARKER_CORE")) return Domain::kMarker;
  return name.starts_with("RCCL_") ? Domain::kRccl : Domain::kOther;
}

LaunchShape ShapeOfItems(const std::array<int64_t, 3>& items, const std::array<int64_t, 3>& block) {
  LaunchShape shape;
  for (size_t i = 0; i < 3; ++i) {
    shape.block[i] = std::clamp<int64_t>(block[i], 1, kMostDimension);
    const int64_t all = std::clamp<int64_t>(items[i], 1, kMostDimension);
    shape.grid[i] = (all + shape.block[i] - 1) / shape.block[i];  // the last may be smaller
  }
  return shape;
}

CopyDirection DirectionOf(std::string_view name) {
  const auto has = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  if (has("HOST_TO_DEVICE") || has("HostToDevice")) return CopyDirection::kHostToDevice;
  if (has("DEVICE_TO_HOST") || has("DeviceToHost")) return CopyDirection::kDeviceToHost;
  if (has("DEVICE_TO_DEVICE") || has("DeviceToDevice")) return CopyDirection::kDeviceToDevice;
  if (has("HOST_TO_HOST") || has("HostToHost")) return CopyDirection::kHostToHost;
  return CopyDirection::kUnknown;
}

std::string_view KernelName(std::string_view name) {
  for (const std::string_view end : {" [clone .kd]", ".kd"})
    if (name.ends_with(end) && name.size() > end.size()) name.remove_suffix(end.size());
  return name;
}

RocmTrace::RocmTrace(std::string_view format, std::string_view profiler) : tables_(trace_) {
  trace_.format = format;
  trace_.facts["profiler"] = profiler;
  trace_.facts["vendor"] = "AMD";
}

uint32_t RocmTrace::Process(int64_t pid) {
  const auto [process, is_new] = processes_.try_emplace(pid, 0);
  if (is_new) process->second = trace_.threads[tables_.Thread(pid, pid)].process;
  return process->second;
}

bool RocmTrace::Use(Table& table, std::optional<int64_t> start, std::optional<int64_t> end) {
  ++table.read;
  const bool is_usable =
      start && end && *start >= 0 && *start <= kLastTime && *end >= *start && *end <= kLastTime;
  if (!is_usable || *end - *start > kMostTotal - table.total) {
    ++table.skipped;
    table.negative += start && end && *end < *start;
    return false;
  }
  table.total += *end - *start;
  return true;
}

void RocmTrace::AddWork(GpuOperations& ops, const Work& work) {
  ops.start.push_back(work.start);
  ops.end.push_back(work.end);
  ops.process.push_back(Process(work.pid));
  ops.device.push_back(tables_.Device(work.device));
  ops.stream.push_back(work.stream);
  ops.correlation.push_back(work.correlation);
  ops.graph_node.push_back(0);
}

void RocmTrace::AddKernel(const Work& work, const KernelLaunch& kernel) {
  if (kernel.name.starts_with(kOfRuntime)) {
    const std::string_view does = kernel.name.substr(kOfRuntime.size());
    if (does.starts_with("fill")) return AddSet(work, 0);
    if (does.starts_with("copy")) return AddCopy(work, CopyDirection::kUnknown, 0);
  }
  Kernels& k = trace_.kernels;
  AddWork(k, work);
  const NameId name = Name(KernelName(kernel.name));
  const auto [short_name, is_new] = short_names_.try_emplace(name, name);
  if (is_new) short_name->second = Name(gpu_rows::ShortNameOf(trace_.names.View(name)));
  k.name.push_back(name);
  k.short_name.push_back(short_name->second);
  const LaunchShape shape = kernel.shape.value_or(LaunchShape{});
  k.grid.push_back(kernel.shape ? gpu_rows::Product(shape.grid) : 0);
  k.block.push_back(kernel.shape ? gpu_rows::Product(shape.block) : 0);
  k.registers.push_back(std::clamp<int64_t>(kernel.registers, 0, gpu_rows::kMostPerBlock));
  k.shared_bytes.push_back(std::clamp<int64_t>(kernel.shared_bytes, 0, gpu_rows::kMostPerBlock));
  k.local_bytes.push_back(std::clamp<int64_t>(kernel.local_bytes, -1, gpu_rows::kMostPerBlock));
  k.shape.push_back(tables_.Shape(shape));
}

void RocmTrace::AddCopy(const Work& work, CopyDirection direction, int64_t bytes) {
  Copies& c = trace_.copies;
  AddWork(c, work);
  c.bytes.push_back(std::clamp<int64_t>(bytes, 0, gpu_rows::kMostBytes));
  c.direction.push_back(direction);
  // Whether the host's memory is pinned is not recorded.
  const auto memory = [&](CopyDirection of_host) {
    return direction == of_host || direction == CopyDirection::kUnknown ||
                   direction == CopyDirection::kHostToHost
               ? MemoryKind::kUnknown
               : MemoryKind::kDevice;
  };
  c.source.push_back(memory(CopyDirection::kHostToDevice));
  c.destination.push_back(memory(CopyDirection::kDeviceToHost));
}

void RocmTrace::AddSet(const Work& work, int64_t bytes) {
  AddWork(trace_.sets, work);
  trace_.sets.bytes.push_back(std::clamp<int64_t>(bytes, 0, gpu_rows::kMostBytes));
  trace_.sets.memory.push_back(MemoryKind::kUnknown);
}

void RocmTrace::AddCall(uint32_t thread, std::string_view name, Ns start, Ns end, int64_t correlation) {
  ApiCalls& a = trace_.api_calls;
  a.start.push_back(start);
  a.end.push_back(end);
  a.thread.push_back(thread);
  a.correlation.push_back(correlation);
  a.name.push_back(Name(name));
  a.result.push_back(0);
}

void RocmTrace::AddRange(uint32_t thread, std::string_view name, std::string_view domain, Ns start, Ns end,
                         RangeKind kind) {
  Ranges& r = trace_.ranges;
  r.start.push_back(start);
  r.end.push_back(end);
  r.thread.push_back(thread);
  r.name.push_back(Name(name));
  r.domain.push_back(Name(domain));
  r.kind.push_back(kind);
  r.open.push_back(0);
}

void RocmTrace::AddRegion(uint32_t thread, const Region& region, bool has_hip) {
  const auto& [domain, name, text, start, end, correlation] = region;
  const auto has = [&](std::string_view part) { return region.name.find(part) != std::string_view::npos; };
  switch (domain) {
    case Domain::kHip:
      return AddCall(thread, name, start, end, correlation);
    case Domain::kHsa:
      if (!has_hip) AddCall(thread, name, start, end, correlation);
      return;
    case Domain::kMarker:
      if (text.empty() && name.starts_with("roctx")) return;  // without its text it says nothing
      return AddRange(thread, text.empty() ? name : text, "", start, end,
                      start == end                          ? RangeKind::kMark
                      : has("roctxProcess") || has("Start") ? RangeKind::kStartEnd
                                                            : RangeKind::kPushPop);
    case Domain::kRccl:
      return AddRange(thread, name, "NCCL", start, end, RangeKind::kPushPop);
    case Domain::kOther:
      return;
  }
}

void RocmTrace::AddOverhead(uint32_t thread, std::string_view name, Ns start, Ns end) {
  Overheads& o = trace_.overheads;
  o.start.push_back(start);
  o.end.push_back(end);
  o.thread.push_back(thread);
  o.name.push_back(Name(name));
}

void RocmTrace::AddMemory(int64_t pid, int64_t device, Ns time, int64_t bytes, int64_t address) {
  MemoryEvents& m = trace_.memory_events;
  m.time.push_back(time);
  m.process.push_back(Process(pid));
  m.device.push_back(tables_.Device(device));
  m.bytes.push_back(bytes);
  m.address.push_back(address);
  m.memory.push_back(MemoryKind::kDevice);
}

// A launch of a graph launches many operations, which it numbers from 1 on in the order in which they ran.
void RocmTrace::NumberNodesOfGraphs() {
  std::map<std::pair<uint32_t, int64_t>, int64_t> nodes;  // so far, by process and number of the launch
  const ApiCalls& calls = trace_.api_calls;
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls.correlation[i] != kNoCorrelation &&
        trace_.names.View(calls.name[i]).find("GraphLaunch") != std::string_view::npos)
      nodes[{trace_.threads[calls.thread[i]].process, calls.correlation[i]}] = 0;
  if (nodes.empty()) return;
  const auto number = [&](GpuOperations& ops) {
    for (size_t i = 0; i < ops.size(); ++i)
      if (const auto launch = nodes.find({ops.process[i], ops.correlation[i]}); launch != nodes.end())
        ops.graph_node.Set(i, ++launch->second);
  };
  number(trace_.kernels);
  number(trace_.copies);
  number(trace_.sets);
}

Trace RocmTrace::Finish() {
  CaptureHealth& health = trace_.health;
  for (const auto& [name, table] : health_) {
    health.rows_read[name] += table.read;
    if (table.skipped > 0) health.rows_skipped[name] += table.skipped;
    health.negative_durations += table.negative;
  }
  for (Device& device : trace_.devices)
    if (const auto known = described_.find(device.ordinal); known != described_.end()) device = known->second;
  if (!described_.empty()) trace_.facts["listed_gpus"] = std::to_string(described_.size());
  SortByStart(trace_.kernels);
  SortByStart(trace_.copies);
  SortByStart(trace_.sets);
  SortByStartLongestFirst(trace_.api_calls);
  SortByStartLongestFirst(trace_.ranges);
  SortByStart(trace_.overheads);
  SortByStart(trace_.memory_events);
  NumberNodesOfGraphs();
  SortDevices(trace_);
  if (const auto first = FirstTime(trace_)) SetOrigin(trace_, *first);
  return std::move(trace_);
}

}  // namespace dladvisor::rocm
