// SPDX-License-Identifier: Apache-2.0
// What jax.profiler and tf.profiler are asked for.
#pragma once

#include "src/capture/capture_words.h"

namespace dladvisor {

extern const CaptureWords kXlaWords;

}  // namespace dladvisor
