// SPDX-License-Identifier: Apache-2.0
// How long a server has no request: from when it is ready, and between lines of its load that are further
// apart than while it works. vLLM prints none while nothing runs, and before that one that says so; SGLang
// prints for batches alone, and says of one that reads a prompt what runs beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/trace/serving_progress.h"

namespace dladvisor::serving_log {

class IdleTimesReader {
 public:
  // A start, which ends what ran before it.
  void Starts(int64_t time);
  void Ready(int64_t time);
  // Of any line of the server.
  void Line(int64_t time);
  struct Load {
    int64_t time = 0;
    std::string engine;
    bool none_left = false;       // nothing runs or waits when it is printed,
    bool none_before = false;     // or ran when the batch that it tells of began
    bool nothing_passed = false;  // since the line before, either
    bool reads_long = false;      // a prompt that takes a while
  };
  void Add(Load load);
  // Adds what is known.
  void Finish(ServingLog& log) const;

 private:
  struct Run {
    std::optional<int64_t> began, ready;
    int64_t first = 0, last = 0;
    std::vector<Load> loads;
  };
  int64_t UsualDistance() const;
  static int64_t IdleOf(const Run& run, int64_t usual);

  std::vector<Run> runs_;
};

}  // namespace dladvisor::serving_log
