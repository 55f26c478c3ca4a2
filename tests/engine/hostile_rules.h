// SPDX-License-Identifier: Apache-2.0
// Conditions of rules that try to take all time or memory there is, over a relation `event(id, name, value)`.
#pragma once

#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"

namespace dladvisor::test {

const std::vector<std::string>& HostileConditions();

Schema EventSchema();
// So many rows, with names of up to some hundred letters.
Table Events(size_t rows);

// A rule for every event with this condition, its message and evidence made of the same.
RuleFile HostileRule(const std::string& condition);

}  // namespace dladvisor::test
