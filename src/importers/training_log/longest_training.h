// SPDX-License-Identifier: Apache-2.0
// A log that several trainings wrote one after the other.
#pragma once

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// Of a log that several trainings wrote one after the other, each from the first iteration of the log on: the
// longest and those of its pace. A mean over a training and a short one of another size is nobody's.
void KeepLongestTraining(TrainingLog& log);

}  // namespace dladvisor::training_log
