// SPDX-License-Identifier: Apache-2.0
// Texts that name results, as headings or names of lines: which settings they hold.
#pragma once

#include <string>
#include <vector>

#include "src/importers/benchmark_log/result_pairs.h"

namespace dladvisor::benchmark_log {

// For each text its settings. Where texts differ in numbers alone these are ("Batch size 8", "2 GPUs"); else
// the text is one, "variant" where all are ways to do the same, and "case" where they are not. None where all
// are the same.
std::vector<Pairs> SettingsOfTexts(const std::vector<std::string>& texts);

// Whether texts name ways to do the same, and no stages of it.
bool AreWays(const std::vector<std::string>& texts);

}  // namespace dladvisor::benchmark_log
