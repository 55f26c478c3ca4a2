// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/memory_bandwidth.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/statistics/distribution.h"

namespace dladvisor {

const RelationOf<MemoryBandwidthRow>& MemoryBandwidthRelation() {
  using Row = MemoryBandwidthRow;
  static const auto relation =
      RelationOf<Row>("memory_bandwidth", "Bandwidth of copies and sets by direction; those at once add up.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("operation", &Row::operation, Unit::kText, "Direction of the copies, or memset.")
          .Column("count", &Row::count, Unit::kCount, "Changes of the bandwidth after which it is not zero.")
          .Column("mean", &Row::mean, Unit::kBytesPerSecond, "Mean after such a change.")
          .Column("stddev", &Row::stddev, Unit::kBytesPerSecond, "Its sample standard deviation.")
          .Column("min", &Row::min, Unit::kBytesPerSecond, "Least.")
          .Column("q25", &Row::q25, Unit::kBytesPerSecond, "First quartile.")
          .Column("median", &Row::median, Unit::kBytesPerSecond, "Median.")
          .Column("q75", &Row::q75, Unit::kBytesPerSecond, "Third quartile.")
          .Column("max", &Row::max, Unit::kBytesPerSecond, "Greatest.");
  return relation;
}

namespace {

struct Change {
  Ns time = 0;
  double by = 0;  // bytes per second
  int64_t running = 0;
};

// Bandwidths after each change, without zeros.
std::vector<double> Series(std::vector<Change>& changes) {
  // What ends at a time ends before what starts then.
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.time, a.running) < std::pair(b.time, b.running);
  });
  std::vector<double> series;
  double sum = 0;
  int64_t running = 0;
  for (const Change& change : changes) {
    running += change.running;
    sum = running == 0 ? 0 : sum + change.by;
    if (sum > 0) series.push_back(sum);
  }
  return series;
}

// Bytes per second of a copy or set, 0 where it has none.
template <class Table>
double BandwidthOf(const Table& table, const ProfiledOperation& operation) {
  if (!table.bandwidth.empty() && table.bandwidth[operation.row] >= 0)
    return static_cast<double>(table.bandwidth[operation.row]);
  if (operation.time.length() <= 0) return 0;
  return static_cast<double>(table.bytes[operation.row]) * 1e9 / static_cast<double>(operation.time.length());
}

}  // namespace

std::vector<MemoryBandwidthRow> ComputeMemoryBandwidths(const Context& context,
                                                        const std::vector<ProfiledWork>& work) {
  const Trace& trace = context.trace;
  std::vector<MemoryBandwidthRow> rows;
  for (const ProfiledWork& rank : work) {
    std::map<std::string, std::vector<Change>> changes;  // by operation
    ForEachProfiled(context, rank, [&](const ProfiledOperation& operation) {
      if (operation.type != WorkType::kMemory) return;
      const bool is_copy = operation.table == &trace.copies;
      const double bandwidth =
          is_copy ? BandwidthOf(trace.copies, operation) : BandwidthOf(trace.sets, operation);
      if (bandwidth <= 0) return;
      std::vector<Change>& list =
          changes[is_copy ? std::string(CopyDirectionName(trace.copies.direction[operation.row])) : "memset"];
      constexpr Ns kShortest = 1000;  // of what takes no time on a clock of whole microseconds
      const Ns end = operation.time.length() > 0 ? operation.time.end : operation.time.start + kShortest;
      list.push_back({operation.time.start, bandwidth, 1});
      list.push_back({end, -bandwidth, -1});
    });
    for (auto& [operation, list] : changes) {
      const Distribution d = Describe(Series(list));
      rows.push_back({rank.rank, operation, d.count, d.mean, d.stddev, d.min, d.q25, d.median, d.q75, d.max});
    }
  }
  return rows;
}

const Family& MemoryBandwidthFamily() {
  static const Family family = FamilyOf(MemoryBandwidthRelation(), ComputeMemoryBandwidths).OnDemand();
  return family;
}

}  // namespace dladvisor
