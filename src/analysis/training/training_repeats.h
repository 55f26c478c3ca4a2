// SPDX-License-Identifier: Apache-2.0
// Work that a training does twice, as it goes on from a checkpoint before the point that it had come to.
#pragma once

#include <cstdint>
#include <vector>

#include "src/analysis/training/training_log.h"

namespace dladvisor {

// Iterations that lines of several starts cover, of which none begins at the first iteration: those are other
// trainings, or began anew.
int64_t RepeatedIterations(const std::vector<TrainingLogRow>& log);

}  // namespace dladvisor
