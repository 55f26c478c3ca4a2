// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/copy_run.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// A run has that many small copies; those between them take longer by less than a call and its latency.
constexpr int64_t kSmallBytes = 64 * 1024, kMostBytes = 1024 * 1024, kLeastCopies = 100;
constexpr size_t kMostBetween = 2;
constexpr Ns kMostApart = 1'000'000;
constexpr double kMostOther = 0.2;  // share of a run's time

class CopyRuns {
 public:
  CopyRuns(const Context& context, size_t gpu)
      : copies_(context.trace.copies),
        of_gpu_(context.work[gpu].copies),
        window_(context.windows[gpu]),
        others_{{{context.trace.kernels, context.work[gpu].kernels},
                 {context.trace.sets, context.work[gpu].sets},
                 {context.trace.graph_launches, context.work[gpu].graphs}}} {
    row_.rank = context.ranks.gpus[gpu].rank;
    row_.device = context.trace.devices[context.ranks.gpus[gpu].device].ordinal;
  }

  CopyRunRow Find() {
    for (const uint32_t i : of_gpu_) {
      if (copies_.start[i] < window_.start || copies_.start[i] >= window_.end) continue;
      const CopyDirection direction = copies_.direction[i];
      const bool upload = direction == CopyDirection::kHostToDevice;
      if (direction == CopyDirection::kDeviceToDevice ||
          (upload && IsOfAtMost(copies_.bytes[i], kScalarBytes))) {
        ++between_;
        other_ns_ += copies_.end[i] - copies_.start[i];
        continue;
      }
      if (!upload || !IsOfAtMost(copies_.bytes[i], kMostBytes)) {
        End();
        continue;
      }
      AddOthersUntil(copies_.start[i]);
      if (count_ > 0 && (between_ > kMostBetween || copies_.start[i] - run_.end > kMostApart)) End();
      if (count_++ == 0)
        run_.start = copies_.start[i];
      else
        run_other_ns_ += other_ns_;
      run_.end = std::max(run_.end, copies_.end[i]);
      run_copy_ns_ += copies_.end[i] - copies_.start[i];
      small_ += copies_.bytes[i] <= kSmallBytes;
      bytes_ += copies_.bytes[i];
      run_sizes_.push_back(copies_.bytes[i]);
      between_ = 0;
      other_ns_ = 0;
    }
    End();
    if (!sizes_.empty()) {
      const auto middle = sizes_.begin() + static_cast<std::ptrdiff_t>((sizes_.size() - 1) / 2);
      std::ranges::nth_element(sizes_, middle);
      row_.median_bytes = *middle;
    }
    return row_;
  }

 private:
  struct Others {
    const GpuOperations& ops;
    const std::vector<uint32_t>& rows;
    size_t next = 0;
  };

  void AddOthersUntil(Ns time) {
    for (Others& others : others_)
      for (; others.next < others.rows.size() && others.ops.start[others.rows[others.next]] < time;
           ++others.next) {
        ++between_;
        other_ns_ += others.ops.end[others.rows[others.next]] - others.ops.start[others.rows[others.next]];
      }
  }

  void End() {
    if (small_ >= kLeastCopies &&
        static_cast<double>(run_other_ns_) <= kMostOther * static_cast<double>(run_.length())) {
      ++row_.runs;
      row_.copies += count_;
      row_.bytes += bytes_;
      row_.ns += run_.length();
      row_.gpu_ns += run_other_ns_ + run_copy_ns_;
      row_.longest_ns = std::max(row_.longest_ns, run_.length());
      sizes_.insert(sizes_.end(), run_sizes_.begin(), run_sizes_.end());
    }
    run_sizes_.clear();
    count_ = small_ = bytes_ = 0;
    run_other_ns_ = run_copy_ns_ = other_ns_ = 0;
    run_ = {};
    between_ = 0;
  }

  const Copies& copies_;
  const std::vector<uint32_t>& of_gpu_;
  const Interval window_;
  std::array<Others, 3> others_;
  CopyRunRow row_;
  std::vector<int64_t> sizes_;  // of the copies in runs
  // Of the run so far, and of what has run since its last copy.
  Interval run_{};
  std::vector<int64_t> run_sizes_;
  int64_t count_ = 0, small_ = 0, bytes_ = 0;
  Ns run_other_ns_ = 0, run_copy_ns_ = 0, other_ns_ = 0;
  size_t between_ = 0;
};

}  // namespace

const RelationOf<CopyRunRow>& CopyRunRelation() {
  static const auto relation =
      RelationOf<CopyRunRow>(
          "copy_run",
          "Data sent to a GPU piece by piece: runs of copies of at most 1 MiB, 100 of them and more of at "
          "most "
          "64 KiB, at most 1 ms and two other operations apart, with nothing read back; in the analysed "
          "window.")
          .Key("rank", &CopyRunRow::rank, kRankNumber, "Rank.")
          .Key("device", &CopyRunRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("runs", &CopyRunRow::runs, Unit::kCount, "Runs.")
          .Column("copies", &CopyRunRow::copies, Unit::kCount, "Copies in them.")
          .Column("bytes", &CopyRunRow::bytes, Unit::kBytes, "Their bytes.")
          .Column("median_bytes", &CopyRunRow::median_bytes, Unit::kBytes, "Median of one copy.")
          .Column("ns", &CopyRunRow::ns, Unit::kNanoseconds,
                  "From the first copy of each run to its last one's end.")
          .Column("gpu_ns", &CopyRunRow::gpu_ns, Unit::kNanoseconds,
                  "Durations of these copies and of what ran between them.")
          .Column("longest_ns", &CopyRunRow::longest_ns, Unit::kNanoseconds, "The longest run.");
  return relation;
}

std::vector<CopyRunRow> ComputeCopyRuns(const Context& context) {
  std::vector<CopyRunRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu)
    if (CopyRunRow row = CopyRuns(context, gpu).Find(); row.runs > 0) rows.push_back(std::move(row));
  return rows;
}

const Family& CopyRunFamily() {
  static const Family family = FamilyOf(CopyRunRelation(), ComputeCopyRuns);
  return family;
}

}  // namespace dladvisor
