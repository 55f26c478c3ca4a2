// SPDX-License-Identifier: Apache-2.0
// What rules ask of events most: how often something runs in a step, and how long it takes.
#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/context.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/family/family.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

constexpr size_t kMostSteps = 50, kMostNames = 20, kMostEvents = 200'000;  // of a rank and kind

struct NameStepRow {
  int64_t rank = 0;
  std::string kind, name;
  int64_t step = 0, calls = 0, total_ns = 0;
  double median_ns = 0, p90_ns = 0;
  int64_t max_ns = 0;
};

const RelationOf<NameStepRow>& NameStepRelation() {
  static const auto relation =
      RelationOf<NameStepRow>(
          "name_step",
          "Kernels, copies, CUDA API calls and ranges by name and step, where they begin: the 20 names of "
          "each "
          "kind "
          "with the most time, in the first 50 steady steps, or as many as hold 200,000 of the kind.")
          .Key("rank", &NameStepRow::rank, kRankNumber, "Rank.")
          .Key("kind", &NameStepRow::kind, Unit::kText, "kernel, copy, call or range.")
          .Key("name", &NameStepRow::name, Unit::kText,
               "Of a kernel without template arguments, of a copy its direction, of a call without version, "
               "of "
               "a range with step numbers replaced by #.")
          .Key("step", &NameStepRow::step, kStepNumber, "Step.")
          .Column("calls", &NameStepRow::calls, Unit::kCount, "How many begin in the step.")
          .Column("total_ns", &NameStepRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("median_ns", &NameStepRow::median_ns, Unit::kNanoseconds, "Median duration.")
          .Column("p90_ns", &NameStepRow::p90_ns, Unit::kNanoseconds,
                  "90th percentile of durations, between two of them linearly.")
          .Column("max_ns", &NameStepRow::max_ns, Unit::kNanoseconds, "Longest.");
  return relation;
}

struct NamedEvent {
  uint32_t name;  // of the kind
  uint32_t step;  // index into the steady steps
  int64_t duration;
};

// Of one rank and kind, names by name and step. `name_of` gives the name as it is shown.
template <class NameOf>
void AddRows(int64_t rank, const char* kind, std::span<const NamedEvent> events, std::span<const Step> steps,
             const NameOf& name_of, std::vector<NameStepRow>& rows) {
  std::map<uint32_t, std::string> shown;
  std::map<std::string, int64_t> total;
  for (const NamedEvent& event : events) {
    const auto [entry, is_new] = shown.try_emplace(event.name);
    if (is_new) entry->second = name_of(event.name);
    total[entry->second] += event.duration;
  }
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [name, ns] : total) order.emplace_back(-ns, name);
  std::ranges::sort(order);
  if (order.size() > kMostNames) order.resize(kMostNames);
  std::map<std::string, size_t> place;
  for (size_t i = 0; i < order.size(); ++i) place[order[i].second] = i;
  std::map<uint32_t, size_t> place_of;
  for (const auto& [id, name] : shown)
    if (const auto found = place.find(name); found != place.end()) place_of[id] = found->second;
  std::vector<std::vector<int64_t>> cells(order.size() * steps.size());
  for (const NamedEvent& event : events)
    if (const auto found = place_of.find(event.name); found != place_of.end())
      cells[found->second * steps.size() + event.step].push_back(event.duration);
  for (size_t i = 0; i < cells.size(); ++i) {
    std::vector<int64_t>& durations = cells[i];
    if (durations.empty()) continue;
    NameStepRow& row = rows.emplace_back();
    row.rank = rank;
    row.kind = kind;
    row.name = order[i / steps.size()].second;
    row.step = steps[i % steps.size()].number;
    row.calls = static_cast<int64_t>(durations.size());
    for (const int64_t duration : durations) row.total_ns += duration;
    row.max_ns = std::ranges::max(durations);
    row.p90_ns = Quantile(durations, 0.9);
    row.median_ns = Median(durations);
  }
}

// The events of the steps, as long as they are not too many. `start(i)` of the i-th of `count` in order;
// `add(i, step)` takes one.
template <class Start, class Add>
void ForEachInSteps(std::span<const Step> steps, size_t count, const Start& start, const Add& add) {
  size_t taken = 0, low = 0;
  for (uint32_t s = 0; s < steps.size() && taken < kMostEvents; ++s) {
    for (size_t high = count; low < high;) {
      const size_t middle = low + (high - low) / 2;
      start(middle) < steps[s].time.start ? low = middle + 1 : high = middle;
    }
    for (; low < count && start(low) < steps[s].time.end; ++low, ++taken) add(low, s);
  }
}

class NamesBySteps {
 public:
  explicit NamesBySteps(const Context& context) : context_(context), trace_(context.trace) {}

  std::vector<NameStepRow> Rows() {
    for (const auto& [rank, all] : context_.steps.by_rank) {
      std::vector<Step> steady;
      for (const Step& step : all)
        if (!step.warmup && steady.size() < kMostSteps) steady.push_back(step);
      AddRank(rank, steady);
    }
    return std::move(rows_);
  }

 private:
  void AddRank(int64_t rank, std::span<const Step> steps) {
    std::vector<NamedEvent> kernels, copies, calls, ranges;
    for (size_t gpu = 0; gpu < context_.ranks.gpus.size(); ++gpu) {
      if (context_.ranks.gpus[gpu].rank != rank) continue;
      Collect(context_.work[gpu].kernels, trace_.kernels, steps, kernels,
              [&](uint32_t k) { return trace_.kernels.short_name[k]; });
      Collect(context_.work[gpu].copies, trace_.copies, steps, copies,
              [&](uint32_t c) { return static_cast<uint32_t>(trace_.copies.direction[c]); });
    }
    const ApiCalls& api = trace_.api_calls;
    ForEachInSteps(
        steps, api.size(), [&](size_t i) { return api.start[i]; },
        [&](size_t i, uint32_t step) {
          if (context_.RankOfThread(api.thread[i]) == rank)
            calls.push_back({api.name[i], step, api.end[i] - api.start[i]});
        });
    const Ranges& all = trace_.ranges;
    ForEachInSteps(
        steps, all.size(), [&](size_t i) { return all.start[i]; },
        [&](size_t i, uint32_t step) {
          if (context_.RankOfThread(all.thread[i]) == rank && all.kind[i] != RangeKind::kMark && !all.open[i])
            ranges.push_back({context_.texts->IndexOf(all.name[i]), step, all.end[i] - all.start[i]});
        });
    AddRows(
        rank, "kernel", kernels, steps, [&](uint32_t name) { return std::string(trace_.names.View(name)); },
        rows_);
    AddRows(
        rank, "copy", copies, steps,
        [](uint32_t way) { return std::string(CopyDirectionName(static_cast<CopyDirection>(way))); }, rows_);
    AddRows(
        rank, "call", calls, steps,
        [&](uint32_t name) { return std::string(ApiBaseName(trace_.names.View(name))); }, rows_);
    AddRows(
        rank, "range", ranges, steps, [&](uint32_t text) { return context_.texts->MarkerAt(text).name; },
        rows_);
  }

  template <class Events, class Name>
  void Collect(std::span<const uint32_t> work, const Events& events, std::span<const Step> steps,
               std::vector<NamedEvent>& into, const Name& name) {
    ForEachInSteps(
        steps, work.size(), [&](size_t i) { return events.start[work[i]]; },
        [&](size_t i, uint32_t step) {
          const uint32_t event = work[i];
          into.push_back({name(event), step, events.end[event] - events.start[event]});
        });
  }

  const Context& context_;
  const Trace& trace_;
  std::vector<NameStepRow> rows_;
};

std::vector<NameStepRow> ComputeNameSteps(const Context& context) { return NamesBySteps(context).Rows(); }

}  // namespace

const Family& NameStepFamily() {
  static const Family family = FamilyOf(NameStepRelation(), ComputeNameSteps).Detail();
  return family;
}

}  // namespace dladvisor
