// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/kernel_position.h"

#include <algorithm>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/ranks/straggler.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

double Mean(int64_t sum, int64_t count) {
  return count > 0 ? static_cast<double>(sum) / static_cast<double>(count) : 0;
}

// Mean over the GPUs of how much later than the first one they began.
double MeanStartGap(const Cohort& cohort, std::optional<size_t> step) {
  int64_t sum = 0, count = 0;
  for (const CohortMember& member : cohort.members)
    for (const CohortMember::Step& of : member.steps)
      if (!step || of.step == *step) {
        sum += of.start_gap_ns;
        ++count;
      }
  return Mean(sum, count);
}

// The position whose kernel starts a GPU's step: the first that is not a collective.
size_t FirstPosition(const KernelSequence& sequence) {
  const auto first = std::find(sequence.communication.begin(), sequence.communication.end(), uint8_t{0});
  return static_cast<size_t>(first - sequence.communication.begin());
}

void AddStep(const KernelSequence& sequence, const Cohort& cohort, const CohortMember& member,
             size_t row_of_step, std::vector<DivergenceRow>& rows) {
  const CohortMember::Step& step = member.steps[row_of_step];
  const KernelSequence::Cells cells = DecodeCells(sequence);
  const double others_start = MeanStartGap(cohort, step.step);
  const size_t first = FirstPosition(sequence);
  int64_t end = 0;
  double mean_end = 0;
  for (size_t p = 0; p < cohort.length; ++p) {
    const size_t own = row_of_step * cohort.length + p, all = step.step * cohort.length + p;
    DivergenceRow row;
    row.rank = sequence.rank;
    row.device = sequence.device;
    row.step = cohort.steps[step.step];
    row.position = static_cast<int64_t>(p);
    row.kernel = sequence.names[p];
    row.duration_ns = cells.duration[own];
    row.gap_ns = p == first ? step.start_gap_ns : cells.gap[own];
    const double mean_duration = Mean(cohort.sums.duration[all], cohort.ranks[step.step]),
                 mean_gap = p == first ? others_start : Mean(cohort.sums.gap[all], cohort.ranks[step.step]);
    row.duration_excess_ns = static_cast<double>(row.duration_ns) - mean_duration;
    row.gap_excess_ns = static_cast<double>(row.gap_ns) - mean_gap;
    if (!sequence.communication[p]) {
      end += row.gap_ns + row.duration_ns;
      mean_end += mean_gap + mean_duration;
    }
    row.end_ns = end;
    row.end_excess_ns = static_cast<double>(end) - mean_end;
    if (cells.delay[own] >= 0) row.delay_ns = cells.delay[own];
    rows.push_back(std::move(row));
  }
}

}  // namespace

const RelationOf<KernelPositionRow>& KernelPositionRelation() {
  static const auto relation =
      RelationOf<KernelPositionRow>(
          "kernel_position", "Kernels of a step by position, over all GPUs of a cohort and their steps.")
          .Key("cohort", &KernelPositionRow::cohort, Unit::kNone, "Number of the cohort: see rank.cohort.")
          .Key("position", &KernelPositionRow::position, Unit::kNone, "Position in order of launch, from 0.")
          .Column("kernel", &KernelPositionRow::kernel, Unit::kText, "Base name of the kernel.")
          .Column("communication", &KernelPositionRow::communication, Unit::kNone, "1 for collectives.")
          .Column("duration_ns", &KernelPositionRow::duration_ns, Unit::kNanoseconds, "Mean duration.")
          .Column(
              "gap_ns", &KernelPositionRow::gap_ns, Unit::kNanoseconds,
              "Mean time from the end of what started before it, never negative; 0 for collectives; of the "
              "first kernel, how much later than the first GPU it starts.")
          .Column("end_ns", &KernelPositionRow::end_ns, Unit::kNanoseconds,
                  "Mean time to its end: gaps and durations up to it, collectives zeroed.")
          .Column("delay_ns", &KernelPositionRow::delay_ns, Unit::kNanoseconds,
                  "Mean time from launch to start.", capability::kGpuWork)
          .Column("longest_ns", &KernelPositionRow::longest_ns, Unit::kNanoseconds,
                  "Mean duration on the GPU where it is longest.")
          .Column("longest_rank", &KernelPositionRow::longest_rank, Unit::kNone, "Rank of that GPU.")
          .Column("largest_gap_ns", &KernelPositionRow::largest_gap_ns, Unit::kNanoseconds,
                  "Mean gap on the GPU where it is largest.")
          .Column("largest_gap_rank", &KernelPositionRow::largest_gap_rank, Unit::kNone, "Rank of that GPU.");
  return relation;
}

const RelationOf<DivergenceRow>& DivergenceRelation() {
  static const auto relation =
      RelationOf<DivergenceRow>(
          "divergence",
          "What a GPU does at each position of a step against the mean over GPUs: of the "
          "slowest and the fastest GPU of each cohort's worst step, and of stragglers.")
          .Key("rank", &DivergenceRow::rank, kRankNumber, "Rank.")
          .Key("device", &DivergenceRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("step", &DivergenceRow::step, kStepNumber, "Number of the step.")
          .Key("position", &DivergenceRow::position, Unit::kNone, "Position in order of launch, from 0.")
          .Column("kernel", &DivergenceRow::kernel, Unit::kText, "Base name of the kernel.")
          .Column("duration_ns", &DivergenceRow::duration_ns, Unit::kNanoseconds, "Duration.")
          .Column("gap_ns", &DivergenceRow::gap_ns, Unit::kNanoseconds,
                  "Gap before it: see kernel_position.gap_ns.")
          .Column("end_ns", &DivergenceRow::end_ns, Unit::kNanoseconds,
                  "Time to its end, collectives zeroed.")
          .Column("duration_excess_ns", &DivergenceRow::duration_excess_ns, Unit::kNanoseconds,
                  "Duration minus the mean over GPUs.")
          .Column("gap_excess_ns", &DivergenceRow::gap_excess_ns, Unit::kNanoseconds,
                  "Gap minus the mean over GPUs.")
          .Column("end_excess_ns", &DivergenceRow::end_excess_ns, Unit::kNanoseconds,
                  "Time to its end minus the mean over GPUs.")
          .Column("delay_ns", &DivergenceRow::delay_ns, Unit::kNanoseconds, "Time from launch to start.",
                  capability::kGpuWork);
  return relation;
}

std::vector<KernelPositionRow> ComputeKernelPositions(std::span<const KernelSequence> sequences,
                                                      std::span<const Cohort> cohorts) {
  std::vector<KernelPositionRow> rows;
  for (size_t c = 0; c < cohorts.size(); ++c) {
    const Cohort& cohort = cohorts[c];
    const KernelSequence& first = sequences[cohort.members[0].sequence];
    const size_t start = FirstPosition(first);
    const double start_gap = MeanStartGap(cohort, std::nullopt);
    double end = 0;
    for (size_t p = 0; p < cohort.length; ++p) {
      KernelPositionRow row;
      row.cohort = static_cast<int64_t>(c);
      row.position = static_cast<int64_t>(p);
      row.kernel = first.names[p];
      row.communication = first.communication[p] != 0;
      int64_t duration = 0, gap = 0, delay = 0, delays = 0, steps = 0;
      for (const CohortMember& member : cohort.members) {
        const auto own_steps = static_cast<int64_t>(member.steps.size());
        duration += member.duration[p];
        gap += member.gap[p];
        delay += member.delay[p];
        delays += member.delays[p];
        steps += own_steps;
        const int64_t rank = sequences[member.sequence].rank;
        if (const double own = Mean(member.duration[p], own_steps); own > row.longest_ns) {
          row.longest_ns = own;
          row.longest_rank = rank;
        }
        if (const double own = Mean(member.gap[p], own_steps); own > row.largest_gap_ns) {
          row.largest_gap_ns = own;
          row.largest_gap_rank = rank;
        }
      }
      row.duration_ns = Mean(duration, steps);
      row.gap_ns = p == start ? start_gap : Mean(gap, steps);
      if (!row.communication) end += row.gap_ns + row.duration_ns;
      row.end_ns = end;
      if (delays > 0) row.delay_ns = Mean(delay, delays);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<DivergenceRow> ComputeDivergence(std::span<const KernelSequence> sequences,
                                             std::span<const Cohort> cohorts, std::vector<GpuStep> steps) {
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::vector<DivergenceRow> rows;
  for (const GpuStep& wanted : steps)
    for (const Cohort& cohort : cohorts)
      for (const CohortMember& member : cohort.members) {
        const KernelSequence& sequence = sequences[member.sequence];
        if (sequence.rank != wanted.rank || sequence.device != wanted.device) continue;
        for (size_t s = 0; s < member.steps.size(); ++s)
          if (cohort.steps[member.steps[s].step] == wanted.step) AddStep(sequence, cohort, member, s, rows);
      }
  return rows;
}

namespace {

// The steps to show kernel by kernel: of each cohort the worst, on its slowest and its fastest GPU, and of
// each straggler the one in which it is farthest behind.
std::vector<GpuStep> StepsToShow(const RankFacts& ranks, const Stragglers& stragglers) {
  std::vector<GpuStep> steps;
  for (const JitterRow& row : ranks.jitter) {
    if (row.steps == 0) continue;
    steps.push_back({row.max_rank, row.max_device, row.worst_step});
    steps.push_back({row.min_rank, row.min_device, row.worst_step});
  }
  for (const StragglerRow& straggler : stragglers.ranks) {
    const RankStepRow* worst = nullptr;
    for (const RankStepRow& row : ranks.steps)
      if (row.rank == straggler.rank && row.device == straggler.device && row.step >= straggler.first_step &&
          row.step <= straggler.last_step && (!worst || row.excess_ns > worst->excess_ns))
        worst = &row;
    if (worst) steps.push_back({worst->rank, worst->device, worst->step});
  }
  return steps;
}

std::vector<DivergenceRow> DivergenceToShow(const OfFleet<KernelSequence>& sequences,
                                            const std::vector<Cohort>& cohorts, const RankFacts& ranks,
                                            const Stragglers& stragglers) {
  return ComputeDivergence(sequences.all, cohorts, StepsToShow(ranks, stragglers));
}

}  // namespace

const Family& KernelPositionFamily() {
  static const Family family = FamilyOf(KernelPositionRelation(), [](const OfFleet<KernelSequence>& sequences,
                                                                     const std::vector<Cohort>& cohorts) {
    return ComputeKernelPositions(sequences.all, cohorts);
  });
  return family;
}

const Family& DivergenceFamily() {
  static const Family family = FamilyOf(DivergenceRelation(), DivergenceToShow);
  return family;
}

}  // namespace dladvisor
