// SPDX-License-Identifier: Apache-2.0
// Communication as the host sees it: MPI, UCX and OpenSHMEM calls, counters of network adapters
// (nsys --trace=mpi,ucx,openshmem, --nic-metrics).
#pragma once

#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

void ReadNetwork(Context& context);

}  // namespace dladvisor::nsys
