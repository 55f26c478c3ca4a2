// SPDX-License-Identifier: Apache-2.0
// Lines of Megatron-LM and what is built on it (Megatron-DeepSpeed, GPT-NeoX): iterations, timers, memory of
// ranks, its StragglerDetector. Several may stand on one line, where ranks print at once.
#pragma once

#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class MegatronReader {
 public:
  // Whether the line reports iterations.
  bool Line(std::string_view line);

  // Ends the log: works out what its lines cover. `interval` is that of the arguments, where they have it.
  TrainingLog Finish(std::optional<int64_t> interval);

  int64_t skipped_lines() const { return skipped_lines_; }

 private:
  enum class Block { kNone, kTimers, kRanks };

  void Iteration(std::string_view before, std::string_view text);
  void Timers(std::string_view text);
  void Memory(std::string_view head, std::string_view text);
  void Extremes(std::string_view text);
  bool BlockLine(std::string_view line);
  void Event(TrainingEventKind kind);
  void AddTimer(TrainingTimer timer);

  TrainingLog log_;
  Block block_ = Block::kNone;
  std::string task_;         // that prints the block, "" where lines do not name theirs
  std::string block_timer_;  // whose ranks follow
  size_t first_timer_ = 0;   // of the last row of iterations
  int64_t skipped_lines_ = 0;
};

}  // namespace dladvisor::training_log
