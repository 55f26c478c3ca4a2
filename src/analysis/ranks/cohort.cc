// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/cohort.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

void Resize(Cohort::Sums& sums, size_t size) {
  for (auto* column : {&sums.duration, &sums.gap, &sums.waiting, &sums.delay, &sums.delays})
    column->assign(size, 0);
}

void Add(const Cohort::Sums& from, Cohort::Sums& to) {
  const auto add = [](const std::vector<int64_t>& a, std::vector<int64_t>& b) {
    for (size_t i = 0; i < a.size(); ++i) b[i] += a[i];
  };
  add(from.duration, to.duration);
  add(from.gap, to.gap);
  add(from.waiting, to.waiting);
  add(from.delay, to.delay);
  add(from.delays, to.delays);
}

// Adds a member's cells to the sums, and its own rows.
void AddMember(const KernelSequence& sequence, const Cohort& cohort, Cohort::Sums& sums,
               CohortMember& member) {
  const size_t length = sequence.length();
  for (auto* column : {&member.duration, &member.gap, &member.waiting, &member.delay, &member.delays})
    column->assign(length, 0);
  for (const KernelSequence::Step& step : sequence.steps) {
    CohortMember::Step row;
    row.step = static_cast<size_t>(std::lower_bound(cohort.steps.begin(), cohort.steps.end(), step.number) -
                                   cohort.steps.begin());
    row.to_sync_ns = step.to_sync_ns;
    row.blocks = step.blocks;
    member.steps.push_back(row);
  }
  CellColumns columns(sequence);
  // Calls visit(value, its cell of the sums, position, row) for each of the next column.
  const auto for_each = [&](auto visit) {
    const std::vector<int64_t>& column = columns.Next();
    for (size_t s = 0; s < member.steps.size(); ++s)
      for (size_t p = 0; p < length; ++p)
        visit(column[s * length + p], member.steps[s].step * length + p, p, member.steps[s]);
  };
  for_each([&](int64_t duration, size_t cell, size_t p, CohortMember::Step& row) {
    sums.duration[cell] += duration;
    member.duration[p] += duration;
    if (!sequence.communication[p]) row.kernel_ns += duration;
  });
  for_each([&](int64_t gap, size_t cell, size_t p, CohortMember::Step& row) {
    sums.gap[cell] += gap;
    member.gap[p] += gap;
    row.gap_ns += gap;
  });
  for_each([&](int64_t waiting, size_t cell, size_t p, CohortMember::Step& row) {
    sums.waiting[cell] += waiting;
    member.waiting[p] += waiting;
    row.waiting_ns += waiting;
  });
  for_each([&](int64_t delay, size_t cell, size_t p, CohortMember::Step&) {
    if (delay < 0) return;
    sums.delay[cell] += delay;
    ++sums.delays[cell];
    member.delay[p] += delay;
    ++member.delays[p];
  });
}

void FindStartGaps(Cohort& cohort) {
  std::vector<std::optional<int64_t>> longest(cohort.steps.size());
  for (const CohortMember& member : cohort.members)
    for (const CohortMember::Step& step : member.steps)
      if (step.to_sync_ns)
        longest[step.step] = std::max(longest[step.step].value_or(*step.to_sync_ns), *step.to_sync_ns);
  for (CohortMember& member : cohort.members)
    for (CohortMember::Step& step : member.steps)
      if (step.to_sync_ns) step.start_gap_ns = *longest[step.step] - *step.to_sync_ns;
}

}  // namespace

std::vector<Cohort> FormCohorts(std::span<const KernelSequence> sequences) {
  std::map<std::pair<uint64_t, size_t>, Cohort> by_sequence;
  for (size_t i = 0; i < sequences.size(); ++i) {
    Cohort& cohort = by_sequence[{sequences[i].fingerprint, sequences[i].length()}];
    cohort.fingerprint = sequences[i].fingerprint;
    cohort.length = sequences[i].length();
    cohort.members.emplace_back().sequence = i;
  }
  std::vector<Cohort> cohorts;
  for (auto& [key, cohort] : by_sequence) {
    std::set<int64_t> steps;
    for (const CohortMember& member : cohort.members)
      for (const KernelSequence::Step& step : sequences[member.sequence].steps) steps.insert(step.number);
    cohort.steps.assign(steps.begin(), steps.end());
    const auto of = [&](const CohortMember& member) -> const KernelSequence& {
      return sequences[member.sequence];
    };
    std::sort(cohort.members.begin(), cohort.members.end(),
              [&](const CohortMember& a, const CohortMember& b) {
                return std::tuple(of(a).rank, of(a).device, a.sequence) <
                       std::tuple(of(b).rank, of(b).device, b.sequence);
              });
    const size_t parts = std::min(ThreadCount(), cohort.members.size());
    std::vector<Cohort::Sums> sums(parts);
    ParallelFor(parts, [&, &cohort = cohort](size_t part) {
      Resize(sums[part], cohort.steps.size() * cohort.length);
      for (size_t m = part; m < cohort.members.size(); m += parts)
        AddMember(of(cohort.members[m]), cohort, sums[part], cohort.members[m]);
    });
    cohort.sums = std::move(sums[0]);
    for (size_t part = 1; part < parts; ++part) Add(sums[part], cohort.sums);
    cohort.ranks.assign(cohort.steps.size(), 0);
    for (const CohortMember& member : cohort.members)
      for (const CohortMember::Step& step : member.steps) ++cohort.ranks[step.step];
    FindStartGaps(cohort);
    cohorts.push_back(std::move(cohort));
  }
  std::sort(cohorts.begin(), cohorts.end(), [&](const Cohort& a, const Cohort& b) {
    const int64_t rank_a = sequences[a.members[0].sequence].rank,
                  rank_b = sequences[b.members[0].sequence].rank;
    return a.members.size() != b.members.size() ? a.members.size() > b.members.size() : rank_a < rank_b;
  });
  return cohorts;
}

std::vector<Cohort> CohortsOfFleet(const OfFleet<KernelSequence>& sequences) {
  return FormCohorts(sequences.all);
}

}  // namespace dladvisor
