// SPDX-License-Identifier: Apache-2.0
// What torch.profiler.profile is asked for, and what the other profilers whose Chrome traces are read:
// rocprof, and TensorFlow's, which records all that it can.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kKinetoWords, kRocprofWords, kTimelineWords, kSpanTraceWords;

}  // namespace dladvisor
