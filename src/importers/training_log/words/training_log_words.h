// SPDX-License-Identifier: Apache-2.0
// No flag of a profiler makes a program print more.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kTrainingLogWords;
extern const CaptureWords kProgramLogWords;
extern const CaptureWords kSummaryWords;

}  // namespace dladvisor
