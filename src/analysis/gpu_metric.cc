#include "src/analysis/gpu_metric.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {

const RelationOf<GpuMetricRow>& GpuMetricRelation() {
  static const auto relation =
      RelationOf<GpuMetricRow>(
          "gpu_metric", "Sampled hardware counters (nsys --gpu-metrics-devices), over the whole profile.")
          .Key("device", &GpuMetricRow::device, Unit::kNone,
               "CUDA device ordinal; unknown where the profile does not tell.")
          .Key("metric", &GpuMetricRow::metric, Unit::kText, "Metric, as the profiler names it.")
          .Column("samples", &GpuMetricRow::samples, Unit::kCount, "Samples.")
          .Column("avg", &GpuMetricRow::avg, Unit::kNone, "Mean of the samples.")
          .Column("min", &GpuMetricRow::min, Unit::kNone, "Least.")
          .Column("max", &GpuMetricRow::max, Unit::kNone, "Most.");
  return relation;
}

std::vector<GpuMetricRow> ComputeGpuMetrics(const Context& context) {
  const Trace& trace = context.trace;
  const GpuMetrics& samples = trace.gpu_metrics;
  std::map<std::pair<uint32_t, std::string_view>, GpuMetricRow> by_metric;
  for (size_t i = 0; i < samples.size(); ++i) {
    GpuMetricRow& row = by_metric[{samples.device[i], trace.names.View(samples.metric[i])}];
    row.min = row.samples == 0 ? samples.value[i] : std::min(row.min, samples.value[i]);
    row.max = row.samples == 0 ? samples.value[i] : std::max(row.max, samples.value[i]);
    row.avg += samples.value[i];
    ++row.samples;
  }
  std::vector<GpuMetricRow> rows;
  for (auto& [key, row] : by_metric) {
    if (key.first != kNoIndex) row.device = trace.devices[key.first].ordinal;
    row.metric = key.second;
    row.avg /= static_cast<double>(row.samples);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace dladvisor
