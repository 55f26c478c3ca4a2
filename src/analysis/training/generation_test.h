// SPDX-License-Identifier: Apache-2.0
// How fast llama.cpp reads prompts and generates, as llama-bench measured it, against what the GPU's memory
// carries: each token that is generated alone reads all weights once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"
#include "src/trace/program_output.h"

namespace dladvisor {

struct GenerationTestRow {
  int64_t profile = 0, row = 0;
  std::string test, kind, variant;
  std::optional<std::string> model, backend, gpu;
  double tokens_per_s = 0;
  std::optional<double> model_bytes, weight_bytes_per_s, memory_bytes_per_s;
};
const RelationOf<GenerationTestRow>& GenerationTestRelation();

std::vector<GenerationTestRow> ComputeGenerationTests(const Context& context);

// In words: "llama 7B Q4_0 generates 129 tokens/s (tg128) and reads 2,043 tokens/s of prompts (pp512)"; ""
// for none.
std::string GenerationText(const std::vector<GenerationTest>& tests);

template <>
inline constexpr Computed kValue<std::vector<GenerationTestRow>>{"generation_test rows",
                                                                 ComputeGenerationTests};

}  // namespace dladvisor
