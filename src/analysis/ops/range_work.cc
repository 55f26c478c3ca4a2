// SPDX-License-Identifier: Apache-2.0
// The relation range_work, ranges projected onto the GPU: from the first to the last GPU operation that was
// launched inside of them by their own thread (Nsight Systems' NVTX projection).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/store/relation_over.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

struct Projection {
  uint32_t range = 0;
  Interval gpu;
  int64_t operations = 0, level = 0, children = 0;
};

// Ranges with work, in order of start.
std::vector<Projection> Project(const Context& context) {
  const Trace& trace = context.trace;
  const Launches& launches = context.launches;
  const Attribution& attribution = context.attribution;
  std::vector<Projection> all(trace.ranges.size());
  const auto add = [&](const GpuOperations& ops, const std::vector<uint32_t>& calls) {
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

struct RangeWorkSource {
  const Trace& trace;
  std::vector<Projection> rows;
};

RelationOver<RangeWorkSource> DeclareRangeWork() {
  constexpr Type kInteger = Type::kInteger;
  constexpr Unit kNs = Unit::kNanoseconds, kNone = Unit::kNone;
  const auto range = [](auto column) {
    return [column](const RangeWorkSource& s, size_t i) {
      return CellView::Of((s.trace.ranges.*column)[s.rows[i].range]);
    };
  };
  const auto name = [](auto column) {
    return [column](const RangeWorkSource& s, size_t i) {
      return CellView::Of(s.trace.names.View((s.trace.ranges.*column)[s.rows[i].range]));
    };
  };
  const auto work = [](auto get) {
    return [get](const RangeWorkSource& s, size_t i) { return CellView::Of(get(s.rows[i])); };
  };
  RelationOver<RangeWorkSource> relation("range_work",
                                         "One row per range whose thread launched GPU work inside of it.");
  relation.Column("start_ns", kInteger, kNs, "Start on the profile's clock.", range(&Ranges::start))
      .Column("end_ns", kInteger, kNs, "End on the profile's clock.", range(&Ranges::end))
      .Column("tid", kInteger, kNone, "Thread.",
              [](const RangeWorkSource& s, size_t i) {
                return CellView::Of(s.trace.threads[s.trace.ranges.thread[s.rows[i].range]].tid);
              })
      .Column("name", Type::kText, Unit::kText, "Text of the annotation.", name(&Ranges::name))
      .Column("domain", Type::kText, Unit::kText, "NVTX domain, empty for the default one.",
              name(&Ranges::domain))
      .Column("gpu_start_ns", kInteger, kNs, "Start of its first GPU operation.",
              work([](const Projection& p) { return p.gpu.start; }))
      .Column("gpu_end_ns", kInteger, kNs, "End of its last GPU operation.",
              work([](const Projection& p) { return p.gpu.end; }))
      .Column("operations", kInteger, Unit::kCount, "GPU operations, those of nested ranges included.",
              work([](const Projection& p) { return p.operations; }))
      .Column("level", kInteger, kNone, "Ranges around it.",
              work([](const Projection& p) { return p.level; }))
      .Column("children", kInteger, Unit::kCount, "Ranges directly inside of it that have GPU work.",
              work([](const Projection& p) { return p.children; }));
  return relation;
}

}  // namespace

const Family& RangeWorkFamily() {
  static const RelationOver<RangeWorkSource> relation = DeclareRangeWork();
  static const Family family =
      FamilyOfRelation(relation.schema(), [](const Context& context) {
        auto source = std::make_shared<RangeWorkSource>(RangeWorkSource{context.trace, Project(context)});
        const size_t rows = source->rows.size();
        return relation.Over(std::move(source), rows);
      }).OnDemand(/*sorted_column=*/0);
  return family;
}

}  // namespace dladvisor
