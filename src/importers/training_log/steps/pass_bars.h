// SPDX-License-Identifier: Apache-2.0
// The bar that pytorch-cifar draws, and what copied it: " [====>...]  Step: 45ms | Tot: 45s885ms | Loss: 0.5
// | Acc: 90.000% (45000/50000) 391/391", the count in the middle of the bar where a terminal wrote it. A bar
// is a pass over all batches, of the training or of the evaluation behind it. Its time begins at the end of
// the first batch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class PassBarsReader {
 public:
  void Line(std::string_view line);
  TrainingLog Finish();

 private:
  struct Bar {
    int64_t done = 0, total = 0;
    double seconds = 0;
    std::optional<double> loss;
  };

  void Draw(const Bar& bar);
  void EndPass();

  TrainingLog log_;
  std::optional<Bar> bar_;             // the last of the pass that goes on
  std::optional<int64_t> heading_;     // the epoch that a line names, until a pass begins
  bool headings_ = false;              // that epochs have such lines
  bool trains_ = false;                // the pass that goes on
  std::optional<int64_t> last_epoch_;  // of the last pass of the training
  int64_t total_ = 0, before_ = 0;     // batches of such a pass, and of all passes before
  int64_t attempt_ = 0;
};

}  // namespace dladvisor::training_log
