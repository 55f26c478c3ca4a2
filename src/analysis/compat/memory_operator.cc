// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/memory_operator.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<MemoryOperatorRow>& MemoryOperatorRelation() {
  using Row = MemoryOperatorRow;
  static const auto relation =
      RelationOf<Row>(
          "memory_operator",
          "Memory that operators of the framework allocate and free, by device and operator, over "
          "the whole profile.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal; none for memory of the host.")
          .Key("name", &Row::name, Unit::kText, "Operator, e.g. aten::empty.")
          .Column("calls", &Row::calls, Unit::kCount, "Calls, also those that allocate nothing.")
          .Column("self_allocated_bytes", &Row::self_allocated_bytes, Unit::kBytes,
                  "What it allocated itself, freed again or not.")
          .Column("allocated_bytes", &Row::allocated_bytes, Unit::kBytes,
                  "The same with operators that it called.")
          .Column("self_increase_bytes", &Row::self_increase_bytes, Unit::kBytes,
                  "What it allocated itself less what it freed; negative where it freed more.")
          .Column("increase_bytes", &Row::increase_bytes, Unit::kBytes,
                  "The same with operators that it called.")
          .Column("self_allocations", &Row::self_allocations, Unit::kCount, "Allocations of its own.")
          .Column("allocations", &Row::allocations, Unit::kCount, "The same with operators that it called.");
  return relation;
}

namespace {

// Of each memory event the innermost call that is open on its thread, or kNoIndex.
std::vector<uint32_t> CallsOf(const Trace& trace, const OperatorTree& tree) {
  const MemoryEvents& events = trace.memory_events;
  std::vector<uint32_t> owners(events.size(), kNoIndex);
  if (events.thread.empty()) return owners;
  const auto start = [&](uint32_t call) { return trace.ranges.start[tree.calls[call].range]; };
  const auto end = [&](uint32_t call) { return trace.ranges.end[tree.calls[call].range]; };
  std::vector<std::vector<uint32_t>> open(trace.threads.size());
  const auto innermost = [&](uint32_t thread, Ns time) {
    std::vector<uint32_t>& calls = open[thread];
    while (!calls.empty() && end(calls.back()) <= time) calls.pop_back();
    return calls.empty() ? kNoIndex : calls.back();
  };
  uint32_t next = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    for (; next < tree.calls.size() && start(next) <= events.time[i]; ++next) {
      const uint32_t thread = trace.ranges.thread[tree.calls[next].range];
      innermost(thread, start(next));
      open[thread].push_back(next);
    }
    if (events.thread[i] != kNoIndex) owners[i] = innermost(events.thread[i], events.time[i]);
  }
  return owners;
}

}  // namespace

std::vector<MemoryOperatorRow> ComputeMemoryOperators(const Context& context, const OperatorTree& tree) {
  const Trace& trace = context.trace;
  const MemoryEvents& events = trace.memory_events;
  const auto name_of = [&](const OperatorCall& call) { return tree.name[trace.ranges.name[call.range]]; };
  std::map<std::tuple<int64_t, uint32_t, uint32_t>, MemoryOperatorRow> rows;  // by rank, device, name
  const std::vector<uint32_t> owners = CallsOf(trace, tree);
  for (size_t i = 0; i < events.size(); ++i) {
    if (owners[i] == kNoIndex || !tree.calls[owners[i]].is_operator || events.bytes[i] == 0) continue;
    const int64_t allocated = std::max<int64_t>(events.bytes[i], 0);
    for (uint32_t at = owners[i]; at != kNoIndex; at = tree.calls[at].parent) {
      const OperatorCall& call = tree.calls[at];
      if (!call.is_operator) continue;
      MemoryOperatorRow& row = rows[{call.rank, events.device[i], name_of(call)}];
      row.increase_bytes += events.bytes[i];
      row.allocated_bytes += allocated;
      row.allocations += allocated > 0;
      if (at != owners[i]) continue;
      row.self_increase_bytes += events.bytes[i];
      row.self_allocated_bytes += allocated;
      row.self_allocations += allocated > 0;
    }
  }
  if (rows.empty()) return {};
  std::map<std::pair<int64_t, uint32_t>, int64_t> calls;  // by rank and name
  for (const OperatorCall& call : tree.calls)
    if (call.is_operator) ++calls[{call.rank, name_of(call)}];
  std::vector<MemoryOperatorRow> sorted;
  for (auto& [key, row] : rows) {
    const auto& [rank, device, name] = key;
    row.rank = rank;
    if (device != kNoIndex) row.device = trace.devices[device].ordinal;
    row.name = tree.names[name - 1];
    row.calls = calls[{rank, name}];
    sorted.push_back(std::move(row));
  }
  std::sort(sorted.begin(), sorted.end(), [](const MemoryOperatorRow& a, const MemoryOperatorRow& b) {
    return std::tuple(a.rank, !a.device, a.device, -a.self_allocated_bytes, std::string_view(a.name)) <
           std::tuple(b.rank, !b.device, b.device, -b.self_allocated_bytes, std::string_view(b.name));
  });
  return sorted;
}

const Family& MemoryOperatorFamily() {
  static const Family family = FamilyOf(MemoryOperatorRelation(), ComputeMemoryOperators).OnDemand();
  return family;
}

}  // namespace dladvisor
