// SPDX-License-Identifier: Apache-2.0
// GPUs as rocprofv3 describes them: agents of HSA.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "src/trace/trace.h"

namespace dladvisor::rocm {

// "AMD Instinct MI300X", else "AMD gfx942".
std::string GpuName(std::string_view product, std::string_view target);

// Of an agent's properties; its ordinal is left to the caller.
Device DeviceOf(const nlohmann::json& agent, std::string_view product, std::string_view target);

}  // namespace dladvisor::rocm
