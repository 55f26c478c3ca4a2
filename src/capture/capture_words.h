// SPDX-License-Identifier: Apache-2.0
// How a profiler is asked to record more: for each capability (capability.h) the words of that profiler.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor {

struct CaptureWords {
  std::string_view format;  // Trace::format
  // By capability the options that supply it, apart by spaces where they begin with "--". Their order is that
  // of a command line. What is not named here the profiler cannot record.
  std::span<const std::pair<std::string_view, std::string_view>> options;
  // What shows why a GPU idles, by itself and where calls, ranges and system calls are recorded already; ""
  // of logs, which hold no GPU work.
  std::string_view idle_causes, idle_causes_beyond_calls;
  // Why there may be no GPU work in a profile; "" of logs.
  std::string_view no_gpu_work;
  // Whether it is of a framework and records its operators, which the report then lists.
  bool records_operators;
};

// The options of the profiler that supply capabilities, as MergeOptions() gives them.
std::vector<std::string> CaptureOptions(const std::vector<std::string>& capabilities,
                                        const CaptureWords& words);

// Each option once, in the order of the words; a flag that is given several values lists them:
// "--trace=cuda,nvtx", "--trace=osrt" -> "--trace=cuda,nvtx,osrt".
std::vector<std::string> MergeOptions(const std::vector<std::string>& options, const CaptureWords& words);

}  // namespace dladvisor
