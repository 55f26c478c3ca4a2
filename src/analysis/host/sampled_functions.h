// SPDX-License-Identifier: Apache-2.0
// What samples of the host's stacks show a program in.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/trace/intervals.h"
#include "src/trace/trace.h"

namespace dladvisor {

struct SampledFunction {
  std::string name = {};
  int64_t samples = 0;
};

struct SampledFunctions {
  int64_t samples = 0, threads = 0;             // of all
  std::vector<SampledFunction> functions = {};  // the most sampled first
};

// Of the samples of the threads in a time, but of those threads that have fewer than a tenth of the busiest
// one's. Each counts for the innermost function of the program on its
// stack, and where none has a name for the library that it is in.
SampledFunctions FindSampledFunctions(const Trace& trace, Interval time,
                                      const std::function<bool(uint32_t thread)>& is_wanted);

// The three of them with most samples, of those with a twentieth and more: "drand (45 %), fill (20 %)"; ""
// where there is none.
std::string FunctionsText(const SampledFunctions& sampled);
// Of these the first, and the others with a fifth and more: what tells what the program does.
std::string LeadingFunctionsText(const SampledFunctions& sampled);

}  // namespace dladvisor
