// SPDX-License-Identifier: Apache-2.0
// All families of facts.
#pragma once

#include <span>
#include <string_view>

#include "src/analysis/family/family.h"

namespace dladvisor {

// In the order in which `dladvisor facts` lists their relations.
std::span<const Family* const> AllFamilies();

// The family of a relation, or null: events, derived relations.
const Family* FindFamily(std::string_view relation);

}  // namespace dladvisor
