// SPDX-License-Identifier: Apache-2.0
// What the columns of a table of results are, by their names and what stands in them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"

namespace dladvisor::benchmark_log {

enum class Role { kSetting, kTime, kRate, kStatus, kIgnored };

// By the name alone, of a column of numbers.
Role RoleOfName(std::string_view name);
// A column of words is a setting, or says how a row went.
Role RoleOfWords(std::string_view name);
// A time that is of one batch, however many are measured.
bool IsTimeOfBatch(std::string_view name);
// A rate of batches, of which each is as much work as its batch.
bool IsRateOfBatches(std::string_view name);
// A rate that one of several users or devices has.
bool IsRateOfOne(std::string_view name);
// A load that each device has.
bool IsLoadOfDevice(std::string_view name);
// In how many pieces a batch is computed.
bool IsNumberOfPieces(std::string_view name);
// Names a profiler's column, of parts of one run.
bool IsOfProfile(std::string_view name);
// States in which the same is measured, of which none is a choice: "cold", "warm".
bool AreStates(const std::vector<std::string>& texts);
// One of several ways to do the same: "CPU Seq (s)", "eager".
bool IsWay(std::string_view text);

SettingKind KindOfSetting(const std::string& name, const std::vector<std::string>& cells);

}  // namespace dladvisor::benchmark_log
