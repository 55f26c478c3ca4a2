// SPDX-License-Identifier: Apache-2.0
// Whether steps work on a sequence that grows, by the grids of kernels: what is recorded without shapes, too.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/family.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// Of a GPU; more steps show no more. A kernel whose grid grows by less in all is too coarse to count by.
constexpr size_t kMostCompared = 50, kMostKernels = 200'000;
constexpr int64_t kLeastGrowth = 8;
constexpr double kSamePositions = 0.02;

struct SequenceGrowthRow {
  int64_t rank = 0, device = 0, steps = 0, kernels = 0, growing_kernels = 0, first_positions = 0;
};

const RelationOf<SequenceGrowthRow>& SequenceGrowthRelation() {
  static const auto relation =
      RelationOf<SequenceGrowthRow>(
          "sequence_growth",
          "GPUs on which the grids of element-wise kernels, normalizations and reductions grow evenly from "
          "step "
          "to step, in the first 50 steady steps: such kernels have blocks by what they work on.")
          .Key("rank", &SequenceGrowthRow::rank, kRankNumber, "Rank.")
          .Key("device", &SequenceGrowthRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("steps", &SequenceGrowthRow::steps, Unit::kCount, "Steps that were compared.")
          .Column("kernels", &SequenceGrowthRow::kernels, Unit::kCount, "Such kernels in the first of them.")
          .Column("growing_kernels", &SequenceGrowthRow::growing_kernels, Unit::kCount,
                  "Those of them that grow evenly, by the same part of their first grid (to 2 %).")
          .Column("first_positions", &SequenceGrowthRow::first_positions, Unit::kCount,
                  "How often what is added in a step was there in the first: the length of a sequence that "
                  "grows by one position.");
  return relation;
}

bool HasBlocksByItsWork(std::string_view kind) {
  return kind == "element-wise" || kind == "normalization" || kind == "reduction";
}

// What a step adds, if each adds as much but for the rounding to blocks.
std::optional<double> EvenGrowth(const std::vector<int64_t>& grids) {
  const int64_t growth = grids.back() - grids.front();
  if (growth < kLeastGrowth) return std::nullopt;
  const double added = static_cast<double>(growth) / static_cast<double>(grids.size() - 1);
  for (size_t i = 0; i < grids.size(); ++i)
    if (std::abs(static_cast<double>(grids[i] - grids[0]) - added * static_cast<double>(i)) > 1)
      return std::nullopt;
  return added;
}

// The grids of each such kernel by step; a kernel is the same in all steps by its name and its place among
// those of the name.
std::vector<std::vector<int64_t>> GridsBySteps(const Context& context, size_t gpu,
                                               const std::vector<Step>& steps) {
  const Kernels& kernels = context.trace.kernels;
  const auto& work = context.work[gpu].kernels;
  std::map<std::pair<NameId, uint32_t>, size_t> places;
  std::vector<std::vector<int64_t>> grids;
  auto next = std::partition_point(work.begin(), work.end(),
                                   [&](uint32_t k) { return kernels.start[k] < steps[0].time.start; });
  for (size_t s = 0; s < steps.size(); ++s) {
    std::map<NameId, uint32_t> seen;
    for (; next != work.end() && kernels.start[*next] < steps[s].time.end; ++next) {
      const NameId name = kernels.name[*next];
      if (!HasBlocksByItsWork(context.kernels[name].kind)) continue;
      const std::pair key(name, seen[name]++);
      const auto place = s == 0 ? places.try_emplace(key, places.size()).first : places.find(key);
      if (place == places.end()) continue;
      if (s == 0) grids.emplace_back();
      std::vector<int64_t>& of_kernel = grids[place->second];
      if (of_kernel.size() == s) of_kernel.push_back(kernels.grid[*next]);
    }
  }
  return grids;
}

std::vector<SequenceGrowthRow> ComputeSequenceGrowths(const Context& context) {
  std::vector<SequenceGrowthRow> rows;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    const int64_t rank = context.ranks.gpus[gpu].rank;
    std::vector<Step> steps;
    size_t kernels = 0;
    for (const auto& [of_rank, all] : context.steps.by_rank)
      for (const Step& step : all)
        if (of_rank == rank && !step.warmup && steps.size() < kMostCompared && kernels < kMostKernels) {
          steps.push_back(step);
          kernels += static_cast<size_t>(step.operations);
        }
    if (steps.size() < 3) continue;
    const auto grids = GridsBySteps(context, gpu, steps);
    std::vector<double> positions;
    for (const std::vector<int64_t>& of_kernel : grids) {
      if (of_kernel.size() != steps.size() || of_kernel[0] <= 0) continue;
      if (const auto added = EvenGrowth(of_kernel))
        positions.push_back(static_cast<double>(of_kernel[0]) / *added);
    }
    if (positions.empty()) continue;
    const double median = Median(positions);
    SequenceGrowthRow& row = rows.emplace_back();
    row.rank = rank;
    row.device = context.trace.devices[context.ranks.gpus[gpu].device].ordinal;
    row.steps = static_cast<int64_t>(steps.size());
    row.kernels = static_cast<int64_t>(grids.size());
    row.growing_kernels = std::ranges::count_if(
        positions, [&](double p) { return std::abs(p - median) <= kSamePositions * median; });
    row.first_positions = std::llround(median);
  }
  return rows;
}

}  // namespace

const Family& SequenceGrowthFamily() {
  static const Family family = FamilyOf(SequenceGrowthRelation(), ComputeSequenceGrowths).Detail();
  return family;
}

}  // namespace dladvisor
