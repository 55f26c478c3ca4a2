// SPDX-License-Identifier: Apache-2.0
// The words for nvprof, and for what to record with in its place.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kNvprofWords;

}  // namespace dladvisor
