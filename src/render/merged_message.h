// SPDX-License-Identifier: Apache-2.0
// Messages of one rule on several GPUs or ranks as one: "each of GPUs 0–7 is idle 70.1 – 74.9 % of the time".
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/model/advice.h"

namespace dladvisor {

// The message with the names of its numbers in their place. Those with the same shape can be merged.
std::string ShapeOf(const RenderedMessage& message);

// Messages of one shape as one, with the range of each number. Where numbers that have a noun differ, those
// of ranks or GPUs, they are listed.
RenderedMessage Merged(const std::vector<const RenderedMessage*>& messages);

// {0, 1, 2, 5} -> "0–2, 5"; of many only the first: "0–2, 5, ... (540 in all)".
std::string Listed(const std::set<int64_t>& numbers);

}  // namespace dladvisor
