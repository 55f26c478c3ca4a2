// SPDX-License-Identifier: Apache-2.0
// What torchtitan says of a training before its first step: "Building device mesh with parallelism: pp=1,
// ...", "Trainer is initialized with local batch size 8, global batch size 384, ...".
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// Under the names that Megatron-LM and DeepSpeed give the sizes. The local batch of a pipeline is split
// further, so that it is a micro-batch only where the mesh has none.
void TakeTorchtitanSizes(std::string_view line, std::map<std::string, std::string>& settings);

}  // namespace dladvisor::training_log
