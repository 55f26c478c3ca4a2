// SPDX-License-Identifier: Apache-2.0
// What collectives of older versions of PyTorch carry: their kernels do not say, but the annotation that
// encloses their launch ("nccl:all_to_all") lists the tensors given.
#pragma once

#include "src/importers/gpu_rows/row_tables.h"
#include "src/trace/trace.h"

namespace dladvisor::kineto {

// Gives each kernel of NCCL or RCCL that has no collective the one around its launch. Where more is received
// than given (gathers), or not all tensors are listed, its size stays unknown.
void NameCollectivesByRanges(Trace& trace, gpu_rows::Tables& tables);

}  // namespace dladvisor::kineto
