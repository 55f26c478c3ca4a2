#include "src/analysis/stream.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace dladvisor {

const RelationOf<StreamRow>& StreamRelation() {
  static const auto relation =
      RelationOf<StreamRow>("stream", "CUDA streams with work in the analysed window.")
          .Key("rank", &StreamRow::rank, Unit::kNone, "Rank.")
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
                  "Of that, with work on another stream of the device, too.");
  return relation;
}

std::vector<StreamRow> ComputeStreams(const Context& context) {
  const Trace& trace = context.trace;
  std::map<std::pair<uint32_t, int64_t>, StreamKind> kinds;
  for (size_t i = 0; i < trace.streams.size(); ++i)
    kinds[{trace.streams.process[i], trace.streams.stream[i]}] = trace.streams.kind[i];
  std::vector<StreamRow> rows;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const Interval window = context.windows[gpu];
    std::map<int64_t, std::pair<StreamRow, std::vector<Interval>>> streams;
    const auto add = [&](const GpuOps& ops, const std::vector<uint32_t>& indices, bool kernels) {
      for (const uint32_t i : indices) {
        if (ops.start[i] < window.start || ops.start[i] >= window.end) continue;
        auto& [row, intervals] = streams[ops.stream[i]];
        ++(kernels ? row.kernels : row.copies);
        (kernels ? row.kernel_ns : row.copy_ns) += ops.end[i] - ops.start[i];
        intervals.push_back({ops.start[i], std::min(ops.end[i], window.end)});
      }
    };
    add(trace.kernels, context.work[gpu].kernels, true);
    add(trace.graph_launches, context.work[gpu].graphs, true);
    add(trace.copies, context.work[gpu].copies, false);
    add(trace.sets, context.work[gpu].sets, false);
    // A sweep over the ends of each stream's busy times: what runs beside something else overlaps.
    std::vector<std::pair<Ns, StreamRow*>> begins, ends;
    for (auto& [stream, entry] : streams) {
      auto& [row, intervals] = entry;
      row.rank = context.ranks.gpus[gpu].rank;
      row.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
      row.stream = stream;
      const auto kind = kinds.find({context.ranks.gpus[gpu].process, stream});
      row.kind = StreamKindName(kind == kinds.end() ? StreamKind::kUnknown : kind->second);
      const IntervalSet busy = Union(std::move(intervals));
      row.busy_ns = Length(busy);
      for (const Interval& time : busy) {
        begins.emplace_back(time.start, &row);
        ends.emplace_back(time.end, &row);
      }
    }
    const auto by_time = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(begins.begin(), begins.end(), by_time);
    std::stable_sort(ends.begin(), ends.end(), by_time);
    std::set<StreamRow*> running;
    Ns last = 0;
    for (size_t b = 0, e = 0; e < ends.size();) {
      const bool begin = b < begins.size() && begins[b].first < ends[e].first;
      const auto& [time, row] = begin ? begins[b++] : ends[e++];
      if (running.size() > 1)
        for (StreamRow* other : running) other->overlap_ns += time - last;
      last = time;
      begin ? static_cast<void>(running.insert(row)) : static_cast<void>(running.erase(row));
    }
    for (auto& [stream, entry] : streams) rows.push_back(std::move(entry.first));
  }
  return rows;
}

}  // namespace dladvisor
