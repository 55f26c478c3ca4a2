// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/counters/gpu_metric.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/family/family.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

// Names differ by GPU and version: "SMs Active [Throughput %]", "SM Active", "SMs Active".
std::optional<std::string> KindOf(std::string_view metric) {
  struct Rule {
    const char* kind;
    RE2 pattern;
  };
  static const std::array<Rule, 12> rules = {{
      {"gr-active", RE2(R"((?i)^(gr|gpu) active)")},
      {"tensor-active", RE2(R"((?i)tensor.*active|tensor pipe)")},
      {"sm-active", RE2(R"((?i)^sms? active)")},
      {"sm-issue", RE2(R"((?i)^sms? (instructions )?issue)")},
      {"warp-occupancy", RE2(R"((?i)warps? (occupancy|in flight)|(compute|active) warps)")},
      {"dram-read", RE2(R"((?i)dram.*read|vram.*read)")},
      {"dram-write", RE2(R"((?i)dram.*write|vram.*write)")},
      {"pcie-rx", RE2(R"((?i)pcie rx)")},
      {"pcie-tx", RE2(R"((?i)pcie tx)")},
      {"nvlink-rx", RE2(R"((?i)nvlink rx)")},
      {"nvlink-tx", RE2(R"((?i)nvlink tx)")},
      {"gpc-clock", RE2(R"((?i)gpc clock)")},
  }};
  for (const Rule& rule : rules)
    if (RE2::PartialMatch(re2::StringPiece(metric.data(), metric.size()), rule.pattern)) return rule.kind;
  return std::nullopt;
}

}  // namespace

const RelationOf<GpuMetricRow>& GpuMetricRelation() {
  static const auto relation =
      RelationOf<GpuMetricRow>("gpu_metric",
                               "Sampled hardware counters, in the analysed window of the device; over the "
                               "whole profile where it runs nothing.")
          .Key("profile", &GpuMetricRow::profile, kProfileNumber, "Number of the file.")
          .Key("device", &GpuMetricRow::device, Unit::kNone,
               "CUDA device ordinal; unknown where it is not recorded.")
          .Key("metric", &GpuMetricRow::metric, Unit::kText, "Metric, as the profiler names it.")
          .Column("kind", &GpuMetricRow::kind, Unit::kText,
                  "gr-active, sm-active, sm-issue, tensor-active, warp-occupancy, dram-read, dram-write, "
                  "pcie-rx, pcie-tx, nvlink-rx, nvlink-tx, gpc-clock; unknown for others.")
          .Column("samples", &GpuMetricRow::samples, Unit::kCount, "Samples.")
          .Column("avg", &GpuMetricRow::avg, Unit::kNone, "Mean of the samples, in the metric's own unit.")
          .Column("active_avg", &GpuMetricRow::active_avg, Unit::kNone,
                  "Mean of the samples taken while the GPU was active; unknown without GR active.",
                  capability::kGpuMetrics)
          .Column("low", &GpuMetricRow::low, Unit::kNone, "5th percentile of those samples.",
                  capability::kGpuMetrics)
          .Column("high", &GpuMetricRow::high, Unit::kNone, "95th percentile of those samples.",
                  capability::kGpuMetrics)
          .Column("min", &GpuMetricRow::min, Unit::kNone, "Least.")
          .Column("max", &GpuMetricRow::max, Unit::kNone, "Most.");
  return relation;
}

std::vector<GpuMetricRow> ComputeGpuMetrics(const Context& context) {
  const Trace& trace = context.trace;
  const GpuMetrics& samples = trace.gpu_metrics;
  std::map<uint32_t, Interval> windows;
  for (size_t i = 0; i < context.ranks.gpus.size(); ++i) {
    const auto [window, is_new] = windows.try_emplace(context.ranks.gpus[i].device, context.windows[i]);
    if (is_new) continue;
    window->second.start = std::min(window->second.start, context.windows[i].start);
    window->second.end = std::max(window->second.end, context.windows[i].end);
  }
  const auto outside = [&](size_t i) {
    const auto window = windows.find(samples.device[i]);
    return window != windows.end() &&
           (samples.time[i] < window->second.start || samples.time[i] >= window->second.end);
  };
  std::map<NameId, std::optional<std::string>> kinds;
  std::set<std::pair<uint32_t, Ns>> active;  // when which device did something
  std::set<uint32_t> knows_active;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto [kind, is_new] = kinds.try_emplace(samples.metric[i]);
    if (is_new) kind->second = KindOf(trace.names.View(samples.metric[i]));
    if (kind->second != "gr-active") continue;
    knows_active.insert(samples.device[i]);
    if (samples.value[i] > 0) active.emplace(samples.device[i], samples.time[i]);
  }
  struct Values {
    GpuMetricRow row;
    std::vector<double> active;
  };
  std::map<std::pair<uint32_t, std::string_view>, Values> by_metric;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (outside(i)) continue;
    Values& values = by_metric[{samples.device[i], trace.names.View(samples.metric[i])}];
    GpuMetricRow& row = values.row;
    row.min = row.samples == 0 ? samples.value[i] : std::min(row.min, samples.value[i]);
    row.max = row.samples == 0 ? samples.value[i] : std::max(row.max, samples.value[i]);
    row.avg += samples.value[i];
    row.kind = kinds[samples.metric[i]];
    ++row.samples;
    if (active.contains({samples.device[i], samples.time[i]})) values.active.push_back(samples.value[i]);
  }
  std::vector<GpuMetricRow> rows;
  for (auto& [key, values] : by_metric) {
    GpuMetricRow& row = values.row;
    if (key.first != kNoIndex) row.device = trace.devices[key.first].ordinal;
    row.metric = key.second;
    row.avg /= static_cast<double>(row.samples);
    if (knows_active.contains(key.first) && !values.active.empty()) {
      std::sort(values.active.begin(), values.active.end());
      double sum = 0;
      for (const double value : values.active) sum += value;
      row.active_avg = sum / static_cast<double>(values.active.size());
      row.low = values.active[values.active.size() / 20];
      row.high = values.active[values.active.size() - 1 - values.active.size() / 20];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& GpuMetricFamily() {
  static const Family family = FamilyOf(GpuMetricRelation(), ComputeGpuMetrics);
  return family;
}

}  // namespace dladvisor
