// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/rank.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

using Gpu = std::pair<int64_t, int64_t>;  // rank and device

Gpu GpuOf(const KernelSequence& sequence) { return {sequence.rank, sequence.device}; }

double MeanOver(int64_t sum, size_t count) { return static_cast<double>(sum) / static_cast<double>(count); }

// Sums over the GPUs of a cohort, by step: what a GPU is compared with is the mean of the others, since its
// own lateness would hide a part of itself, of two GPUs half.
class StepSums {
 public:
  explicit StepSums(const Cohort& cohort)
      : own_(cohort.steps.size(), 0), kernel_(own_), gap_(own_), start_(own_), ranks_(cohort.ranks) {
    for (const CohortMember& member : cohort.members)
      for (const CohortMember::Step& step : member.steps) {
        own_[step.step] += step.own_ns();
        kernel_[step.step] += step.kernel_ns;
        gap_[step.step] += step.gap_ns - step.waiting_ns;
        start_[step.step] += step.start_gap_ns;
      }
  }

  // How much more than the mean of the others a GPU has of each; 0 where it is alone.
  double OwnExcess(const CohortMember::Step& step) const { return Excess(own_, step.step, step.own_ns()); }
  double KernelExcess(const CohortMember::Step& step) const {
    return Excess(kernel_, step.step, step.kernel_ns);
  }
  double GapExcess(const CohortMember::Step& step) const {
    return Excess(gap_, step.step, step.gap_ns - step.waiting_ns);
  }
  double StartExcess(const CohortMember::Step& step) const {
    return Excess(start_, step.step, step.start_gap_ns);
  }

 private:
  double Excess(const std::vector<int64_t>& sums, size_t step, int64_t value) const {
    const int64_t others = ranks_[step] - 1;
    if (others < 1) return 0;
    return static_cast<double>(value) - static_cast<double>(sums[step] - value) / static_cast<double>(others);
  }

  std::vector<int64_t> own_, kernel_, gap_, start_;
  const std::vector<int64_t>& ranks_;
};

void AddMember(const KernelSequence& sequence, const CohortMember& member, const Cohort& cohort,
               const StepSums& sums, RankRow& row, std::vector<RankStepRow>& steps) {
  double own = 0, excess = 0, kernel = 0, gap = 0, start = 0, waiting = 0;
  for (const CohortMember::Step& step : member.steps) {
    RankStepRow& of_step = steps.emplace_back();
    of_step.rank = sequence.rank;
    of_step.device = sequence.device;
    of_step.step = cohort.steps[step.step];
    of_step.own_ns = step.own_ns();
    of_step.excess_ns = sums.OwnExcess(step);
    of_step.kernel_ns = step.kernel_ns;
    of_step.gap_ns = step.gap_ns - step.waiting_ns;
    of_step.start_gap_ns = step.start_gap_ns;
    of_step.waiting_ns = step.waiting_ns;
    of_step.blocks = step.blocks;
    own += static_cast<double>(of_step.own_ns);
    excess += of_step.excess_ns;
    kernel += static_cast<double>(of_step.kernel_ns);
    gap += static_cast<double>(of_step.gap_ns);
    start += static_cast<double>(of_step.start_gap_ns);
    waiting += static_cast<double>(of_step.waiting_ns);
  }
  const auto count = static_cast<double>(member.steps.size());
  row.own_ns = own / count;
  row.excess_ns = excess / count;
  row.kernel_ns = kernel / count;
  row.gap_ns = gap / count;
  row.start_gap_ns = start / count;
  row.waiting_ns = waiting / count;
  int64_t delay = 0, delays = 0;
  for (size_t p = 0; p < cohort.length; ++p) {
    if (sequence.communication[p]) continue;
    delay += member.delay[p];
    delays += member.delays[p];
  }
  if (delays > 0) row.delay_ns = MeanOver(delay, static_cast<size_t>(delays));
}

// The step in which the last GPU is farthest behind the others, and who is last, first and in the middle in
// it.
JitterRow JitterOf(const Cohort& cohort, int64_t number, std::span<const KernelSequence> sequences,
                   const StepSums& sums, std::optional<double> step_ns) {
  JitterRow row;
  row.cohort = number;
  row.peers = static_cast<int64_t>(cohort.members.size());
  row.kernels_per_step = static_cast<int64_t>(cohort.length);
  struct Entry {
    double excess;
    size_t member;
    const CohortMember::Step* step;
  };
  std::vector<std::vector<Entry>> by_step(cohort.steps.size());
  for (size_t m = 0; m < cohort.members.size(); ++m)
    for (const CohortMember::Step& step : cohort.members[m].steps)
      by_step[step.step].push_back({sums.OwnExcess(step), m, &step});
  std::optional<size_t> worst;
  for (size_t s = 0; s < by_step.size(); ++s) {
    std::vector<Entry>& entries = by_step[s];
    if (entries.size() < 2) continue;
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.excess < b.excess; });
    ++row.steps;
    row.magnitude_ns += entries.back().excess;
    if (!worst || entries.back().excess > by_step[*worst].back().excess) worst = s;
  }
  if (!worst) return row;
  row.magnitude_ns /= static_cast<double>(row.steps);
  if (step_ns && *step_ns > 0) row.magnitude_share = row.magnitude_ns / *step_ns;
  const std::vector<Entry>& entries = by_step[*worst];
  row.worst_step = cohort.steps[*worst];
  row.worst_ns = entries.back().excess;
  const auto gpu_of = [&](const Entry& e) { return GpuOf(sequences[cohort.members[e.member].sequence]); };
  std::tie(row.max_rank, row.max_device) = gpu_of(entries.back());
  std::tie(row.min_rank, row.min_device) = gpu_of(entries.front());
  std::tie(row.typical_rank, row.typical_device) = gpu_of(entries[(entries.size() - 1) / 2]);
  const CohortMember::Step& last = *entries.back().step;
  row.kernel_excess_ns = sums.KernelExcess(last);
  row.gap_excess_ns = sums.GapExcess(last);
  row.start_excess_ns = sums.StartExcess(last);
  return row;
}

}  // namespace

const RelationOf<RankRow>& RankRelation() {
  static const auto relation =
      RelationOf<RankRow>("rank",
                          "Who each rank is, and how it compares with those that run the same kernels.")
          .Key("rank", &RankRow::rank, kRankNumber, "Rank.")
          .Key("device", &RankRow::device, Unit::kNone, "CUDA device ordinal.")
          .Column("profile", &RankRow::profile, kProfileNumber, "Number of its file.")
          .Column("node", &RankRow::node, Unit::kNone, "Number of its node, from 0, where known.")
          .Column("local_rank", &RankRow::local_rank, Unit::kNone, "Its number on the node, where known.")
          .Column("host", &RankRow::host, Unit::kText, "Name of the machine.")
          .Column("rank_source", &RankRow::rank_source, Unit::kText,
                  "Source of the rank: profile, environment, range, file name or order of files.")
          .Column("cohort", &RankRow::cohort, Unit::kNone,
                  "GPUs with the same number run the same kernels in a step; 0 are the most. Unknown without "
                  "steps that repeat.")
          .Column("peers", &RankRow::peers, Unit::kCount, "How many GPUs that are, itself included.")
          .Column("kernels_per_step", &RankRow::kernels_per_step, Unit::kCount, "Kernels of such a step.")
          .Column("steps", &RankRow::steps, Unit::kCount, "Steady steps that run them.")
          .Column("other_steps", &RankRow::other_steps, Unit::kCount, "Steady steps that run others.")
          .Column("missing_steps", &RankRow::missing_steps, Unit::kCount,
                  "Steps of its peers that it does not have.")
          .Column("not_compared", &RankRow::not_compared, Unit::kText,
                  "Why it is not compared with others; unknown where it is.")
          .Column("own_ns", &RankRow::own_ns, Unit::kNanoseconds,
                  "Mean per step of its local time, without collectives and waiting for them: start_gap_ns + "
                  "kernel_ns + gap_ns.")
          .Column("excess_ns", &RankRow::excess_ns, Unit::kNanoseconds,
                  "Mean over its steps of that minus the mean over the other GPUs.")
          .Column("kernel_ns", &RankRow::kernel_ns, Unit::kNanoseconds,
                  "Mean per step of kernel time, collectives left out.")
          .Column("gap_ns", &RankRow::gap_ns, Unit::kNanoseconds,
                  "Mean per step of gaps between these, in which no collective ran.")
          .Column("start_gap_ns", &RankRow::start_gap_ns, Unit::kNanoseconds,
                  "Mean per step of how much later than the first GPU it began, measured by the time to the "
                  "end of the last collective; 0 where there is none.")
          .Column("waiting_ns", &RankRow::waiting_ns, Unit::kNanoseconds,
                  "Mean per step of gaps in which a collective ran.")
          .Column("delay_ns", &RankRow::delay_ns, Unit::kNanoseconds,
                  "Mean time from launch to start of its kernels.", capability::kGpuWork);
  return relation;
}

const RelationOf<RankStepRow>& RankStepRelation() {
  static const auto relation =
      RelationOf<RankStepRow>("rank_step",
                              "What each GPU's steps consist of, where it is compared with others.")
          .Key("rank", &RankStepRow::rank, kRankNumber, "Rank.")
          .Key("device", &RankStepRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("step", &RankStepRow::step, kStepNumber, "Number of the step.")
          .Column("own_ns", &RankStepRow::own_ns, Unit::kNanoseconds,
                  "Local time: start_gap_ns + kernel_ns + gap_ns.")
          .Column("excess_ns", &RankStepRow::excess_ns, Unit::kNanoseconds,
                  "own_ns minus its mean over the other GPUs of the step.")
          .Column("kernel_ns", &RankStepRow::kernel_ns, Unit::kNanoseconds,
                  "Kernel time, collectives left out.")
          .Column("gap_ns", &RankStepRow::gap_ns, Unit::kNanoseconds,
                  "Gaps between these, in which no collective ran.")
          .Column("start_gap_ns", &RankStepRow::start_gap_ns, Unit::kNanoseconds,
                  "How much later than the first GPU it began.")
          .Column("waiting_ns", &RankStepRow::waiting_ns, Unit::kNanoseconds,
                  "Gaps in which a collective ran.")
          .Column("blocks", &RankStepRow::blocks, Unit::kCount,
                  "Thread blocks of its kernels, collectives left out.");
  return relation;
}

const RelationOf<JitterRow>& JitterRelation() {
  static const auto relation =
      RelationOf<JitterRow>("jitter", "How far the slowest GPU of each step is behind, by cohort.")
          .Key("cohort", &JitterRow::cohort, Unit::kNone, "Number of the cohort: see rank.cohort.")
          .Column("peers", &JitterRow::peers, Unit::kCount, "Its GPUs.")
          .Column("steps", &JitterRow::steps, Unit::kCount, "Steps that at least two of them have.")
          .Column("kernels_per_step", &JitterRow::kernels_per_step, Unit::kCount, "Kernels of a step.")
          .Column("magnitude_ns", &JitterRow::magnitude_ns, Unit::kNanoseconds,
                  "Mean over the steps of the slowest GPU's local time minus the mean over the others.")
          .Column("magnitude_share", &JitterRow::magnitude_share, Unit::kRatio, "Of the step.")
          .Column("worst_step", &JitterRow::worst_step, Unit::kNone, "Number of the step where it is most.")
          .Column("worst_ns", &JitterRow::worst_ns, Unit::kNanoseconds, "How much there.")
          .Column("max_rank", &JitterRow::max_rank, Unit::kNone, "Rank of the slowest GPU of that step.")
          .Column("max_device", &JitterRow::max_device, Unit::kNone, "Its device.")
          .Column("min_rank", &JitterRow::min_rank, Unit::kNone, "Rank of the fastest GPU of that step.")
          .Column("min_device", &JitterRow::min_device, Unit::kNone, "Its device.")
          .Column("typical_rank", &JitterRow::typical_rank, Unit::kNone,
                  "Rank of the median GPU of that step.")
          .Column("typical_device", &JitterRow::typical_device, Unit::kNone, "Its device.")
          .Column("kernel_excess_ns", &JitterRow::kernel_excess_ns, Unit::kNanoseconds,
                  "Of worst_ns, in kernels that take longer than the others' mean.")
          .Column("gap_excess_ns", &JitterRow::gap_excess_ns, Unit::kNanoseconds,
                  "Of worst_ns, in gaps between kernels: launches.")
          .Column("start_excess_ns", &JitterRow::start_excess_ns, Unit::kNanoseconds,
                  "Of worst_ns, before the first kernel.");
  return relation;
}

RankFacts ComputeRanks(std::span<const RankIdentity> identities, std::span<const Gpu> gpus,
                       std::span<const KernelSequence> sequences, std::span<const Cohort> cohorts,
                       std::optional<double> step_ns) {
  RankFacts facts;
  std::map<Gpu, RankRow> rows;
  for (const auto& [rank, device] : gpus) {
    RankRow& row = rows[{rank, device}];
    row.rank = rank;
    row.device = device;
    for (const RankIdentity& identity : identities)
      if (identity.rank == rank) {
        row.profile = identity.profile;
        row.node = identity.node;
        row.local_rank = identity.local_rank;
        row.host = identity.host;
        row.rank_source = identity.source;
      }
    row.not_compared = "no steps that repeat the same kernels";
  }
  for (size_t c = 0; c < cohorts.size(); ++c) {
    const Cohort& cohort = cohorts[c];
    const StepSums sums(cohort);
    for (const CohortMember& member : cohort.members) {
      const KernelSequence& sequence = sequences[member.sequence];
      RankRow& row = rows[GpuOf(sequence)];
      row.cohort = static_cast<int64_t>(c);
      row.peers = static_cast<int64_t>(cohort.members.size());
      row.kernels_per_step = static_cast<int64_t>(cohort.length);
      row.steps = static_cast<int64_t>(member.steps.size());
      row.other_steps = sequence.other_steps;
      row.missing_steps = std::max<int64_t>(
          0, static_cast<int64_t>(cohort.steps.size() - member.steps.size()) - sequence.other_steps);
      row.not_compared.reset();
      if (cohort.members.size() < 2 && gpus.size() > 1)
        row.not_compared = "no other GPU runs the same kernels";
      AddMember(sequence, member, cohort, sums, row, facts.steps);
    }
    if (cohort.members.size() >= 2)
      facts.jitter.push_back(JitterOf(cohort, static_cast<int64_t>(c), sequences, sums, step_ns));
  }
  for (auto& [gpu, row] : rows) facts.ranks.push_back(std::move(row));
  std::sort(facts.steps.begin(), facts.steps.end(), [](const RankStepRow& a, const RankStepRow& b) {
    return std::tuple(a.rank, a.device, a.step) < std::tuple(b.rank, b.device, b.step);
  });
  return facts;
}

std::vector<std::pair<int64_t, int64_t>> GpusOf(const RowsOfFleet<GpuRelation>& gpus) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const GpuRow& gpu : gpus.rows) pairs.emplace_back(gpu.rank, gpu.device);
  return pairs;
}

RankFacts RanksOfFleet(const OfFleet<RankIdentity>& identities, const RowsOfFleet<GpuRelation>& gpus,
                       const OfFleet<KernelSequence>& sequences, const std::vector<Cohort>& cohorts,
                       const RowsOfFleet<RunRelation>& run) {
  return ComputeRanks(identities.all, GpusOf(gpus), sequences.all, cohorts,
                      run.rows.empty() ? std::nullopt : run.rows[0].step_ns);
}

const Family& RankFamily() {
  static const Family family = FamilyOf(RankRelation(), &RankFacts::ranks);
  return family;
}

const Family& RankStepFamily() {
  static const Family family = FamilyOf(RankStepRelation(), &RankFacts::steps);
  return family;
}

const Family& JitterFamily() {
  static const Family family = FamilyOf(JitterRelation(), &RankFacts::jitter);
  return family;
}

}  // namespace dladvisor
