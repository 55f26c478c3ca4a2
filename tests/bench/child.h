// SPDX-License-Identifier: Apache-2.0
// A run of the program itself, observed from outside.
#pragma once

#include <sys/resource.h>

#include <functional>
#include <string>
#include <vector>

namespace dladvisor {

struct ChildRun {
  double seconds = 0;            // from start to end
  double cpu_seconds = 0;        // of all its threads
  double peak_anonymous_mb = 0;  // most memory that belongs to no file
};

// In user and kernel mode.
double CpuSeconds(const rusage& usage);
// Of this process, all threads together: values are computed side by side.
double OwnCpuSeconds();
// That of the run that took least.
double LeastCpu(int times, const std::function<void()>& work);

enum class ChildOutput { kShown, kDropped };

// Runs this program again with `arguments`. Throws Error where it does not end well.
ChildRun RunChild(const std::vector<std::string>& arguments, ChildOutput output = ChildOutput::kShown);

}  // namespace dladvisor
