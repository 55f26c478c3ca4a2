// SPDX-License-Identifier: Apache-2.0
// Ranges that inference servers put around one step of their engine, whose numbers are sizes of the batch:
//   SGLang  step[EXTEND bs=15 toks=15360], step[DECODE bs=32]
//   vLLM    execute_context_2(512)_generation_30(30), execute_32_context_0(sq0sk0...)_generation_32(...)
// Engines that nest both write the second around the first, with the waiting for the batch before it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dladvisor {

inline constexpr std::string_view kEngineStep = "step[#]", kEngineExecution = "execute_context_#";

// Which of the two a range is; "" for others.
std::string_view ServingStepPattern(std::string_view range);

inline constexpr std::string_view kPrefill = "prefill", kDecode = "decode", kMixed = "mixed";

struct ServingStep {
  std::string_view mode;  // kPrefill, kDecode or kMixed
  int64_t requests = 0;
  std::optional<int64_t> tokens;
};
std::optional<ServingStep> ParseServingStep(std::string_view range);

}  // namespace dladvisor
