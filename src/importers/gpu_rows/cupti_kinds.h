// SPDX-License-Identifier: Apache-2.0
// CUPTI's numbers of kinds (cupti_activity.h), which databases of nvprof and DLProf and exports of
// Nsight Systems hold.
#pragma once

#include <cstdint>

#include "src/trace/kinds.h"

namespace dladvisor::gpu_rows {

// CUpti_ActivityMemcpyKind; ENUM_CUDA_MEMCPY_OPER of exports continues it by what moves of managed memory.
CopyDirection CopyDirectionOf(int64_t kind);
// CUpti_ActivitySynchronizationType.
SyncKind SyncKindOf(int64_t type);

}  // namespace dladvisor::gpu_rows
