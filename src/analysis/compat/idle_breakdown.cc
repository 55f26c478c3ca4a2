// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/idle_breakdown.h"

#include <array>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<IdleBreakdownRow>& IdleBreakdownRelation() {
  using Row = IdleBreakdownRow;
  static const auto relation =
      RelationOf<Row>("idle_breakdown",
                      "Gaps between the operations of each stream by what the next one waited for.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("stream", &Row::stream, Unit::kNone, "Stream, as the profiler numbers it.")
          .Key("category", &Row::category, Unit::kText,
               "host_wait: launched after the gap began; kernel_wait: queued, and shorter than 30 us; other.")
          .Column("count", &Row::count, Unit::kCount, "Gaps.")
          .Column("idle_ns", &Row::idle_ns, Unit::kNanoseconds, "Their sum.")
          .Column("idle_share", &Row::idle_share, Unit::kRatio, "Share of the stream's gaps.")
          .Column("mean_ns", &Row::mean_ns, Unit::kNanoseconds, "Mean.")
          .Column("stddev_ns", &Row::stddev_ns, Unit::kNanoseconds,
                  "Sample standard deviation; unknown for one gap.")
          .Column("min_ns", &Row::min_ns, Unit::kNanoseconds,
                  "Shortest; negative where operations of one stream overlap.")
          .Column("q25_ns", &Row::q25_ns, Unit::kNanoseconds, "First quartile.")
          .Column("median_ns", &Row::median_ns, Unit::kNanoseconds, "Median.")
          .Column("q75_ns", &Row::q75_ns, Unit::kNanoseconds, "Third quartile.")
          .Column("max_ns", &Row::max_ns, Unit::kNanoseconds, "Longest.");
  return relation;
}

namespace {

constexpr Ns kSequenceGap = 30'000;
constexpr std::array<const char*, 3> kCategories = {"host_wait", "kernel_wait", "other"};

struct Stream {
  bool any = false;
  Ns end = 0;  // of the operation before
  std::array<std::vector<int64_t>, kCategories.size()> gaps;
};

}  // namespace

std::vector<IdleBreakdownRow> ComputeIdleBreakdown(const Context& context,
                                                   const std::vector<ProfiledWork>& work) {
  std::vector<IdleBreakdownRow> rows;
  for (const ProfiledWork& rank : work) {
    std::map<int64_t, Stream> streams;
    ForEachProfiled(context, rank, [&](const ProfiledOperation& operation) {
      Stream& stream = streams[operation.stream];
      if (stream.any) {
        const Ns gap = operation.time.start - stream.end;
        const bool is_late =
            operation.call != kNoIndex && context.trace.api_calls.start[operation.call] > stream.end;
        stream.gaps[is_late ? 0 : gap < kSequenceGap ? 1 : 2].push_back(gap);
      }
      stream.any = true;
      stream.end = operation.time.end;
    });
    for (auto& [number, stream] : streams) {
      const size_t first = rows.size();
      int64_t total = 0;
      for (size_t c = 0; c < kCategories.size(); ++c) {
        IdleBreakdownRow& row = rows.emplace_back();
        row.rank = rank.rank;
        row.stream = number;
        row.category = kCategories[c];
        for (const int64_t gap : stream.gaps[c]) row.idle_ns += gap;
        total += row.idle_ns;
        const Distribution gaps = Describe(std::move(stream.gaps[c]));
        row.count = gaps.count;
        row.mean_ns = gaps.mean;
        row.stddev_ns = gaps.stddev;
        row.min_ns = gaps.min;
        row.q25_ns = gaps.q25;
        row.median_ns = gaps.median;
        row.q75_ns = gaps.q75;
        row.max_ns = gaps.max;
      }
      for (size_t i = first; i < rows.size() && total != 0; ++i)
        rows[i].idle_share = static_cast<double>(rows[i].idle_ns) / static_cast<double>(total);
    }
  }
  return rows;
}

const Family& IdleBreakdownFamily() {
  static const Family family = FamilyOf(IdleBreakdownRelation(), ComputeIdleBreakdown).OnDemand();
  return family;
}

}  // namespace dladvisor
