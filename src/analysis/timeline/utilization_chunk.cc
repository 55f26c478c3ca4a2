// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/utilization_chunk.h"

#include <algorithm>
#include <array>
#include <limits>

#include "src/analysis/context/gpu_operations.h"
#include "src/analysis/family/family.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

constexpr size_t kChunks = 30;

class Chunks {
 public:
  Chunks(const Context& context, size_t gpu) : context_(context), gpu_(gpu) {
    ForEach([&](Interval time) {
      span_.start = std::min(span_.start, time.start);
      span_.end = std::max(span_.end, time.end);
    });
  }

  std::vector<UtilizationChunkRow> Rows() {
    std::vector<UtilizationChunkRow> rows;
    if (span_.length() < Ns{kChunks}) return rows;
    for (size_t c = 0; c <= kChunks; ++c) {
      const auto part = static_cast<Ns>(c);
      borders_[c] = span_.start + span_.length() / Ns{kChunks} * part +
                    span_.length() % Ns{kChunks} * part / Ns{kChunks};
    }
    const Trace& trace = context_.trace;
    ForEach([&](Interval time) {
      Add(time, summed_);
      time.start = std::max(time.start, until_);
      until_ = std::max(until_, time.end);
      Add(time, once_);
    });
    for (size_t i = 0; i < trace.overheads.size(); ++i) {
      const uint32_t thread = trace.overheads.thread[i];
      if (thread != kNoIndex && trace.threads[thread].process == context_.ranks.gpus[gpu_].process)
        Add({trace.overheads.start[i], trace.overheads.end[i]}, summed_);
    }
    for (size_t c = 0; c < kChunks; ++c) {
      UtilizationChunkRow& row = rows.emplace_back();
      row.rank = context_.ranks.gpus[gpu_].rank;
      row.device = trace.devices[context_.ranks.gpus[gpu_].device].ordinal;
      row.chunk = static_cast<int64_t>(c);
      row.start_ns = borders_[c];
      row.end_ns = borders_[c + 1];
      const auto length = static_cast<double>(row.end_ns - row.start_ns);
      row.use_share = static_cast<double>(once_[c]) / length;
      row.summed_share = static_cast<double>(summed_[c]) / length;
    }
    return rows;
  }

 private:
  template <class Visit>
  void ForEach(Visit visit) const {
    ForEachGpuOperation(context_.trace, context_.work[gpu_],
                        [&](const GpuOperations& ops, uint32_t row, bool) {
                          visit(Interval{ops.start[row], ops.end[row]});
                        });
  }

  void Add(Interval time, std::array<int64_t, kChunks>& to) {
    time.start = std::max(time.start, span_.start);
    time.end = std::min(time.end, span_.end);
    if (time.end <= time.start) return;
    while (chunk_ > 0 && borders_[chunk_] > time.start) --chunk_;
    while (borders_[chunk_ + 1] <= time.start) ++chunk_;
    for (size_t chunk = chunk_; chunk < kChunks && borders_[chunk] < time.end; ++chunk)
      to[chunk] += std::min(time.end, borders_[chunk + 1]) - std::max(time.start, borders_[chunk]);
  }

  const Context& context_;
  size_t gpu_;
  Interval span_{std::numeric_limits<Ns>::max(), std::numeric_limits<Ns>::min()};
  Ns until_ = std::numeric_limits<Ns>::min();
  std::array<int64_t, kChunks> once_{}, summed_{};
  std::array<Ns, kChunks + 1> borders_{};
  size_t chunk_ = 0;  // in which the time before started: times mostly come in order
};

}  // namespace

const RelationOf<UtilizationChunkRow>& UtilizationChunkRelation() {
  static const auto relation =
      RelationOf<UtilizationChunkRow>(
          "utilization_chunk", "Use of each GPU in 30 equal parts from its first operation to its last.")
          .Key("rank", &UtilizationChunkRow::rank, kRankNumber, "Rank.")
          .Key("device", &UtilizationChunkRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("chunk", &UtilizationChunkRow::chunk, Unit::kNone, "Part, from 0.")
          .Column("start_ns", &UtilizationChunkRow::start_ns, Unit::kNanoseconds, "Its start.")
          .Column("end_ns", &UtilizationChunkRow::end_ns, Unit::kNanoseconds, "Its end.")
          .Column("use_share", &UtilizationChunkRow::use_share, Unit::kRatio,
                  "Share of it in which the GPU does something.")
          .Column("summed_share", &UtilizationChunkRow::summed_share, Unit::kRatio,
                  "Summed durations of operations and of the profiler's overhead over its length, as Nsight "
                  "Systems has it: may exceed 100 %.");
  return relation;
}

std::vector<UtilizationChunkRow> ComputeUtilizationChunks(const Context& context) {
  std::vector<std::vector<UtilizationChunkRow>> by_gpu(context.work.size());
  ParallelFor(by_gpu.size(), [&](size_t gpu) { by_gpu[gpu] = Chunks(context, gpu).Rows(); });
  std::vector<UtilizationChunkRow> rows;
  for (const auto& of_gpu : by_gpu) rows.insert(rows.end(), of_gpu.begin(), of_gpu.end());
  return rows;
}

const Family& UtilizationChunkFamily() {
  static const Family family = FamilyOf(UtilizationChunkRelation(), ComputeUtilizationChunks).Detail();
  return family;
}

}  // namespace dladvisor
