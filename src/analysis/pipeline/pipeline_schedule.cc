// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/pipeline/pipeline_schedule.h"

#include <algorithm>
#include <array>
#include <set>

namespace dladvisor {
namespace {

using Pass = StageOrder::Pass;

struct Shape {
  int64_t forwards = 0, first = 0;  // first: before the first B
  bool alternates = false;          // F^first (B F)* B*
  bool has_weights = false;
  bool splits = false;  // some W does not follow its B at once
  std::set<int64_t> chunks;
};

Shape ShapeOf(const StageOrder& order) {
  Shape shape;
  std::vector<Pass> turns;  // without W
  const Pass* last = nullptr;
  for (const Pass& pass : order.passes) {
    if (pass.phase == PipelinePhase::kWeight) {
      shape.has_weights = true;
      shape.splits = shape.splits || last == nullptr || last->phase != PipelinePhase::kBackward ||
                     last->micro_batch != pass.micro_batch || last->chunk != pass.chunk;
    } else {
      turns.push_back(pass);
      shape.chunks.insert(pass.chunk);
      shape.forwards += pass.phase == PipelinePhase::kForward;
    }
    last = &pass;
  }
  shape.first = ForwardsFirst(order);
  const auto is = [&](size_t i, PipelinePhase phase) { return i < turns.size() && turns[i].phase == phase; };
  auto at = static_cast<size_t>(shape.first);
  while (is(at, PipelinePhase::kBackward) && is(at + 1, PipelinePhase::kForward)) at += 2;
  while (is(at, PipelinePhase::kBackward)) ++at;
  shape.alternates = at == turns.size() && 2 * shape.forwards == static_cast<int64_t>(turns.size());
  return shape;
}

// Whether stage s of p, the last of which begins with `last` F, begins with `last` + step (p - 1 - s) of
// them, or all.
bool BeginsInSteps(const std::vector<Shape>& shapes, int64_t step) {
  const auto p = static_cast<int64_t>(shapes.size());
  const int64_t last = shapes.back().first;
  for (int64_t s = 0; s < p; ++s) {
    const Shape& shape = shapes[static_cast<size_t>(s)];
    if (shape.first != std::min(last + step * (p - 1 - s), shape.forwards)) return false;
  }
  return true;
}

ScheduleFound FindWithOneChunk(const std::vector<Shape>& shapes) {
  const bool splits = std::ranges::any_of(shapes, &Shape::splits);
  const bool has_weights = std::ranges::any_of(shapes, &Shape::has_weights);
  const int64_t m = shapes[0].forwards, last = shapes.back().first;
  // W that all follow their B at once are not a known schedule: B of the stage before need not wait for them.
  if (!std::ranges::all_of(shapes, &Shape::alternates) || splits != has_weights) return {};
  if (last == m && !splits) {
    const bool all_first = std::ranges::all_of(shapes, [&](const Shape& s) { return s.first == m; });
    return {all_first && shapes.size() > 1 ? PipelineSchedule::kGPipe : PipelineSchedule::kUnknown, 0};
  }
  if (last < m && BeginsInSteps(shapes, 1))
    return {splits ? PipelineSchedule::kZeroBubbleH1 : PipelineSchedule::k1F1B, last - 1};
  if (splits && last == 1 && BeginsInSteps(shapes, 2)) return {PipelineSchedule::kZeroBubbleH2, 0};
  return {};
}

// 1 where stages start the chunk one after another, -1 where from the last to the first, else 0.
int DirectionOf(const std::vector<StageOrder>& stages, size_t chunk) {
  bool up = true, down = true;
  for (size_t s = 1; s < stages.size(); ++s) {
    up = up && stages[s - 1].chunk_start[chunk] < stages[s].chunk_start[chunk];
    down = down && stages[s - 1].chunk_start[chunk] > stages[s].chunk_start[chunk];
  }
  return stages.size() < 2 ? 0 : up ? 1 : down ? -1 : 0;
}

ScheduleFound FindWithChunks(const std::vector<StageOrder>& stages, const std::vector<Shape>& shapes) {
  const auto p = static_cast<int64_t>(stages.size());
  const auto v = static_cast<int64_t>(shapes[0].chunks.size());
  for (const StageOrder& stage : stages)
    if (static_cast<int64_t>(stage.chunk_start.size()) != v) return {};
  if (v == 2 && DirectionOf(stages, 1) < 0) return {PipelineSchedule::kVShaped, 0};
  for (size_t chunk = 1; chunk < static_cast<size_t>(v); ++chunk)
    if (DirectionOf(stages, chunk) <= 0) return {};
  for (int64_t s = 0; s < p; ++s) {
    const Shape& shape = shapes[static_cast<size_t>(s)];
    // With as many micro-batches as stages Megatron-LM takes all F first.
    const bool all_first = shape.first == shape.forwards && shape.forwards == v * p;
    const int64_t first = std::min(2 * (p - s - 1) + (v - 1) * p + 1, shape.forwards);
    if (!shape.alternates || shape.splits || (shape.first != first && !all_first)) return {};
  }
  return {PipelineSchedule::kInterleaved, 0};
}

}  // namespace

const char* PipelineScheduleName(PipelineSchedule schedule) {
  static constexpr std::array<const char*, 7> kNames = {nullptr, "GPipe", "1F1B",    "interleaved 1F1B",
                                                        "ZB-H1", "ZB-H2", "V-shaped"};
  return kNames[static_cast<size_t>(schedule)];
}

int64_t ForwardsFirst(const StageOrder& order) {
  int64_t first = 0;
  for (const Pass& pass : order.passes) {
    if (pass.phase == PipelinePhase::kBackward) break;
    first += pass.phase == PipelinePhase::kForward;
  }
  return first;
}

ScheduleFound FindSchedule(const std::vector<StageOrder>& stages) {
  std::vector<Shape> shapes;
  for (const StageOrder& stage : stages) shapes.push_back(ShapeOf(stage));
  if (shapes.empty() || shapes[0].forwards == 0) return {};
  for (const Shape& shape : shapes)
    if (shape.forwards != shapes[0].forwards || shape.chunks.size() != shapes[0].chunks.size()) return {};
  return shapes[0].chunks.size() > 1 ? FindWithChunks(stages, shapes) : FindWithOneChunk(shapes);
}

std::optional<double> IdealBubble(PipelineSchedule schedule, int64_t stages, int64_t micro_batches,
                                  int64_t chunks, double forward, double backward, double weight) {
  if (stages < 2) return std::nullopt;
  double one = forward + backward + weight;  // the bubble by p - 1
  switch (schedule) {
    case PipelineSchedule::kGPipe:
    case PipelineSchedule::k1F1B:
      break;
    case PipelineSchedule::kInterleaved:
      one /= static_cast<double>(chunks);
      break;
    case PipelineSchedule::kZeroBubbleH1:
      one = std::max(0.0, forward + backward - weight);
      break;
    case PipelineSchedule::kZeroBubbleH2:
      one = std::max(0.0, forward + backward - 2 * weight);
      break;
    case PipelineSchedule::kUnknown:
    case PipelineSchedule::kVShaped:
      return std::nullopt;
  }
  const double bubble = static_cast<double>(stages - 1) * one;
  const double cost = bubble + static_cast<double>(micro_batches) * (forward + backward + weight);
  return cost > 0 ? std::optional(bubble / cost) : std::nullopt;
}

}  // namespace dladvisor
