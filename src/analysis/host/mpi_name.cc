// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/mpi_name.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<MpiNameRow>& MpiNameRelation() {
  static const auto relation =
      RelationOf<MpiNameRow>("mpi_name",
                             "Calls of MPI, UCX and OpenSHMEM by function, over the whole profile.")
          .Key("rank", &MpiNameRow::rank, kRankNumber, "Rank; unknown for processes without GPU work.")
          .Key("name", &MpiNameRow::name, Unit::kText, "Function.")
          .Column("calls", &MpiNameRow::calls, Unit::kCount, "Calls.")
          .Column("total_ns", &MpiNameRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("avg_ns", &MpiNameRow::avg_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("max_ns", &MpiNameRow::max_ns, Unit::kNanoseconds, "Longest.")
          .Column("window_ns", &MpiNameRow::window_ns, Unit::kNanoseconds,
                  "Time in such calls in the analysed window, summed over threads.")
          .Column("bytes", &MpiNameRow::bytes, Unit::kBytes, "Sum of the messages whose size is recorded.");
  return relation;
}

std::vector<MpiNameRow> ComputeMpiNames(const Context& context) {
  const Trace& trace = context.trace;
  const MpiCalls& calls = trace.mpi_calls;
  std::map<std::pair<int64_t, std::string_view>, MpiNameRow> by_name;
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t rank = context.RankOfThread(calls.thread[i]);
    MpiNameRow& row = by_name[{rank, trace.names.View(calls.name[i])}];
    const int64_t duration = calls.end[i] - calls.start[i];
    ++row.calls;
    row.total_ns += duration;
    row.max_ns = std::max(row.max_ns, duration);
    if (calls.bytes[i] >= 0) row.bytes = row.bytes.value_or(0) + calls.bytes[i];
    if (rank >= 0) {
      const Interval window = context.HostWindowOf(rank);
      row.window_ns +=
          std::max<int64_t>(0, std::min(calls.end[i], window.end) - std::max(calls.start[i], window.start));
    }
  }
  std::vector<MpiNameRow> rows;
  for (auto& [key, row] : by_name) {
    if (key.first >= 0) row.rank = key.first;
    row.name = key.second;
    row.avg_ns = static_cast<double>(row.total_ns) / static_cast<double>(row.calls);
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& MpiNameFamily() {
  static const Family family = FamilyOf(MpiNameRelation(), ComputeMpiNames).Detail();
  return family;
}

}  // namespace dladvisor
