// SPDX-License-Identifier: Apache-2.0
// The events of a Chrome trace that are of no kind PyTorch's profiler writes, kept as they are until the
// whole trace shows what wrote it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/string_pool.h"
#include "src/importers/kineto/event.h"

namespace dladvisor::kineto {

struct Span {
  char phase = 'X';  // 'X' a whole one; 'B' and 'E', 'b' and 'e' its ends; 's' and 't' those of an arrow
  Ns start = 0, duration = 0;
  NameId name = kNoName, category = kNoName, pid = kNoName, tid = kNoName;  // without quotes
  NameId id = kNoName;                                                      // of 'b', 'e', 's' and 't'
  // Of rocprof, kUnknown and kNoName in others: its exact times, the GPU and its stream, the process and the
  // thread that called, and with what.
  Ns exact_start = kUnknown, exact_end = kUnknown;
  int64_t device = kUnknown, stream = kUnknown;
  NameId calling_process = kNoName, calling_thread = kNoName, arguments = kNoName;
};

class Spans {
 public:
  // Keeps what has a time, a name and a length, or is an end of one.
  void Add(const Event& event, StringPool& names);
  // Appends those of a chunk, whose names become those of `map`.
  void Append(const std::vector<Span>& chunk, const std::vector<NameId>& map);
  void Clear() { all_ = {}; }

  const std::vector<Span>& all() const { return all_; }
  bool empty() const { return all_.empty(); }

 private:
  std::vector<Span> all_;
  std::string buffer_;  // scratch
};

}  // namespace dladvisor::kineto
