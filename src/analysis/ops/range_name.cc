// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/range_name.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "src/analysis/context/range_text.h"
#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<RangeNameRow>& RangeNameRelation() {
  static const auto relation =
      RelationOf<RangeNameRow>("range_name", "Ranges of the program by name, over the whole profile.")
          .Key("rank", &RangeNameRow::rank, kRankNumber, "Rank.")
          .Key("name", &RangeNameRow::name, Unit::kText, "Name, with step numbers replaced by #.")
          .Key("domain", &RangeNameRow::domain, Unit::kText, "NVTX domain, empty for the default one.")
          .Column("instances", &RangeNameRow::instances, Unit::kCount, "Closed ranges of the name.")
          .Column("total_ns", &RangeNameRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("avg_ns", &RangeNameRow::avg_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("stddev_ns", &RangeNameRow::stddev_ns, Unit::kNanoseconds,
                  "Sample standard deviation; unknown for one instance.")
          .Column("gpu_ns", &RangeNameRow::gpu_ns, Unit::kNanoseconds,
                  "Summed duration of kernels for which it is the innermost range.");
  return relation;
}

std::vector<RangeNameRow> ComputeRangeNames(const Context& context) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  std::map<std::tuple<int64_t, std::string, NameId>, size_t> index;
  std::vector<RangeNameRow> rows;
  std::vector<double> squares;  // sum of squared durations, of each row
  std::vector<uint32_t> row_of(ranges.size(), kNoIndex);
  // Of each text the last one looked up, which spares most of the looking up.
  struct Last {
    int64_t rank = -1;
    NameId domain = kNoName;
    uint32_t row = 0;
  };
  std::vector<Last> last(context.texts->size());
  const auto count = [&](uint32_t row, uint32_t range) {
    ++rows[row].instances;
    const int64_t duration = ranges.end[range] - ranges.start[range];
    rows[row].total_ns += duration;
    squares[row] += static_cast<double>(duration) * static_cast<double>(duration);
    row_of[range] = row;
  };
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const int64_t rank = context.RankOfThread(ranges.thread[i]);
    if (rank < 0 || ranges.kind[i] == RangeKind::kMark || ranges.open[i]) continue;
    const uint32_t text = context.texts->IndexOf(ranges.name[i]);
    Last& seen = last[text];
    if (seen.rank == rank && seen.domain == ranges.domain[i]) {
      count(seen.row, i);
      continue;
    }
    const std::string& name = context.texts->MarkerAt(text).name;
    const auto [entry, is_new] = index.try_emplace({rank, name, ranges.domain[i]}, rows.size());
    if (is_new) {
      RangeNameRow& row = rows.emplace_back();
      squares.push_back(0);
      row.rank = rank;
      row.name = name;
      row.domain = trace.names.View(ranges.domain[i]);
    }
    seen = {rank, ranges.domain[i], static_cast<uint32_t>(entry->second)};
    count(seen.row, i);
  }
  for (size_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    const uint32_t range = context.attribution.kernel_range[kernel];
    if (range != kNoIndex && row_of[range] != kNoIndex)
      rows[row_of[range]].gpu_ns += trace.kernels.end[kernel] - trace.kernels.start[kernel];
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    RangeNameRow& row = rows[i];
    const auto instances = static_cast<double>(row.instances);
    row.avg_ns = static_cast<double>(row.total_ns) / instances;
    if (row.instances > 1)
      row.stddev_ns =
          std::sqrt(std::max(0.0, (squares[i] - instances * row.avg_ns * row.avg_ns) / (instances - 1)));
  }
  std::sort(rows.begin(), rows.end(), [](const RangeNameRow& a, const RangeNameRow& b) {
    return std::tuple(a.rank, -a.total_ns, std::string_view(a.name), std::string_view(a.domain)) <
           std::tuple(b.rank, -b.total_ns, std::string_view(b.name), std::string_view(b.domain));
  });
  return rows;
}

const Family& RangeNameFamily() {
  static const Family family = FamilyOf(RangeNameRelation(), ComputeRangeNames).Detail();
  return family;
}

}  // namespace dladvisor
