// SPDX-License-Identifier: Apache-2.0
// What the benchmarks share.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

namespace dladvisor {

// Seconds of the fastest of several runs.
double BestOf(int times, const std::function<void()>& work);

// rules_bench.cc
void MeasureRules();

// shape_bench.cc
void MeasureShapes(const std::filesystem::path& folder, int64_t kernels, int64_t events,
                   std::string_view only);
void WriteShape(std::string_view name, int64_t size, const std::filesystem::path& path);
void RunFloor(const std::filesystem::path& path);

// efficiency_bench.cc
void MeasureEfficiency(const std::filesystem::path& folder, int64_t kernels);

// fleet_bench.cc
void MeasureFleet(const std::filesystem::path& folder, int64_t ranks);

// hostile_bench.cc
void MeasureHostile();
void RunHostile(size_t number);

// gate_bench.cc
inline constexpr size_t kGatesOfALine = 4000;
void MeasureGate(const std::vector<std::filesystem::path>& profiles);
// Only the lines of metrics whose noise and setup hold that text, "Pareto" or "3 turns", of so many gates
// each.
void MeasureGateLines(std::string_view only, size_t gates);

}  // namespace dladvisor
