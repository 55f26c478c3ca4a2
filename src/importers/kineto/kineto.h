// SPDX-License-Identifier: Apache-2.0
// Reads traces of PyTorch's profiler (Kineto): Chrome trace JSON with its categories and arguments, plain or
// gzip, of any version since 1.8, of NVIDIA and AMD GPUs and of CPUs alone.
// Format: https://github.com/pytorch/kineto (libkineto/src/output_json.cpp) and the "Trace Event Format".
//
// What a trace holds as operators, annotations and calls of nn.Modules become ranges, other Python functions
// frames; operators inside each other nest as ranges do. Times are moved so that the first event is at 0.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

// Refuses JSON that is not such a trace, or whose events are damaged before the first whole one. A trace that
// ends early is read as far as it goes, and its health notes say so.
extern const Importer kKinetoImporter;

}  // namespace dladvisor
