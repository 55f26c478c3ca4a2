// SPDX-License-Identifier: Apache-2.0
// Lines of Hugging Face's Trainer: its progress bar, of which all processes write one each, the losses that
// it prints, and the totals at the end. The bar prints whole seconds, so that a row here covers as many
// iterations as are needed for a meaningful time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class TrainerReader {
 public:
  void Line(std::string_view line);
  TrainingLog Finish();

 private:
  void Bar(std::string_view line);
  void Record(std::string_view line);

  TrainingLog log_;
  std::optional<int64_t> planned_;
  std::map<int64_t, int64_t> seconds_;  // by iteration: since the start, of the first process that says so
  struct Loss {
    std::optional<double> loss, learning_rate, grad_norm;
  };
  std::map<int64_t, Loss> losses_;
  int64_t last_ = 0;  // iteration of the last bar
};

}  // namespace dladvisor::training_log
