// SPDX-License-Identifier: Apache-2.0
// Launches of kernels that Nsight Compute measured, as lines tell of them; put together by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/importers/nsight_compute/kernel_metrics.h"
#include "src/trace/summary_table.h"

namespace dladvisor::nsight_compute {

struct MetricCell {
  Metric metric = Metric::kDuration;
  std::string unit, value;
};

// Of one launch, or of several of one kernel that are printed as one.
struct Launch {
  std::string name;
  std::string grid, block;  // "32, 32, 1", "" where the first line does not say
  int64_t count = 1;
  std::vector<MetricCell> cells;  // averages, where it is of several
  std::vector<ProfilerMessage> messages;
  bool has_metrics = false;  // be they read or not

  bool empty() const { return !has_metrics && messages.empty(); }
};

// Of one process.
struct Launches {
  std::string id, process;  // its number and its name
  std::vector<Launch> all;
};

// A row for each kernel, as they come. `comma_is_point` as ValueOf() takes it.
SummaryTable TableOf(const Launches& launches, bool comma_is_point);

}  // namespace dladvisor::nsight_compute
