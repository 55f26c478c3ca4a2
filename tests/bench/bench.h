// What the benchmarks share.
#pragma once

#include <functional>

namespace dladvisor {

// Seconds of the fastest of several runs.
double BestOf(int times, const std::function<void()>& work);

// rules_bench.cc
void MeasureRules();

}  // namespace dladvisor
