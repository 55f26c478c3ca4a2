// SPDX-License-Identifier: Apache-2.0
// Commands whose times a tool compares: whether they are ways to do the same.
#pragma once

#include <string>
#include <vector>

namespace dladvisor::benchmark_log {

// Whether they differ in nothing but how they do it: "train.py --workers 4", "infer.py --compile". Other
// programs, files, sizes and numbers of steps are other work.
bool AreWaysToDoTheSame(const std::vector<std::string>& commands);

}  // namespace dladvisor::benchmark_log
