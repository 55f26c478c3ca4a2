// SPDX-License-Identifier: Apache-2.0
// What torch.profiler.profile is asked for.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kKinetoWords;

}  // namespace dladvisor
