// SPDX-License-Identifier: Apache-2.0
// What CPUs did: samples of call stacks and context switches (nsys --sample, --cpuctxsw).
#pragma once

#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

void ReadCpu(Context& context);

}  // namespace dladvisor::nsys
