// SPDX-License-Identifier: Apache-2.0
// The numbers of a line with their names and units, as people write them: "iter: 20", "time=0.76 (0.69)",
// "Step 50/100000;", "Speed: 36.2 samples/sec", "4 sec".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor::training_log {

// kOther is of amounts: "3.0 M", "4.1 GB".
enum class Unit : uint8_t { kNone, kSeconds, kPerSecond, kSecondsEach, kSamples, kTokens, kOther };

// A number of a line with the words before it and its unit, both in lower case.
struct Value {
  std::string name;
  double number = 0;
  bool whole = false;
  Unit unit = Unit::kNone;
  double scale = 1;              // of the unit, to seconds
  std::optional<double> mean;    // "0.76 (0.69)"
  std::optional<int64_t> total;  // "50/100000"
  bool clock = false;            // "Time: 0:03:39", in seconds
};

// At most 64; of dates none, of clocks those that are named as a time since a start.
std::vector<Value> ValuesOf(std::string_view line);

// Of "11270/8704 tok/s", which are of sources and targets, both.
std::optional<double> TokensPerSecond(const Value& value);
// The first of the line.
std::optional<double> TokensPerSecond(std::string_view line);

}  // namespace dladvisor::training_log
