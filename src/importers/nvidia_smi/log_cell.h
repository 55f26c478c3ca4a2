// SPDX-License-Identifier: Apache-2.0
// Cells of logs of nvidia-smi and of scripts like it: quantities and times.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor::nvidia_smi {

// Without blanks and quotes around it.
std::string_view TrimCell(std::string_view text);

// Between commas, trimmed; or the words between blanks.
std::vector<std::string_view> SplitAtCommas(std::string_view line);
// The same where quoted cells may hold commas and lines: of these the first.
std::vector<std::string_view> SplitCsv(std::string_view row);
std::vector<std::string_view> SplitAtBlanks(std::string_view line);

struct Quantity {
  double number = 0;
  std::string_view unit;  // as written: "MiB", "%", "" where there is none
};
// "1129 MiB", "33.09W", "0x0000000000000004"; "Active" is 1 and "Not Active" 0. Nothing for "[N/A]",
// "[Not Supported]", "-" and all else that is not a number.
std::optional<Quantity> ParseQuantity(std::string_view text);

// Whether the cell says that there is no value, in place of being damaged.
bool IsAbsent(std::string_view text);

// What a number in this unit is to be multiplied with for the base unit; nothing for an unknown unit. Tools
// that write MB mean MiB: the driver counts so.
std::optional<double> FactorOfUnit(std::string_view unit);

// A date and time, in ns since 1970.
struct Time {
  Ns ns = 0;
  bool utc = false;  // else of an unknown time zone
};
// "2024/01/02 03:04:05.678", "2024-01-02T03:04:05Z", "...+01:00", "Tue Jan  6 16:47:43 2026", seconds since
// 1970 (also in ms, µs, ns), or since the start of the log.
std::optional<Time> ParseTime(std::string_view text);

}  // namespace dladvisor::nvidia_smi
