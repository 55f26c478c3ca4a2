// SPDX-License-Identifier: Apache-2.0
// The flags of `nsys profile`: those that facts are declared with.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kNsysWords;

}  // namespace dladvisor
