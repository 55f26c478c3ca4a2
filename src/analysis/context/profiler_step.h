// SPDX-License-Identifier: Apache-2.0
// Steps as the PyTorch profiler's own viewers cut them, which differ from ours (step_detection.h): all steps
// count, warm-up too, and a step may end with the host.
//
// A step is a range "ProfilerStep#N". It begins with its range, but not before the GPU has finished what the
// step before launched, and ends with its range or with the last GPU work launched within it, whichever is
// later. The first one does not begin before work from before the profile has ended. Of several steps the
// last ones are left out where they launched nothing, and then one that launched less than 80 % of the one
// before: the profiler stopped before its kernels ended. (PyTorch TensorBoard plugin, tb_plugin of
// github.com/pytorch/kineto: event_parser.py, StepParser.)
//
// Without such ranges our own steps stand for them where ranges mark those, but for steps of inference
// servers, and without steps all that the host recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

struct ProfilerStep {
  int64_t number = 0;
  Interval host;  // its range
  Interval time;  // as above
};

struct ProfilerSteps {
  int64_t rank = 0;
  uint32_t process = kNoIndex;
  std::vector<ProfilerStep> steps;  // in order of time, at least one
};

// Of each rank; of a profile without GPU work of each process, as ranks from 0 on.
std::vector<ProfilerSteps> FindProfilerSteps(const Context& context);

// These ranges alone, by process, in order of start.
std::vector<std::vector<ProfilerStep>> ProfilerStepRanges(const Trace& trace);

// Whether the name is that of such a range, and of which step.
std::optional<int64_t> ProfilerStepNumber(std::string_view name);
// By name id.
std::vector<std::optional<int64_t>> ProfilerStepNumbers(const Trace& trace);

}  // namespace dladvisor
