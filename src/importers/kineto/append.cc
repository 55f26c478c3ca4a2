// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/importers/kineto/batch.h"
#include "src/trace/event_tables.h"

namespace dladvisor::kineto {
namespace {

void Count(std::map<std::string, int64_t>& to, const std::map<std::string, int64_t>& from) {
  for (const auto& [category, rows] : from) to[category] += rows;
}

}  // namespace

void Batch::Append(Batch& chunk) {
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
  for (OpArguments a : from.op_arguments) {
    for (NameId* field : {&a.shapes, &a.types, &a.strides, &a.values, &a.stack, &a.module})
      *field = maps.name[*field];
    a.collective = maps.collective[a.collective];
    maps.arguments.push_back(static_cast<uint32_t>(tables.Arguments(a)));
  }
  launches.Append(chunk.launches, trace);
  Trace::ForEachTable([&](auto table) { AppendRows(trace.*table, from.*table, maps); });

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
