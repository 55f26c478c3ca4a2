// SPDX-License-Identifier: Apache-2.0
// Times that a program prints as a part of others, and requests that a server lists as it answers them.
#pragma once

#include <cstdint>
#include <string_view>

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

  ProgramWait data_, communication_;
  ProgramRequests requests_;  // that generate
  int64_t embeddings_ = 0;    // requests for these
  double embedding_ns_ = 0;   // that all of them took
};

}  // namespace dladvisor::training_log
