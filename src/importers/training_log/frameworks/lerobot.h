// SPDX-License-Identifier: Apache-2.0
// Lines of LeRobot's training: "step:1.2K smpl:77K ep:45 epch:1.58 loss:0.281 grdn:12.345 lr:3.0e-05
// updt_s:0.081 data_s:0.001". Times are means since the line before. Numbers of steps are rounded from a
// thousand on, so that lines count: each is as many steps behind the one before as the first two are apart.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class LeRobotReader {
 public:
  bool Line(std::string_view line);
  TrainingLog Finish();

 private:
  TrainingLog log_;
  int64_t interval_ = 0;
};

}  // namespace dladvisor::training_log
