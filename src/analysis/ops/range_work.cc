#include "src/analysis/ops/range_work.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "src/analysis/context/attribution.h"
#include "src/analysis/context/launch_join.h"

namespace dladvisor {
namespace {

struct Projection {
  uint32_t range = 0;
  Interval gpu;
  int64_t operations = 0, level = 0, children = 0;
};

// Ranges with work, in order of start.
std::vector<Projection> Project(const Trace& trace) {
  const Launches launches = FindLaunches(trace);
  const Attribution attribution = Attribute(trace, launches);
  std::vector<Projection> all(trace.ranges.size());
  const auto add = [&](const GpuOps& ops, const std::vector<uint32_t>& calls) {
    for (size_t i = 0; i < ops.size(); ++i) {
      if (calls[i] == kNoIndex) continue;
      for (uint32_t r = attribution.api_range[calls[i]]; r != kNoIndex; r = attribution.range_parent[r]) {
        Projection& p = all[r];
        p.gpu = p.operations == 0
                    ? Interval{ops.start[i], ops.end[i]}
                    : Interval{std::min(p.gpu.start, ops.start[i]), std::max(p.gpu.end, ops.end[i])};
        ++p.operations;
      }
    }
  };
  add(trace.kernels, launches.kernel);
  add(trace.copies, launches.copy);
  add(trace.sets, launches.set);
  add(trace.graph_launches, launches.graph);
  for (uint32_t r = 0; r < all.size(); ++r) {
    all[r].range = r;
    const uint32_t parent = attribution.range_parent[r];
    if (parent == kNoIndex) continue;
    all[r].level = all[parent].level + 1;  // a parent comes before its children
    if (all[r].operations > 0) ++all[parent].children;
  }
  std::erase_if(all, [](const Projection& p) { return p.operations == 0; });
  return all;
}

class RangeWork final : public Relation {
 public:
  using Getter = std::function<CellView(const Projection&)>;

  explicit RangeWork(const Trace& trace)
      : trace_(trace),
        schema_{"range_work", "One row per range whose thread launched GPU work inside of it.", {}, {}} {
    constexpr Type kInteger = Type::kInteger;
    constexpr Unit kNs = Unit::kNanoseconds, kNone = Unit::kNone;
    const Ranges& r = trace.ranges;
    Add("start_ns", kInteger, kNs, "Start on the profile's clock.",
        [&r](const Projection& p) { return CellView::Of(r.start[p.range]); });
    Add("end_ns", kInteger, kNs, "End on the profile's clock.",
        [&r](const Projection& p) { return CellView::Of(r.end[p.range]); });
    Add("tid", kInteger, kNone, "Thread.",
        [&trace, &r](const Projection& p) { return CellView::Of(trace.threads[r.thread[p.range]].tid); });
    Add("name", Type::kText, Unit::kText, "Text of the annotation.",
        [&trace, &r](const Projection& p) { return CellView::Of(trace.names.View(r.name[p.range])); });
    Add("domain", Type::kText, Unit::kText, "NVTX domain, empty for the default one.",
        [&trace, &r](const Projection& p) { return CellView::Of(trace.names.View(r.domain[p.range])); });
    Add("gpu_start_ns", kInteger, kNs, "Start of its first GPU operation.",
        [](const Projection& p) { return CellView::Of(p.gpu.start); });
    Add("gpu_end_ns", kInteger, kNs, "End of its last GPU operation.",
        [](const Projection& p) { return CellView::Of(p.gpu.end); });
    Add("operations", kInteger, Unit::kCount, "GPU operations, those of nested ranges included.",
        [](const Projection& p) { return CellView::Of(p.operations); });
    Add("level", kInteger, kNone, "Ranges around it.",
        [](const Projection& p) { return CellView::Of(p.level); });
    Add("children", kInteger, Unit::kCount, "Ranges directly inside of it that have GPU work.",
        [](const Projection& p) { return CellView::Of(p.children); });
  }

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return Rows().size(); }
  CellView At(size_t row, size_t column) const override { return getters_[column](Rows()[row]); }

 private:
  void Add(std::string name, Type type, Unit unit, std::string doc, Getter get) {
    schema_.columns.push_back({std::move(name), type, unit, std::move(doc), false, ""});
    getters_.push_back(std::move(get));
  }
  const std::vector<Projection>& Rows() const {
    std::call_once(once_, [this] { rows_ = Project(trace_); });
    return rows_;
  }

  const Trace& trace_;
  Schema schema_;
  std::vector<Getter> getters_;
  mutable std::once_flag once_;
  mutable std::vector<Projection> rows_;
};

}  // namespace

std::unique_ptr<Relation> RangeWorkRelation(const Trace& trace) { return std::make_unique<RangeWork>(trace); }

}  // namespace dladvisor
