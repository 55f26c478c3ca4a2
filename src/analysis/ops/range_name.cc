// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/range_name.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
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
                  "Summed duration of kernels for which it is the innermost range.")
          .Column("window_instances", &RangeNameRow::window_instances, Unit::kCount,
                  "Of the instances those that begin while the host works on the analysed steps; all without "
                  "steps.")
          .Column("window_ns", &RangeNameRow::window_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("cold_ns", &RangeNameRow::cold_ns, Unit::kNanoseconds,
                  "Part of that in launches of 1 ms and more, as of kernels that are loaded at first use.");
  return relation;
}

namespace {

// Rows by rank, name and domain of ranges.
class NamedRanges {
 public:
  explicit NamedRanges(const Context& context) : context_(context) {}

  // The row of a range, kNoIndex of one that has none.
  uint32_t RowOf(uint32_t range) {
    const Ranges& ranges = context_.trace.ranges;
    const int64_t rank = context_.RankOfThread(ranges.thread[range]);
    if (rank < 0 || ranges.kind[range] == RangeKind::kMark || ranges.open[range]) return kNoIndex;
    const uint32_t text = context_.texts->IndexOf(ranges.name[range]);
    std::vector<Last>& of_rank = last_[rank];
    if (of_rank.empty()) of_rank.resize(context_.texts->size());
    Last& last = of_rank[text];
    if (last.row == kNoIndex || last.domain != ranges.domain[range])
      last = {ranges.domain[range], Find(rank, context_.texts->MarkerAt(text).name, ranges.domain[range])};
    return last.row;
  }

  std::vector<RangeNameRow>& rows() { return rows_; }

 private:
  uint32_t Find(int64_t rank, const std::string& name, NameId domain) {
    const auto [entry, is_new] =
        index_.try_emplace({rank, name, domain}, static_cast<uint32_t>(rows_.size()));
    if (is_new) {
      RangeNameRow& row = rows_.emplace_back();
      row.rank = rank;
      row.name = name;
      row.domain = context_.trace.names.View(domain);
    }
    return entry->second;
  }

  // Of each text the last one looked up, which spares most of the looking up.
  struct Last {
    NameId domain = kNoName;
    uint32_t row = kNoIndex;
  };

  const Context& context_;
  std::vector<RangeNameRow> rows_;
  std::map<std::tuple<int64_t, std::string, NameId>, uint32_t> index_;
  std::unordered_map<int64_t, std::vector<Last>> last_;  // by rank
};

// Context::HostOfSteps() by rank; most ranges are of the rank of the one before.
class StepWindows {
 public:
  explicit StepWindows(const Context& context) : context_(context) {}
  Interval Of(int64_t rank) {
    if (rank != rank_) window_ = context_.HostOfSteps(rank_ = rank);
    return window_;
  }

 private:
  const Context& context_;
  int64_t rank_ = -1;
  Interval window_{};
};

// Launches so long that they loaded code, or found the queue full.
class ColdLaunches {
 public:
  explicit ColdLaunches(const Context& context) {
    const ApiCalls& calls = context.trace.api_calls;
    for (const uint32_t call : context.launches.kernel)
      if (call != kNoIndex && calls.end[call] - calls.start[call] >= kCold)
        by_thread_[calls.thread[call]].push_back({calls.start[call], calls.end[call]});
    for (auto& [thread, launches] : by_thread_) launches = Union(std::move(launches));
  }

  // Their time in a range of the thread.
  Ns Within(uint32_t thread, Interval range) const {
    const auto found = by_thread_.find(thread);
    if (found == by_thread_.end()) return 0;
    Ns ns = 0;
    for (auto launch = std::ranges::upper_bound(found->second, range.start, {}, &Interval::end);
         launch != found->second.end() && launch->start < range.end; ++launch)
      ns += std::min(launch->end, range.end) - std::max(launch->start, range.start);
    return ns;
  }

 private:
  static constexpr Ns kCold = 1'000'000;
  std::unordered_map<uint32_t, std::vector<Interval>> by_thread_;
};

}  // namespace

std::vector<RangeNameRow> ComputeRangeNames(const Context& context) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  NamedRanges named(context);
  std::vector<RangeNameRow>& rows = named.rows();
  StepWindows windows(context);
  const ColdLaunches cold(context);
  std::vector<double> squares;  // sum of squared durations, of each row
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const uint32_t row = named.RowOf(i);
    if (row == kNoIndex) continue;
    squares.resize(rows.size());
    const int64_t duration = ranges.end[i] - ranges.start[i];
    ++rows[row].instances;
    rows[row].total_ns += duration;
    if (const Interval window = windows.Of(rows[row].rank);
        ranges.start[i] >= window.start && ranges.start[i] < window.end) {
      ++rows[row].window_instances;
      rows[row].window_ns += duration;
      rows[row].cold_ns += cold.Within(ranges.thread[i], {ranges.start[i], ranges.end[i]});
    }
    squares[row] += static_cast<double>(duration) * static_cast<double>(duration);
  }
  for (size_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    const uint32_t range = context.attribution.kernel_range[kernel];
    const uint32_t row = range == kNoIndex ? kNoIndex : named.RowOf(range);
    if (row != kNoIndex) rows[row].gpu_ns += trace.kernels.end[kernel] - trace.kernels.start[kernel];
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
  return std::move(rows);
}

const Family& RangeNameFamily() {
  static const Family family = FamilyOf(RangeNameRelation(), ComputeRangeNames).Detail();
  return family;
}

}  // namespace dladvisor
