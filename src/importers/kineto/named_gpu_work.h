// SPDX-License-Identifier: Apache-2.0
// GPU work in Chrome traces of other tools, which give it no category of PyTorch's profiler: on tracks of
// streams of devices, or under names that only copies and kernels have.
#pragma once

#include "src/importers/kineto/batch.h"

namespace dladvisor::kineto {

// Makes the spans of `batch` the GPU work, calls and ranges that they are; false and nothing done where no
// track shows GPU work.
bool ReadNamedGpuWork(Batch& batch);

}  // namespace dladvisor::kineto
