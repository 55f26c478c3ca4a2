// SPDX-License-Identifier: Apache-2.0
// Times that a program prints as a part of others, and requests that a server lists as it answers them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class ProgramFiguresReader {
 public:
  // Whether the line tells of a wait, which shows that the program goes on.
  bool Line(std::string_view line);
  void AddTo(ProgramOutput& output) const;

 private:
  bool TakeWait(std::string_view line);
  void TakeRequest(std::string_view line);
  void TakeLoad(std::string_view line);
  void AddTimes(ProgramRequests& requests) const;

  ProgramWait data_, communication_;
  ProgramRequests requests_;  // that generate
  int64_t embeddings_ = 0;    // requests for these
  double embedding_ns_ = 0;   // that all of them took
  struct Load {
    int64_t layers = 0, on_gpu = 0;
  };
  std::optional<Load> load_;                        // of the model that generates
  std::vector<std::pair<int64_t, int64_t>> times_;  // when each begins and ends
};

}  // namespace dladvisor::training_log
