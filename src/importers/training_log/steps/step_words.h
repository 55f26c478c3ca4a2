// SPDX-License-Identifier: Apache-2.0
// What words of a line say of its step, besides numbers.
#pragma once

#include <string_view>

namespace dladvisor::training_log {

// A line of an evaluation names it before its step.
bool NamesEvaluation(std::string_view line);

// "loss: nan" or "L=nan", of the training.
bool LosesItself(std::string_view line);

}  // namespace dladvisor::training_log
