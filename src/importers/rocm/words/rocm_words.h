// SPDX-License-Identifier: Apache-2.0
// How AMD's profilers are asked to record more.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kRocprofV3Words, kRpdWords;

}  // namespace dladvisor
