// SPDX-License-Identifier: Apache-2.0
// No flag of a profiler makes a server print more.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kServingLogWords;

}  // namespace dladvisor
