// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/straggler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/ranks/persistence.h"
#include "src/capture/capability.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// Chance that is worth looking for further stragglers behind the one found; and how many at most.
constexpr double kByChance = 0.01;
constexpr size_t kMostFound = 16;
// The spread of the others can be measured with three GPUs or more.
constexpr size_t kFewestForSpread = 4;
// Of a straggling node three quarters of its GPUs are late by half of what the node is.
constexpr double kShareOfNode = 0.75, kLateAsNode = 0.5;

// The local time of each member (item) by step (round).
WorstItems OwnTimes(const Cohort& cohort) {
  WorstItems own(cohort.members.size(), cohort.steps.size());
  for (size_t m = 0; m < cohort.members.size(); ++m)
    for (const CohortMember::Step& step : cohort.members[m].steps)
      own.Set(m, step.step, static_cast<double>(step.own_ns()));
  return own;
}

// An item's median from `first` to `last`; nothing where it took no part.
std::optional<double> MedianOf(const WorstItems& items, size_t item, size_t first, size_t last) {
  std::vector<double> values;
  for (size_t round = first; round <= last; ++round)
    if (!std::isnan(items.At(item, round))) values.push_back(items.At(item, round));
  if (values.empty()) return std::nullopt;
  return Median(values);
}

// What the found one is compared with in each round: the median of the others.
std::vector<double> BaseOf(const WorstItems& values, const WorstItems& excess, size_t found) {
  std::vector<double> base;
  for (size_t round = 0; round < values.rounds(); ++round)
    base.push_back(values.At(found, round) - excess.At(found, round));
  return base;
}

// The median over the found one's rounds of how far an item lies above what that is compared with.
std::optional<double> AboveBase(const WorstItems& values, const std::vector<double>& base, size_t item,
                                const Persistence& found) {
  std::vector<double> above;
  for (size_t round = found.first; round <= found.last; ++round)
    if (const double value = values.At(item, round) - base[round]; !std::isnan(value)) above.push_back(value);
  if (above.empty()) return std::nullopt;
  return Median(above);
}

// Without the steps at either end in which it is not late by half of what it is in most: of few peers one is
// the slowest now and then.
Persistence Trimmed(const WorstItems& items, Persistence found) {
  const double late = MedianOf(items, found.item, found.first, found.last).value_or(0) / 2;
  const auto is_late = [&](size_t round) { return items.At(found.item, round) >= late; };
  while (found.first < found.last && !is_late(found.first)) ++found.first;
  while (found.last > found.first && !is_late(found.last)) --found.last;
  found.rounds = found.worst = 0;
  for (size_t round = found.first; round <= found.last; ++round) {
    found.rounds += !std::isnan(items.At(found.item, round));
    found.worst += items.IsAmongWorst(found.item, round, found.among);
  }
  return found;
}

StragglerRow RowOf(const Cohort& cohort, const WorstItems& values, const WorstItems& excess,
                   const Persistence& found, std::optional<double> step_ns) {
  StragglerRow row;
  row.first_step = cohort.steps[found.first];
  row.last_step = cohort.steps[found.last];
  row.steps = found.rounds;
  row.slowest_steps = found.worst;
  row.among = static_cast<int64_t>(found.among);
  for (size_t item = 0; item < excess.items(); ++item)
    row.peers += MedianOf(excess, item, found.first, found.last).has_value();
  row.probability = found.probability;
  const double late = MedianOf(excess, found.item, found.first, found.last).value_or(0);
  row.excess_ns = std::llround(late);
  if (step_ns && *step_ns > 0) row.excess_share = late / *step_ns;
  const std::vector<double> base = BaseOf(values, excess, found.item);
  std::vector<double> others;
  for (size_t item = 0; item < values.items(); ++item)
    if (item != found.item)
      if (const auto above = AboveBase(values, base, item, found)) others.push_back(*above);
  if (!others.empty()) row.runner_up_ns = std::llround(std::ranges::max(others));
  if (others.size() >= kFewestForSpread - 1)
    row.spread_ns = std::llround(kDeviationPerMad * MedianAbsoluteDeviation(others));
  return row;
}

// Where the cumulative excess begins to rise to its peak.
size_t FirstDiverging(const std::vector<double>& cumulative, size_t peak) {
  const auto crossing = [&](double share) {  // the last position before the peak from which it stays above
    size_t at = peak;
    while (at > 0 && cumulative[at - 1] > share * cumulative[peak]) --at;
    return static_cast<double>(at);
  };
  const double tenth = crossing(0.1), half = crossing(0.5), nothing = crossing(0.01);
  return static_cast<size_t>(std::max(nothing, tenth - (half - tenth) * 0.1 / 0.4));
}

// Of a GPU in the steps in which it is late, beside the mean of the others that have them.
struct Excess {
  explicit Excess(size_t length)
      : kernels(length, 0),
        gaps(length, 0),
        usual(length, 0),
        delay(length, 0),
        delays(length, 0),
        others_delay(length, 0),
        others_delays(length, 0) {}

  double steps = 0, late_start = 0, own_kernels = 0, others_kernels = 0;
  std::vector<double> kernels, gaps;                               // in all steps, by position
  std::vector<double> usual;                                       // mean duration of the others
  std::vector<double> delay, delays, others_delay, others_delays;  // sums and their numbers
  std::vector<double> blocks_ratio;                                // by step
};

// Adds step `s` of the GPU, its number `at` among all, of which `others` other GPUs have it, too.
void AddStep(const KernelSequence& sequence, const KernelSequence::Cells& cells, const Cohort& cohort,
             size_t s, size_t at, double others, Excess& excess) {
  const size_t length = cohort.length;
  for (size_t p = 0; p < length; ++p) {
    const size_t own = s * length + p, all = at * length + p;
    if (sequence.communication[p]) continue;
    const auto duration = static_cast<double>(cells.duration[own]);
    const auto gap = static_cast<double>(cells.gap[own] - cells.waiting[own]);
    const double mean = (static_cast<double>(cohort.sums.duration[all]) - duration) / others;
    const double mean_gap =
        (static_cast<double>(cohort.sums.gap[all] - cohort.sums.waiting[all]) - gap) / others;
    excess.kernels[p] += duration - mean;
    excess.gaps[p] += gap - mean_gap;
    excess.usual[p] += mean;
    excess.own_kernels += duration;
    excess.others_kernels += mean;
    if (cells.delay[own] >= 0) {
      excess.delay[p] += static_cast<double>(cells.delay[own]);
      ++excess.delays[p];
    }
    const int64_t known = cells.delay[own] >= 0;
    excess.others_delay[p] += static_cast<double>(cohort.sums.delay[all] - (known ? cells.delay[own] : 0));
    excess.others_delays[p] += static_cast<double>(cohort.sums.delays[all] - known);
  }
}

Excess ExcessOf(const KernelSequence& sequence, const Cohort& cohort, const CohortMember& member,
                const Persistence& found) {
  Excess excess(cohort.length);
  const KernelSequence::Cells cells = DecodeCells(sequence);
  double start = 0, others_start = 0, others_starts = 0;
  std::map<size_t, std::pair<double, double>> blocks;  // by step, sum over the others and their number
  for (const CohortMember& other : cohort.members) {
    if (&other == &member) continue;
    for (const CohortMember::Step& step : other.steps) {
      if (step.step < found.first || step.step > found.last) continue;
      others_start += static_cast<double>(step.start_gap_ns);
      ++others_starts;
      blocks[step.step].first += static_cast<double>(step.blocks);
      ++blocks[step.step].second;
    }
  }
  for (size_t s = 0; s < member.steps.size(); ++s) {
    const CohortMember::Step& step = member.steps[s];
    const auto others = static_cast<double>(cohort.ranks[step.step] - 1);
    if (step.step < found.first || step.step > found.last || others < 1) continue;
    ++excess.steps;
    start += static_cast<double>(step.start_gap_ns);
    if (const auto& [sum, count] = blocks[step.step]; count > 0 && sum > 0)
      excess.blocks_ratio.push_back(static_cast<double>(step.blocks) / (sum / count));
    AddStep(sequence, cells, cohort, s, step.step, others, excess);
  }
  if (excess.steps > 0 && others_starts > 0)
    excess.late_start = start / excess.steps - others_start / others_starts;
  return excess;
}

void ExplainShares(const Excess& excess, StragglerRow& row) {
  const size_t length = excess.kernels.size();
  double kernel_ns = 0, gap_ns = 0;
  for (size_t p = 0; p < length; ++p) {
    kernel_ns += excess.kernels[p] / excess.steps;
    gap_ns += excess.gaps[p] / excess.steps;
  }
  if (const double total = kernel_ns + gap_ns + excess.late_start; total > 0) {
    row.kernel_share = kernel_ns / total;
    row.gap_share = gap_ns / total;
    row.start_share = excess.late_start / total;
  }
  if (excess.others_kernels <= 0) return;
  row.kernel_ratio = excess.own_kernels / excess.others_kernels;
  double slower = 0;  // kernel time of the positions that are slower by half of what all are, or more
  for (size_t p = 0; p < length; ++p)
    if (excess.usual[p] > 0 && excess.kernels[p] / excess.usual[p] >= (*row.kernel_ratio - 1) / 2)
      slower += excess.usual[p];
  if (*row.kernel_ratio > 1) row.slower_share = slower / excess.others_kernels;
}

void ExplainBlocks(const std::vector<double>& ratios, StragglerRow& row) {
  if (ratios.empty()) return;
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += ratio;
  mean /= static_cast<double>(ratios.size());
  for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
  row.blocks_ratio = mean;
  row.blocks_variation = std::sqrt(squares / static_cast<double>(ratios.size()));
}

// From which kernel to which one it falls behind, and how late the kernels between are launched.
void ExplainPlace(const KernelSequence& sequence, const Excess& excess, StragglerRow& row) {
  const size_t length = excess.kernels.size();
  std::vector<double> cumulative(length, 0);
  double sum = excess.late_start;
  for (size_t p = 0; p < length; ++p)
    cumulative[p] = sum += (excess.kernels[p] + excess.gaps[p]) / excess.steps;
  const auto peak =
      static_cast<size_t>(std::max_element(cumulative.begin(), cumulative.end()) - cumulative.begin());
  if (cumulative.empty() || cumulative[peak] <= 0) return;
  const size_t first = FirstDiverging(cumulative, peak);
  row.first_position = static_cast<int64_t>(first);
  row.first_kernel = sequence.names[first];
  row.peak_position = static_cast<int64_t>(peak);
  row.peak_ns = std::llround(cumulative[peak]);
  double own_delay = 0, own_delays = 0, their_delay = 0, their_delays = 0;
  for (size_t p = first; p <= peak; ++p) {  // each by what is lost in the gap before it
    const double gap = excess.gaps[p];
    if (gap <= 0 || excess.delays[p] == 0 || excess.others_delays[p] == 0) continue;
    own_delay += gap * excess.delay[p] / excess.delays[p];
    own_delays += gap;
    their_delay += gap * excess.others_delay[p] / excess.others_delays[p];
    their_delays += gap;
  }
  if (own_delays > 0) row.delay_ns = std::llround(own_delay / own_delays);
  if (their_delays > 0) row.others_delay_ns = std::llround(their_delay / their_delays);
}

// What makes a GPU late in the steps first to last, compared with the mean of the others that have them.
void Explain(const KernelSequence& sequence, const Cohort& cohort, const CohortMember& member,
             const Persistence& found, StragglerRow& row) {
  const Excess excess = ExcessOf(sequence, cohort, member, found);
  if (excess.steps == 0) return;
  ExplainShares(excess, row);
  ExplainBlocks(excess.blocks_ratio, row);
  ExplainPlace(sequence, excess, row);
}

// The columns that GPUs and nodes have alike, after those that name them.
void AddSharedColumns(RelationOf<StragglerRow>& r) {
  r.Key("first_step", &StragglerRow::first_step, Unit::kNone, "Number of the first step in which it is late.")
      .Column("last_step", &StragglerRow::last_step, Unit::kNone, "Number of the last one.")
      .Column("steps", &StragglerRow::steps, Unit::kCount, "Steps from the first to the last.")
      .Column("slowest_steps", &StragglerRow::slowest_steps, Unit::kCount,
              "Of those, in which it is among the slowest.")
      .Column("among", &StragglerRow::among, Unit::kCount,
              "How many these are: 1 where it is the slowest of all, more where others are late as well.")
      .Column("peers", &StragglerRow::peers, Unit::kCount,
              "How many run the same kernels in these steps, itself included.")
      .Column("probability", &StragglerRow::probability, Unit::kNone,
              "That chance alone makes one of them the slowest so often: exact binomial, corrected for all "
              "that were looked at.")
      .Column("excess_ns", &StragglerRow::excess_ns, Unit::kNanoseconds,
              "Median over these steps of its local time per step minus the median of the others.")
      .Column("excess_share", &StragglerRow::excess_share, Unit::kRatio, "Of the median step.")
      .Column("spread_ns", &StragglerRow::spread_ns, Unit::kNanoseconds,
              "How far the others lie apart (1.4826 x median absolute deviation); unknown with fewer than "
              "three others.")
      .Column("runner_up_ns", &StragglerRow::runner_up_ns, Unit::kNanoseconds,
              "How far the slowest of the others lies above that median in these steps: what remains without "
              "it.");
}

// Nodes that are late as a whole; what their GPUs are late by together is subtracted from their local times
// in `own`, so that a GPU's excess is only how late it is beyond its node.
std::vector<StragglerRow> FindNodes(const Cohort& cohort, std::span<const std::optional<int64_t>> node_of,
                                    std::optional<double> step_ns, WorstItems& own) {
  std::map<int64_t, std::vector<size_t>> by_node;
  for (size_t m = 0; m < cohort.members.size(); ++m)
    if (const auto node = node_of[cohort.members[m].sequence]) by_node[*node].push_back(m);
  std::erase_if(by_node, [](const auto& node) { return node.second.size() < 2; });
  std::vector<StragglerRow> rows;
  if (by_node.size() < 2) return rows;
  const std::vector<std::pair<int64_t, std::vector<size_t>>> nodes(by_node.begin(), by_node.end());
  WorstItems of_nodes(nodes.size(), cohort.steps.size());
  for (size_t n = 0; n < nodes.size(); ++n)
    for (size_t s = 0; s < cohort.steps.size(); ++s) {
      std::vector<double> values;
      for (const size_t m : nodes[n].second)
        if (!std::isnan(own.At(m, s))) values.push_back(own.At(m, s));
      if (!values.empty()) of_nodes.Set(n, s, Median(values));
    }
  for (size_t found = 0; found < kMostFound; ++found) {
    const WorstItems excess = of_nodes.ExcessOverOthers();
    const auto worst = of_nodes.Find();
    if (!worst || (worst->probability > kByChance && found > 0)) break;
    const auto& [node, gpus] = nodes[worst->item];
    StragglerRow row = RowOf(cohort, of_nodes, excess, Trimmed(excess, *worst), step_ns);
    row.node = node;
    const std::vector<double> base = BaseOf(of_nodes, excess, worst->item);
    size_t late = 0;
    for (const size_t m : gpus)
      late += AboveBase(own, base, m, *worst).value_or(0) >= kLateAsNode * static_cast<double>(row.excess_ns);
    if (row.excess_ns > 0 && static_cast<double>(late) >= kShareOfNode * static_cast<double>(gpus.size())) {
      rows.push_back(row);
      if (worst->probability <= kByChance)
        for (const size_t m : gpus)
          for (size_t s = worst->first; s <= worst->last; ++s)
            own.Set(m, s, own.At(m, s) - static_cast<double>(row.excess_ns));  // absent ones stay so
    }
    of_nodes.Exclude(worst->item, worst->first, worst->last);
    if (worst->probability > kByChance) break;
  }
  return rows;
}

std::vector<StragglerRow> FindGpus(const Cohort& cohort, std::span<const KernelSequence> sequences,
                                   std::span<const std::optional<int64_t>> node_of,
                                   std::optional<double> step_ns, WorstItems own) {
  std::vector<StragglerRow> rows;
  for (size_t found = 0; found < kMostFound; ++found) {
    const WorstItems excess = own.ExcessOverOthers();
    const auto worst = own.Find();
    if (!worst || (worst->probability > kByChance && found > 0)) break;
    const CohortMember& member = cohort.members[worst->item];
    const KernelSequence& sequence = sequences[member.sequence];
    const Persistence found_in = Trimmed(excess, *worst);
    StragglerRow row = RowOf(cohort, own, excess, found_in, step_ns);
    row.rank = sequence.rank;
    row.device = sequence.device;
    row.node = node_of[member.sequence];
    Explain(sequence, cohort, member, found_in, row);
    rows.push_back(std::move(row));
    own.Exclude(worst->item, worst->first, worst->last);
    if (worst->probability > kByChance) break;
  }
  return rows;
}

}  // namespace

const RelationOf<StragglerRow>& StragglerRelation() {
  static const auto relation = [] {
    RelationOf<StragglerRow> r("straggler",
                               "GPUs that may set the pace of all others: those most often the slowest of "
                               "their like.");
    r.Key("rank", &StragglerRow::rank, kRankNumber, "Rank.")
        .Key("device", &StragglerRow::device, Unit::kNone, "CUDA device ordinal.");
    AddSharedColumns(r);
    r.Column("node", &StragglerRow::node, Unit::kNone, "Its node, where known.")
        .Column("kernel_share", &StragglerRow::kernel_share, Unit::kRatio,
                "Share of its excess in kernels that take longer than the others' mean.")
        .Column("gap_share", &StragglerRow::gap_share, Unit::kRatio,
                "Share of it in gaps between kernels, in which no collective ran.")
        .Column("start_share", &StragglerRow::start_share, Unit::kRatio,
                "Share of it before its first kernel of the step.")
        .Column("kernel_ratio", &StragglerRow::kernel_ratio, Unit::kRatio,
                "Its kernel time over that of the others, collectives left out.")
        .Column("slower_share", &StragglerRow::slower_share, Unit::kRatio,
                "Share of the kernel time in kernels that are slower by at least half of that.")
        .Column("blocks_ratio", &StragglerRow::blocks_ratio, Unit::kRatio,
                "Thread blocks of its kernels over those of the others: above 1 it has more work.")
        .Column("blocks_variation", &StragglerRow::blocks_variation, Unit::kRatio,
                "Standard deviation over the steps of the same.")
        .Column("first_position", &StragglerRow::first_position, Unit::kNone,
                "Position in the step's kernel sequence, from 0, where it begins to fall behind.")
        .Column("first_kernel", &StragglerRow::first_kernel, Unit::kText, "The kernel there.")
        .Column("peak_position", &StragglerRow::peak_position, Unit::kNone,
                "Position where it is farthest behind.")
        .Column("peak_ns", &StragglerRow::peak_ns, Unit::kNanoseconds, "How far, over the mean.")
        .Column("delay_ns", &StragglerRow::delay_ns, Unit::kNanoseconds,
                "Mean time from launch to start of its kernels between the two, each by how much longer the "
                "gap before it is: near the launch latency nothing is queued.",
                capability::kGpuWork)
        .Column("others_delay_ns", &StragglerRow::others_delay_ns, Unit::kNanoseconds,
                "The same of the others.", capability::kGpuWork);
    return r;
  }();
  return relation;
}

const RelationOf<StragglerRow>& StragglingNodeRelation() {
  static const auto relation = [] {
    RelationOf<StragglerRow> r("straggling_node",
                               "Nodes that may set the pace: by the median excess of their GPUs.");
    r.Key("node", &StragglerRow::node, Unit::kNone, "Number of the node.");
    AddSharedColumns(r);
    return r;
  }();
  return relation;
}

Stragglers FindStragglers(std::span<const KernelSequence> sequences, std::span<const Cohort> cohorts,
                          std::span<const std::optional<int64_t>> node_of, std::optional<double> step_ns) {
  Stragglers result;
  for (const Cohort& cohort : cohorts) {
    if (cohort.members.size() < 2) continue;
    WorstItems own = OwnTimes(cohort);
    for (StragglerRow& row : FindNodes(cohort, node_of, step_ns, own)) result.nodes.push_back(std::move(row));
    for (StragglerRow& row : FindGpus(cohort, sequences, node_of, step_ns, std::move(own)))
      result.ranks.push_back(std::move(row));
  }
  return result;
}

Stragglers StragglersOfFleet(const OfFleet<RankIdentity>& identities,
                             const OfFleet<KernelSequence>& sequences, const std::vector<Cohort>& cohorts,
                             const RowsOfFleet<RunRelation>& run) {
  std::vector<std::optional<int64_t>> node_of;
  for (const KernelSequence& sequence : sequences.all) {
    const auto identity = std::ranges::find(identities.all, sequence.rank, &RankIdentity::rank);
    node_of.push_back(identity == identities.all.end() ? std::nullopt : identity->node);
  }
  return FindStragglers(sequences.all, cohorts, node_of,
                        run.rows.empty() ? std::nullopt : run.rows[0].step_ns);
}

const Family& StragglerFamily() {
  static const Family family = FamilyOf(StragglerRelation(), &Stragglers::ranks);
  return family;
}

const Family& StragglingNodeFamily() {
  static const Family family = FamilyOf(StragglingNodeRelation(), &Stragglers::nodes);
  return family;
}

}  // namespace dladvisor
