// SPDX-License-Identifier: Apache-2.0
// What words of a line say of its step and of its numbers.
#pragma once

#include <initializer_list>
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

// "loss: nan" or "L=nan", of the training.
bool LosesItself(std::string_view line);

}  // namespace dladvisor::training_log
