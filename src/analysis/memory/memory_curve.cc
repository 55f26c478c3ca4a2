// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/memory/memory_curve.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

constexpr int64_t kParts = 260;  // of all GPUs together

// Of one GPU, in one part of the time: indices of events.
struct Part {
  int64_t number = -1;
  size_t least = 0, most = 0, last = 0;  // the first that has the least, and the most

  void Add(size_t event, const std::vector<int64_t>& allocated) {
    if (allocated[event] < allocated[least]) least = event;
    if (allocated[event] > allocated[most]) most = event;
    last = event;
  }
};

class Curve {
 public:
  Curve(const MemoryEvents& events, int64_t device) : events_(events), device_(device) {}

  void Add(size_t event, int64_t part) {
    if (part_.number == part) return part_.Add(event, events_.allocated);
    End();
    part_ = {part, event, event, event};
  }

  void End() {
    if (part_.number < 0) return;
    std::array<size_t, 3> points = {part_.least, part_.most, part_.last};
    std::ranges::sort(points);
    for (size_t i = 0; i < points.size(); ++i)
      if (i == 0 || points[i] != points[i - 1]) AddPoint(points[i]);
    part_.number = -1;
  }

  const std::vector<MemoryPointRow>& rows() const { return rows_; }

 private:
  void AddPoint(size_t event) {
    MemoryPointRow& row = rows_.emplace_back();
    row.device = device_;
    row.point = static_cast<int64_t>(rows_.size()) - 1;
    row.start_ns = events_.time[event];
    row.allocated_bytes = events_.allocated[event];
    if (!events_.reserved.empty() && events_.reserved[event] >= 0)
      row.reserved_bytes = events_.reserved[event];
  }

  const MemoryEvents& events_;
  int64_t device_;
  Part part_;
  std::vector<MemoryPointRow> rows_;
};

}  // namespace

const RelationOf<MemoryPointRow>& MemoryCurveRelation() {
  static const auto relation =
      RelationOf<MemoryPointRow>(
          "memory_curve",
          "What PyTorch's allocator has given and reserved over time, in as many points "
          "as a curve can show: extremes are kept.")
          .Key("device", &MemoryPointRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("point", &MemoryPointRow::point, Unit::kNone, "Number of the point, from 0, in order of time.")
          .Column("start_ns", &MemoryPointRow::start_ns, Unit::kNanoseconds, "When, on the profile's clock.")
          .Column("allocated_bytes", &MemoryPointRow::allocated_bytes, Unit::kBytes,
                  "What PyTorch's tensors take on the device then.")
          .Column("reserved_bytes", &MemoryPointRow::reserved_bytes, Unit::kBytes,
                  "What its allocator has reserved there.");
  return relation;
}

std::vector<MemoryPointRow> ComputeMemoryCurve(const Trace& trace) {
  const MemoryEvents& events = trace.memory_events;
  if (events.allocated.empty()) return {};
  std::map<uint32_t, Curve> curves;  // by device, which are in order of their ordinals
  Ns first = std::numeric_limits<Ns>::max(), last = 0;
  const auto counts = [&](size_t i) { return events.device[i] != kNoIndex && events.allocated[i] >= 0; };
  for (size_t i = 0; i < events.size(); ++i) {
    if (!counts(i)) continue;
    curves.try_emplace(events.device[i], events, trace.devices[events.device[i]].ordinal);
    first = std::min(first, events.time[i]);
    last = std::max(last, events.time[i]);
  }
  if (curves.empty()) return {};
  const int64_t parts = std::max<int64_t>(1, kParts / static_cast<int64_t>(curves.size()));
  for (size_t i = 0; i < events.size(); ++i)
    if (counts(i)) curves.at(events.device[i]).Add(i, (events.time[i] - first) * parts / (last - first + 1));
  std::vector<MemoryPointRow> rows;
  for (auto& [device, curve] : curves) {
    curve.End();
    rows.insert(rows.end(), curve.rows().begin(), curve.rows().end());
  }
  return rows;
}

const Family& MemoryCurveFamily() {
  static const Family family = FamilyOf(MemoryCurveRelation(), ComputeMemoryCurve).OnDemand();
  return family;
}

}  // namespace dladvisor
