// SPDX-License-Identifier: Apache-2.0
// The spans of time that a program marked itself, or a profiler of no known kind recorded: only their names
// say what passes in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/trace/events.h"

namespace dladvisor {

// As viewers of traces draw it: a thread of a process, or what the program shows as one.
struct SpanTrack {
  int64_t process = 0;  // number, the same for the tracks of one
  std::string process_name, name;
};

struct ProgramSpans {
  std::vector<Ns> start, end;
  std::vector<uint32_t> track;  // index into `tracks`
  std::vector<NameId> name;     // of Trace::names
  std::vector<SpanTrack> tracks;
  int64_t never_ended = 0;  // spans that begin and do not end

  size_t size() const { return start.size(); }
  bool empty() const { return start.empty(); }
};

}  // namespace dladvisor
