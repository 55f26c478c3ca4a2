// SPDX-License-Identifier: Apache-2.0
// What torch.profiler.profile is asked for, and what the other profilers whose Chrome traces are read:
// rocprof, TensorFlow's, which records all that it can, and tools that show GPU work by names.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kKinetoWords, kRocprofWords, kTimelineWords, kGpuTraceWords, kSpanTraceWords;

}  // namespace dladvisor
