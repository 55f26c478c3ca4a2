// SPDX-License-Identifier: Apache-2.0
// The words for tables of single GPU operations, which are made of a report that holds more.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kGpuTableWords;

}  // namespace dladvisor
