// SPDX-License-Identifier: Apache-2.0
// Which API call launched which GPU operation.
#pragma once

#include "src/analysis/context/context.h"

namespace dladvisor {

// Joined on (process, correlation): correlation ids repeat between processes. Of several calls with one id
// (a runtime call and the driver call inside it) the first counts.
Launches FindLaunches(const Trace& trace);

}  // namespace dladvisor
