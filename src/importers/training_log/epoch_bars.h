// SPDX-License-Identifier: Apache-2.0
// Progress bars of which each is an epoch ("Epoch 1/60:  1%|#  | 5/445 [00:05<07:08,  1.03it/s, L=4.1]"),
// written many times while it goes on. Their clocks have whole seconds: a row covers as many steps as are
// needed for a time that is known well.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class EpochBarsReader {
 public:
  void Line(std::string_view line);
  TrainingLog Finish();

 private:
  void Heading(std::string_view line);
  void Add(int64_t done, int64_t seconds);

  TrainingLog log_;
  std::optional<int64_t> heading_;  // the epoch that the last line without a bar names
  std::optional<int64_t> epoch_;
  int64_t total_ = 0, before_ = 0;            // steps of the epoch, and of those before
  int64_t done_ = 0, seconds_ = 0;            // of the last row
  int64_t last_done_ = 0, last_seconds_ = 0;  // of the last bar
};

}  // namespace dladvisor::training_log
