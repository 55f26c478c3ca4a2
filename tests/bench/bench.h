// SPDX-License-Identifier: Apache-2.0
// What the benchmarks share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

namespace dladvisor {

// Seconds of the fastest of several runs.
double BestOf(int times, const std::function<void()>& work);

// rules_bench.cc
void MeasureRules();

// trace_bench.cc
void MeasureTrace(const std::filesystem::path& folder, int64_t events);

// fleet_bench.cc
void MeasureFleet(const std::filesystem::path& folder, int64_t ranks);

// gate_bench.cc
void MeasureGate(const std::vector<std::filesystem::path>& profiles);

}  // namespace dladvisor
