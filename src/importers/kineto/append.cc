#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/importers/kineto/batch.h"

namespace dladvisor::kineto {
namespace {

using Map = std::vector<uint32_t>;  // an index of the chunk as one of the whole

template <class T>
void Append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void Append(IntColumn& to, const IntColumn& from) { to.Append(from); }

void Append(std::vector<uint32_t>& to, const std::vector<uint32_t>& from, const Map& map) {
  for (const uint32_t i : from) to.push_back(i == kNoIndex ? kNoIndex : map[i]);
}

void Append(IntColumn& to, const IntColumn& from, const Map& map) {
  for (size_t i = 0; i < from.size(); ++i) to.push_back(map[static_cast<size_t>(from[i])]);
}

void AppendOps(GpuOps& to, const GpuOps& from, const Map& device) {
  Append(to.start, from.start);
  Append(to.end, from.end);
  Append(to.process, from.process);
  Append(to.device, from.device, device);
  Append(to.stream, from.stream);
  Append(to.correlation, from.correlation);
  Append(to.graph_node, from.graph_node);
}

void Count(std::map<std::string, int64_t>& to, const std::map<std::string, int64_t>& from) {
  for (const auto& [category, rows] : from) to[category] += rows;
}

}  // namespace

void Batch::Append(Batch& chunk) {
  using kineto::Append;
  const Trace& from = chunk.trace;
  Map name, thread, device, shape, collective, argument;
  for (NameId i = 0; i < from.names.size(); ++i) name.push_back(trace.names.Intern(from.names.View(i)));
  for (const dladvisor::Thread& t : from.threads)
    thread.push_back(tables.Thread(from.processes[t.process].pid, t.tid));
  for (const Device& d : from.devices) device.push_back(tables.Device(d.ordinal));
  for (const LaunchShape& s : from.kernels.shapes) shape.push_back(static_cast<uint32_t>(tables.Shape(s)));
  for (dladvisor::Collective c : from.collectives) {
    for (NameId* field : {&c.name, &c.dtype, &c.group, &c.group_ranks}) *field = name[*field];
    collective.push_back(static_cast<uint32_t>(tables.Collective(c)));
  }
  if (collective.empty()) collective.push_back(0);
  for (OpArguments a : from.op_arguments) {
    for (NameId* field : {&a.shapes, &a.types, &a.strides, &a.values, &a.stack, &a.module})
      *field = name[*field];
    a.collective = collective[a.collective];
    argument.push_back(static_cast<uint32_t>(tables.Arguments(a)));
  }

  Kernels& k = trace.kernels;
  AppendOps(k, from.kernels, device);
  Append(k.name, from.kernels.name, name);
  Append(k.short_name, from.kernels.short_name, name);
  Append(k.grid, from.kernels.grid);
  Append(k.block, from.kernels.block);
  Append(k.registers, from.kernels.registers);
  Append(k.shared_bytes, from.kernels.shared_bytes);
  Append(k.shape, from.kernels.shape, shape);
  Append(k.blocks_per_sm, from.kernels.blocks_per_sm);
  Append(k.occupancy, from.kernels.occupancy);
  Append(k.collective, from.kernels.collective, collective);

  AppendOps(trace.copies, from.copies, device);
  Append(trace.copies.bytes, from.copies.bytes);
  Append(trace.copies.direction, from.copies.direction);
  Append(trace.copies.source, from.copies.source);
  Append(trace.copies.destination, from.copies.destination);
  Append(trace.copies.bandwidth, from.copies.bandwidth);

  AppendOps(trace.sets, from.sets, device);
  Append(trace.sets.bytes, from.sets.bytes);
  Append(trace.sets.memory, from.sets.memory);
  Append(trace.sets.bandwidth, from.sets.bandwidth);

  ApiCalls& a = trace.api_calls;
  Append(a.start, from.api_calls.start);
  Append(a.end, from.api_calls.end);
  Append(a.thread, from.api_calls.thread, thread);
  Append(a.correlation, from.api_calls.correlation);
  Append(a.name, from.api_calls.name, name);
  Append(a.result, from.api_calls.result);

  Syncs& s = trace.syncs;
  Append(s.start, from.syncs.start);
  Append(s.end, from.syncs.end);
  Append(s.process, from.syncs.process);
  Append(s.device, from.syncs.device, device);
  Append(s.stream, from.syncs.stream);
  Append(s.correlation, from.syncs.correlation);
  Append(s.kind, from.syncs.kind);

  Ranges& r = trace.ranges;
  Append(r.start, from.ranges.start);
  Append(r.end, from.ranges.end);
  Append(r.thread, from.ranges.thread, thread);
  Append(r.end_thread, from.ranges.end_thread, thread);
  Append(r.name, from.ranges.name, name);
  Append(r.domain, from.ranges.domain, name);
  Append(r.kind, from.ranges.kind);
  Append(r.open, from.ranges.open);
  Append(r.arguments, from.ranges.arguments, argument);
  Append(r.sequence, from.ranges.sequence);
  Append(r.forward_thread, from.ranges.forward_thread);

  Frames& f = trace.frames;
  Append(f.start, from.frames.start);
  Append(f.end, from.frames.end);
  Append(f.thread, from.frames.thread, thread);
  Append(f.name, from.frames.name, name);

  Overheads& o = trace.overheads;
  Append(o.start, from.overheads.start);
  Append(o.end, from.overheads.end);
  Append(o.thread, from.overheads.thread, thread);
  Append(o.name, from.overheads.name, name);

  MemoryEvents& m = trace.memory_events;
  Append(m.time, from.memory_events.time);
  Append(m.process, from.memory_events.process);
  Append(m.device, from.memory_events.device, device);
  Append(m.bytes, from.memory_events.bytes);
  Append(m.address, from.memory_events.address);
  Append(m.memory, from.memory_events.memory);
  Append(m.allocated, from.memory_events.allocated);
  Append(m.reserved, from.memory_events.reserved);
  Append(m.thread, from.memory_events.thread, thread);

  Count(rows_read, chunk.rows_read);
  Count(rows_skipped, chunk.rows_skipped);
  trace.health.negative_durations += from.health.negative_durations;
  process_names.merge(chunk.process_names);
  thread_names.merge(chunk.thread_names);
  if (chunk.span_start != kUnknown) {
    span_start = span_start == kUnknown ? chunk.span_start : std::min(span_start, chunk.span_start);
    span_end = std::max(span_end, chunk.span_end);
  }
}

}  // namespace dladvisor::kineto
