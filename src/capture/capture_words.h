// SPDX-License-Identifier: Apache-2.0
// How a profiler is asked to record more. What can be recorded is known by the flag of Nsight Systems that
// asks for it, with which facts are declared; each importer gives the words of its profiler for the same.
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
  // Flags, and the profiler's options that supply the same.
  std::span<const std::pair<std::string_view, std::string_view>> options;
  // Which flags are the profiler's own, and stay as they are. All others it has no words for.
  bool (*is_own)(std::string_view flag);
  // What shows why a GPU idles, by itself and where calls, ranges and system calls are recorded already; ""
  // of logs, which hold no GPU work.
  std::string_view idle_causes, idle_causes_beyond_calls;
  // Whether it is of a framework and records its operators, which the report then lists.
  bool records_operators;
};

// The options of the profiler that supply what was declared, each once; flags whose values are lists are one.
std::vector<std::string> CaptureOptions(const std::vector<std::string>& declared, const CaptureWords& words);

}  // namespace dladvisor
