// SPDX-License-Identifier: Apache-2.0
// The GPU models that the program knows: rules/hardware.yaml, from which the build generates the source.
#pragma once

#include "src/hardware/hardware.h"

namespace dladvisor {

const Hardware& BuiltInHardware();

}  // namespace dladvisor
