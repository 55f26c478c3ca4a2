// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/operator_sequence.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<OperatorSequenceRow>& OperatorSequenceRelation() {
  using Row = OperatorSequenceRow;
  static const auto relation =
      RelationOf<Row>("operator_sequence", "Sequences of kernels that calls of ATen operators launch.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("operator", &Row::operator_name, Unit::kText, "Operator, e.g. aten::mm.")
          .Key("kernels", &Row::kernels, Unit::kText, "Names of the kernels in order, between ' -> '.")
          .Column("occurrences", &Row::occurrences, Unit::kCount, "Calls that launch just these.")
          .Column("mean_launch_delay_ns", &Row::mean_launch_delay_ns, Unit::kNanoseconds,
                  "Mean time from the start of the operator to that of its first launch.")
          .Column("mean_start_delay_ns", &Row::mean_start_delay_ns, Unit::kNanoseconds,
                  "Mean time from the start of that launch to that of its kernel.");
  return relation;
}

namespace {

struct Launch {
  uint32_t call = kNoIndex, kernel = kNoIndex;
};

// The innermost ATen operator that is open at the call on its own thread, or kNoIndex.
uint32_t OperatorOf(const Context& context, uint32_t call, const std::vector<bool>& is_aten) {
  uint32_t range = context.attribution.api_range[call];
  if (range == kNoIndex || context.trace.ranges.thread[range] != context.trace.api_calls.thread[call])
    return kNoIndex;
  while (range != kNoIndex && !is_aten[context.trace.ranges.name[range]])
    range = context.attribution.range_parent[range];
  return range;
}

}  // namespace

std::vector<OperatorSequenceRow> ComputeOperatorSequences(const Context& context) {
  const Trace& trace = context.trace;
  std::vector<bool> is_aten(trace.names.size(), false);
  for (const NameId name : trace.ranges.name) is_aten[name] = trace.names.View(name).starts_with("aten::");
  const std::vector<ApiKind>& kinds = context.api_kinds;
  std::map<std::pair<int64_t, uint32_t>, std::vector<Launch>> by_operator;  // by rank and range
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu)
    for (const uint32_t kernel : context.work[gpu].kernels) {
      const uint32_t call = context.launches.kernel[kernel];
      if (call == kNoIndex || kinds[trace.api_calls.name[call]] != ApiKind::kLaunch) continue;
      const uint32_t range = OperatorOf(context, call, is_aten);
      if (range != kNoIndex) by_operator[{context.ranks.gpus[gpu].rank, range}].push_back({call, kernel});
    }
  struct Sums {
    int64_t occurrences = 0;
    Ns launch_delay = 0, start_delay = 0;
  };
  std::map<std::tuple<int64_t, NameId, std::vector<NameId>>, Sums> sums;
  for (auto& [owner, launches] : by_operator) {
    std::stable_sort(launches.begin(), launches.end(),
                     [](const Launch& a, const Launch& b) { return a.call < b.call; });
    std::vector<NameId> names;
    for (const Launch& launch : launches) names.push_back(trace.kernels.name[launch.kernel]);
    const Launch& first = launches.front();
    Sums& sum = sums[{owner.first, trace.ranges.name[owner.second], std::move(names)}];
    ++sum.occurrences;
    sum.launch_delay += trace.api_calls.start[first.call] - trace.ranges.start[owner.second];
    sum.start_delay += trace.kernels.start[first.kernel] - trace.api_calls.start[first.call];
  }
  std::vector<OperatorSequenceRow> rows;
  for (const auto& [key, sum] : sums) {
    const auto& [rank, name, kernels] = key;
    OperatorSequenceRow& row = rows.emplace_back();
    row.rank = rank;
    row.operator_name = trace.names.View(name);
    for (const NameId kernel : kernels) {
      if (!row.kernels.empty()) row.kernels += " -> ";
      row.kernels += trace.names.View(kernel);
    }
    row.occurrences = sum.occurrences;
    const auto count = static_cast<double>(sum.occurrences);
    row.mean_launch_delay_ns = static_cast<double>(sum.launch_delay) / count;
    row.mean_start_delay_ns = static_cast<double>(sum.start_delay) / count;
  }
  std::sort(rows.begin(), rows.end(), [](const OperatorSequenceRow& a, const OperatorSequenceRow& b) {
    return std::tuple(a.rank, -a.occurrences, std::string_view(a.operator_name),
                      std::string_view(a.kernels)) <
           std::tuple(b.rank, -b.occurrences, std::string_view(b.operator_name), std::string_view(b.kernels));
  });
  return rows;
}

const Family& OperatorSequenceFamily() {
  static const Family family = FamilyOf(OperatorSequenceRelation(), ComputeOperatorSequences).OnDemand();
  return family;
}

}  // namespace dladvisor
