// SPDX-License-Identifier: Apache-2.0
// What words of a line say of its step and of its numbers.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "src/importers/training_log/lines/line_values.h"

namespace dladvisor::training_log {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names);

// The last word of the name, too: "12 INFO Step" ends with one.
bool Ends(std::string_view name, std::initializer_list<std::string_view> names);

// Whether the number may count something.
bool Counts(const Value& value);

// "batch" may be its size, too, where another word counts steps.
bool IsBatch(const Value& value);
bool IsStep(const Value& value);
bool IsEpoch(const Value& value);

// A line of an evaluation names it before its step.
bool NamesEvaluation(std::string_view line);

// "tokens_per_second_per_gpu", "train/samples_per_sec": of what the regular expression `counted` matches.
bool IsRateInWords(const std::string& name, const char* counted);

// "timestamp": 1717000000.123, seconds or milliseconds since 1970: between 2001 and 2033, in seconds.
std::optional<double> InstantOf(const Value& value);

// "loss: nan" or "L=nan", of the training.
bool LosesItself(std::string_view line);

}  // namespace dladvisor::training_log
