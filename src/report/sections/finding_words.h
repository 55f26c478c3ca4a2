// SPDX-License-Identifier: Apache-2.0
// What a finding rests on, in words: names of facts as tables head them, and their values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/advice.h"

namespace dladvisor {

// "Idle share" of idle_share, "Eligible time" of eligible_ns, "GPU utilization" of gpu_utilization.
std::string NameWords(std::string_view name);

// Label and value of what the conditions compare and of what the problem says of what was computed for them:
// the first of a kind, without what is unknown or nothing.
std::vector<std::pair<std::string, std::string>> KeyFacts(const Finding& finding);

// Names the finding within a page, the same from run to run: "finding-tiny-kernels-5f7bb33190396873".
std::string FindingAnchor(const Finding& finding);

}  // namespace dladvisor
