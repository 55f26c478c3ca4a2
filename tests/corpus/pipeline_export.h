// SPDX-License-Identifier: Apache-2.0
// Exports of a pipeline-parallel run: every stage of a simulated schedule is a process with a GPU of its own.
#pragma once

#include <cstdint>
#include <filesystem>

#include "tests/support/pipeline_simulator.h"

namespace dladvisor::test {

struct PipelineExport {
  PipelinePlan plan;  // times in ns; passes of 100 us and more
  int steps = 3;
  int64_t optimizer = 500'000;
  bool marks_passes = true;     // with ranges F0.0, B0.0, ...; the optimizer always is
  int stages_marked = 1 << 20;  // of them, the first ones only
};

// Each pass is launched shortly before it can run; what it receives is a kernel of NCCL that waits until
// then, as does one that reduces over all stages before the optimizer.
void WritePipelineExport(const PipelineExport& run, const std::filesystem::path& path);

}  // namespace dladvisor::test
