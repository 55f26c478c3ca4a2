// SPDX-License-Identifier: Apache-2.0
// JSON schemas of rule and test files, for completion and checks in editors. They say less than
// `dladvisor rules check`, which also reads the SQL.
#pragma once

#include <string>

#include "engine/rules/knowledge_base.h"

namespace dladvisor {

inline constexpr const char* kRuleSchemaFile = "rule.schema.json";
inline constexpr const char* kTestSchemaFile = "rule-test.schema.json";

// JSON Schema, draft 7, of rule files (derived relations too) and of test files.
std::string RuleSchema(const KnowledgeBase& knowledge);
std::string TestSchema(const KnowledgeBase& knowledge);

}  // namespace dladvisor
