// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/stream.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "src/analysis/context/gpu_operations.h"
#include "src/analysis/family/family.h"
#include "src/trace/parallel.h"

namespace dladvisor {

const RelationOf<StreamRow>& StreamRelation() {
  static const auto relation =
      RelationOf<StreamRow>("stream", "CUDA streams with work in the analysed window.")
          .Key("rank", &StreamRow::rank, kRankNumber, "Rank.")
          .Key("device", &StreamRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("stream", &StreamRow::stream, Unit::kNone, "Stream, as the profiler numbers it.")
          .Column("kind", &StreamRow::kind, Unit::kText,
                  "default, blocking (the default stream waits for it, and it for the default one), "
                  "non-blocking, or unknown.")
          .Column("kernels", &StreamRow::kernels, Unit::kCount, "Kernels.")
          .Column("kernel_ns", &StreamRow::kernel_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("copies", &StreamRow::copies, Unit::kCount, "Copies and sets.")
          .Column("copy_ns", &StreamRow::copy_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("busy_ns", &StreamRow::busy_ns, Unit::kNanoseconds, "Time with any of them (union).")
          .Column("overlap_ns", &StreamRow::overlap_ns, Unit::kNanoseconds,
                  "Of that, with work on another stream of the device, too.")
          .Column(
              "stretches", &StreamRow::stretches, Unit::kCount,
              "Times that its kernels begin behind one of another stream, in order of start: 1 of a stream "
              "that is used once and then left.");
  return relation;
}

namespace {

// A GPU's streams in one sweep over its operations in order of start: of each stream until when it is busy,
// and how many are.
class Sweep {
 public:
  Sweep(const Context& context, size_t gpu) : context_(context), gpu_(gpu), window_(context.windows[gpu]) {}

  std::vector<StreamRow> Rows() {
    ForEachGpuOperation(context_.trace, context_.work[gpu_],
                        [&](const GpuOperations& ops, uint32_t row, bool computes) {
                          if (ops.start[row] >= window_.start && ops.start[row] < window_.end)
                            Add(StreamOf(ops.stream[row]), {ops.start[row], ops.end[row]}, computes);
                        });
    EndUntil(window_.end);
    std::vector<StreamRow> rows;
    for (Running& stream : streams_) rows.push_back(std::move(stream.row));
    std::sort(rows.begin(), rows.end(),
              [](const StreamRow& a, const StreamRow& b) { return a.stream < b.stream; });
    return rows;
  }

 private:
  struct Running {
    StreamRow row;
    Ns until = std::numeric_limits<Ns>::min();
    bool runs = false;
  };

  size_t StreamOf(int64_t number) {
    if (!streams_.empty() && streams_[last_].row.stream == number) return last_;
    const auto [entry, is_new] = index_.try_emplace(number, streams_.size());
    if (is_new) streams_.emplace_back().row.stream = number;
    return last_ = entry->second;
  }

  void Add(size_t stream, Interval time, bool kernel) {
    EndUntil(time.start);
    Running& s = streams_[stream];
    ++(kernel ? s.row.kernels : s.row.copies);
    (kernel ? s.row.kernel_ns : s.row.copy_ns) += time.length();
    s.until = std::max(s.until, std::min(time.end, window_.end));
    if (kernel) {
      s.row.stretches += stream != last_kernels_;
      last_kernels_ = stream;
    }
    if (!s.runs) running_.push_back(stream);
    s.runs = true;
  }

  // Passes the time until then: streams that run are busy, and beside each other where there are several.
  void EndUntil(Ns time) {
    while (!running_.empty() && now_ < time) {
      Ns end = time;
      for (const size_t stream : running_) end = std::min(end, streams_[stream].until);
      for (const size_t stream : running_) {
        streams_[stream].row.busy_ns += end - now_;
        if (running_.size() > 1) streams_[stream].row.overlap_ns += end - now_;
      }
      now_ = end;
      std::erase_if(running_, [&](size_t stream) {
        if (streams_[stream].until > now_) return false;
        streams_[stream].runs = false;
        return true;
      });
    }
    now_ = std::max(now_, time);
  }

  const Context& context_;
  size_t gpu_;
  Interval window_;
  std::vector<Running> streams_;
  std::map<int64_t, size_t> index_;
  size_t last_ = 0;
  size_t last_kernels_ = std::numeric_limits<size_t>::max();  // stream of the last kernel
  std::vector<size_t> running_;
  Ns now_ = std::numeric_limits<Ns>::min();
};

}  // namespace

std::vector<StreamRow> ComputeStreams(const Context& context) {
  const Trace& trace = context.trace;
  std::map<std::pair<uint32_t, int64_t>, StreamKind> kinds;
  for (size_t i = 0; i < trace.streams.size(); ++i)
    kinds[{trace.streams.process[i], trace.streams.stream[i]}] = trace.streams.kind[i];
  std::vector<std::vector<StreamRow>> by_gpu(context.work.size());
  ParallelFor(by_gpu.size(), [&](size_t gpu) { by_gpu[gpu] = Sweep(context, gpu).Rows(); });
  std::vector<StreamRow> rows;
  for (size_t gpu = 0; gpu < by_gpu.size(); ++gpu)
    for (StreamRow& row : by_gpu[gpu]) {
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      const auto kind = kinds.find({context.ranks.gpus[gpu].process, row.stream});
      row.kind = StreamKindName(kind == kinds.end() ? StreamKind::kUnknown : kind->second);
      rows.push_back(std::move(row));
    }
  return rows;
}

const Family& StreamFamily() {
  static const Family family = FamilyOf(StreamRelation(), ComputeStreams).Detail();
  return family;
}

}  // namespace dladvisor
