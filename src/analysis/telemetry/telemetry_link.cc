// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/telemetry/telemetry_link.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/ranks/rank_correlation.h"

namespace dladvisor {
namespace {

struct Observation {
  double duration = 0, value = 0;
};

std::vector<Observation> ObservationsOf(std::span<const StepTelemetryRow> steps,
                                        const TelemetryColumn& column, int64_t& used) {
  std::vector<Observation> observations;
  for (size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
    Observation sum;
    double count = 0, first = 0;
    for (; end < steps.size() && steps[end].first_sample == steps[begin].first_sample &&
           steps[end].samples == steps[begin].samples;
         ++end) {
      const auto& value = steps[end].*column.value;
      if (!value) continue;
      sum.duration += static_cast<double>(steps[end].duration_ns);
      if (count == 0) first = *value;
      sum.value += *value - first;
      ++count;
    }
    if (count == 0) continue;
    used += static_cast<int64_t>(count);
    observations.push_back({sum.duration / count, first + sum.value / count});
  }
  return observations;
}

TelemetryLinkRow LinkOf(std::vector<Observation> observations) {
  TelemetryLinkRow row;
  row.observations = static_cast<int64_t>(observations.size());
  std::vector<double> durations, values;
  for (const Observation& o : observations) {
    durations.push_back(o.duration);
    values.push_back(o.value);
  }
  if (const auto correlation = Spearman(durations, values)) {
    row.rho = correlation->rho;
    row.probability = correlation->probability;
  }
  std::ranges::stable_sort(observations, {}, &Observation::duration);
  const size_t quarter = std::max<size_t>(observations.size() / 4, 1);
  const auto share = 1.0 / static_cast<double>(quarter);
  for (size_t i = 0; i < quarter; ++i) {
    const Observation &fast = observations[i], &slow = observations[observations.size() - 1 - i];
    row.fast_step_ns += fast.duration * share;
    row.fast_mean += fast.value * share;
    row.slow_step_ns += slow.duration * share;
    row.slow_mean += slow.value * share;
  }
  return row;
}

}  // namespace

const RelationOf<TelemetryLinkRow>& TelemetryLinkRelation() {
  using Row = TelemetryLinkRow;
  static const auto relation =
      RelationOf<Row>(
          "telemetry_link",
          "Whether a GPU's steps are slow when nvidia-smi shows something else of it: per metric, "
          "the slowest quarter of steps against the fastest, and rank correlation.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Key("metric", &Row::metric, Unit::kText, "Metric: a column of step_telemetry.")
          .Column("steps", &Row::steps, Unit::kCount, "Steps of which it is known.")
          .Column("observations", &Row::observations, Unit::kCount,
                  "The same, but steps in a row between the same samples count as one, with their mean time.")
          .Column("slow_step_ns", &Row::slow_step_ns, Unit::kNanoseconds,
                  "Mean time of the slowest quarter of these.")
          .Column("fast_step_ns", &Row::fast_step_ns, Unit::kNanoseconds, "Mean time of the fastest quarter.")
          .Column("slow_mean", &Row::slow_mean, Unit::kNone,
                  "Mean of the metric in the slowest quarter, in its unit.")
          .Column("fast_mean", &Row::fast_mean, Unit::kNone, "Mean in the fastest quarter.")
          .Column("rho", &Row::rho, Unit::kNone,
                  "Spearman's rank correlation of the metric with the time of steps, from -1 to 1; unknown "
                  "where it never changes, or of fewer than 4.")
          .Column("probability", &Row::probability, Unit::kNone,
                  "That chance alone correlates them as much, either way: Student's t, times the metrics of "
                  "all GPUs that were looked at. It takes one step for independent of the next.");
  return relation;
}

std::vector<TelemetryLinkRow> LinkTelemetry(std::span<const StepTelemetryRow> steps) {
  std::vector<TelemetryLinkRow> rows;
  for (size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
    while (end < steps.size() && steps[end].rank == steps[begin].rank &&
           steps[end].device == steps[begin].device)
      ++end;
    for (const TelemetryColumn& column : TelemetryColumns()) {
      int64_t used = 0;
      std::vector<Observation> observations = ObservationsOf(steps.subspan(begin, end - begin), column, used);
      if (observations.size() < 2) continue;
      TelemetryLinkRow row = LinkOf(std::move(observations));
      row.rank = steps[begin].rank;
      row.device = steps[begin].device;
      row.metric = TelemetryMetricName(column.metric);
      row.steps = used;
      rows.push_back(std::move(row));
    }
  }
  const auto tests = static_cast<double>(
      std::ranges::count_if(rows, [](const TelemetryLinkRow& row) { return row.probability.has_value(); }));
  for (TelemetryLinkRow& row : rows)
    if (row.probability) row.probability = std::min(1.0, *row.probability * tests);
  return rows;
}

const Family& TelemetryLinkFamily() {
  static const Family family = FamilyOf(
      TelemetryLinkRelation(), [](const StepTelemetry& joined) { return LinkTelemetry(joined.steps); });
  return family;
}

}  // namespace dladvisor
