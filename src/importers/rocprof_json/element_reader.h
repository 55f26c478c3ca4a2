// SPDX-License-Identifier: Apache-2.0
// The parts of a large JSON document one after the other, as the document itself may be larger than memory:
//   {"rocprofiler-sdk-tool": [{"metadata": {...}, "buffer_records": {"kernel_dispatch": [{...}, {...}]}}]}
// gives {...} at "metadata", and each {...} at "buffer_records/kernel_dispatch".
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/importers/bytes/byte_source.h"

namespace dladvisor::rocprof_json {

// The keys that lead to the element, without that of the document.
using Visit = std::function<void(const std::vector<std::string>& path, const nlohmann::json& element)>;

// False where the document is not valid JSON.
bool ForEachElement(ByteSource& source, const Visit& visit);

}  // namespace dladvisor::rocprof_json
