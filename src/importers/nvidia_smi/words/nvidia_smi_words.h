// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi is asked for.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kNvidiaSmiWords;

}  // namespace dladvisor
