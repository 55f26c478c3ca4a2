// SPDX-License-Identifier: Apache-2.0
// What a Chrome trace holds that no known profiler wrote: spans on tracks.
#pragma once

#include "src/importers/kineto/batch.h"

namespace dladvisor::kineto {

// Makes the spans of `batch` those of its trace. Their times are those of the file.
void ReadProgramSpans(Batch& batch);

}  // namespace dladvisor::kineto
