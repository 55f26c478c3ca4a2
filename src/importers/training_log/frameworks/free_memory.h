// SPDX-License-Identifier: Apache-2.0
// What a training holds of GPUs' memory where its log says what is free of it.
#pragma once

#include <vector>

#include "src/trace/trace.h"

namespace dladvisor::training_log {

// Of GPUs that are alike; nothing of others, nor where the log says what is held.
void GiveMemoryOfFree(const std::vector<Device>& devices, TrainingLog& log);

}  // namespace dladvisor::training_log
