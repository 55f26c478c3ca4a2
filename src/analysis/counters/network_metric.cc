// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/counters/network_metric.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<NetworkMetricRow>& NetworkMetricRelation() {
  static const auto relation =
      RelationOf<NetworkMetricRow>("network_metric",
                                   "Sampled counters of network adapters, over the whole profile.")
          .Key("profile", &NetworkMetricRow::profile, kProfileNumber, "Number of the file.")
          .Key("adapter", &NetworkMetricRow::adapter, Unit::kText, "Adapter; empty where it is not known.")
          .Key("metric", &NetworkMetricRow::metric, Unit::kText, "Metric, as the profiler names it.")
          .Column("samples", &NetworkMetricRow::samples, Unit::kCount, "Samples.")
          .Column("avg", &NetworkMetricRow::avg, Unit::kNone, "Mean, in the metric's own unit.")
          .Column("max", &NetworkMetricRow::max, Unit::kNone, "Most.");
  return relation;
}

std::vector<NetworkMetricRow> ComputeNetworkMetrics(const Context& context) {
  const Trace& trace = context.trace;
  const NetworkMetrics& samples = trace.network_metrics;
  std::map<std::pair<std::string_view, std::string_view>, NetworkMetricRow> by_metric;
  for (size_t i = 0; i < samples.size(); ++i) {
    NetworkMetricRow& row =
        by_metric[{trace.names.View(samples.adapter[i]), trace.names.View(samples.metric[i])}];
    row.max = row.samples == 0 ? samples.value[i] : std::max(row.max, samples.value[i]);
    row.avg += samples.value[i];
    ++row.samples;
  }
  std::vector<NetworkMetricRow> rows;
  for (auto& [key, row] : by_metric) {
    row.adapter = key.first;
    row.metric = key.second;
    row.avg /= static_cast<double>(row.samples);
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& NetworkMetricFamily() {
  static const Family family = FamilyOf(NetworkMetricRelation(), ComputeNetworkMetrics);
  return family;
}

}  // namespace dladvisor
