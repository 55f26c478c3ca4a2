// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/dashboard.h"

#include "src/report/sections/log_section.h"
#include "src/report/sections/telemetry_section.h"

namespace dladvisor {
namespace {

constexpr std::string_view kPerformance[] = {"wall_clock_time",
                                             "gpu_span",
                                             "gpu_utilization",
                                             "mfu",
                                             "speed_of_light",
                                             "tensor_core_efficiency",
                                             "total_iterations",
                                             "profiled_iterations",
                                             "start_iteration",
                                             "stop_iteration",
                                             "average_iteration_time",
                                             "idle_power",
                                             "mean_power"};
constexpr std::string_view kSystem[] = {"gpu_count", "gpu_names",    "cpu_model", "driver_version",
                                        "framework", "cuda_version", "profiler"};

}  // namespace

std::span<const std::string_view> PerformanceFigures() { return kPerformance; }
std::span<const std::string_view> SystemFigures() { return kSystem; }

std::vector<const Figure*> ShownFigures(const ReportModel& model, std::span<const std::string_view> ids) {
  const bool of_log = TelemetryAlone(model) != nullptr || IsProgramsLogAlone(model);
  std::vector<const Figure*> shown;
  for (const std::string_view id : ids)
    if (const Figure* figure = FindFigure(model, id);
        figure != nullptr && !(IsNull(figure->value) && (of_log || id.ends_with("_power"))))
      shown.push_back(figure);
  return shown;
}

}  // namespace dladvisor
