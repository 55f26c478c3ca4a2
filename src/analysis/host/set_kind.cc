// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/set_kind.h"

#include <map>
#include <tuple>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<SetKindRow>& SetKindRelation() {
  static const auto relation =
      RelationOf<SetKindRow>("set_kind", "Memory sets by kind of memory, over the whole profile.")
          .Key("rank", &SetKindRow::rank, kRankNumber, "Rank.")
          .Key("device", &SetKindRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("memory", &SetKindRow::memory, Unit::kText, "pageable, pinned, device, managed, array.")
          .Key("blocking", &SetKindRow::blocking, Unit::kText,
               "blocking, async, or unknown where the API call was not recorded.")
          .Column("sets", &SetKindRow::sets, Unit::kCount, "Sets.")
          .Column("bytes", &SetKindRow::bytes, Unit::kBytes, "Sum of bytes.")
          .Column("total_ns", &SetKindRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("call_ns", &SetKindRow::call_ns, Unit::kNanoseconds, "Sum of the calls' durations.")
          .Column("window_sets", &SetKindRow::window_sets, Unit::kCount,
                  "Sets that start in the analysed window.")
          .Column("window_call_ns", &SetKindRow::window_call_ns, Unit::kNanoseconds,
                  "Sum of the durations of their calls.");
  return relation;
}

std::vector<SetKindRow> ComputeSetKinds(const Context& context) {
  const Trace& trace = context.trace;
  std::vector<SetKindRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    std::map<std::tuple<MemoryKind, std::string>, SetKindRow> kinds;
    for (const uint32_t i : context.work[gpu].sets) {
      const uint32_t call = context.launches.set[i];
      std::string blocking = "unknown";
      if (call != kNoIndex) {
        const std::string_view name = ApiBaseName(trace.names.View(trace.api_calls.name[call]));
        const bool host_memory =
            trace.sets.memory[i] == MemoryKind::kPinned || trace.sets.memory[i] == MemoryKind::kManaged;
        const bool is_set = name.find("Memset") != std::string_view::npos;
        blocking =
            is_set && host_memory && name.find("Async") == std::string_view::npos ? "blocking" : "async";
      }
      SetKindRow& row = kinds[{trace.sets.memory[i], blocking}];
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      row.memory = MemoryKindName(trace.sets.memory[i]);
      row.blocking = blocking;
      ++row.sets;
      row.bytes += trace.sets.bytes[i];
      row.total_ns += trace.sets.end[i] - trace.sets.start[i];
      const Ns call_ns = call == kNoIndex ? 0 : trace.api_calls.end[call] - trace.api_calls.start[call];
      row.call_ns += call_ns;
      const Interval window = context.windows[gpu];
      const bool analysed = trace.sets.start[i] >= window.start && trace.sets.start[i] < window.end;
      row.window_sets += analysed;
      row.window_call_ns += analysed ? call_ns : 0;
    }
    for (auto& [key, row] : kinds) rows.push_back(std::move(row));
  }
  return rows;
}

const Family& SetKindFamily() {
  static const Family family = FamilyOf(SetKindRelation(), ComputeSetKinds).Detail();
  return family;
}

}  // namespace dladvisor
