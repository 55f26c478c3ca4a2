// SPDX-License-Identifier: Apache-2.0
// What a saving is worth per day of the job: GPU-hours at their price, energy at the power that telemetry
// recorded.
#pragma once

#include <optional>
#include <string>

#include "src/report/model/report_model.h"

namespace dladvisor {

struct DaySaving {
  double low_gpu_hours = 0, high_gpu_hours = 0;
  std::optional<double> low_money, high_money;  // unknown without a price
  std::optional<double> low_kwh, high_kwh;      // unknown without power telemetry
};

// Of a job that runs all day at the pace of the profile, on all of its GPUs; nothing of what does not recur.
// Idle time saves the power of idle GPUs, all else their mean power.
std::optional<DaySaving> PerDay(const ReportModel& model, const SavingClaim& saves);

// "41.50 – 120.00 € and 3.1 – 10.4 kWh per day"; "" where neither is known.
std::string DayText(const ReportModel& model, const SavingClaim& saves);

// Of all buckets together, as TotalSavingText.
std::string TotalDayText(const ReportModel& model);

}  // namespace dladvisor
