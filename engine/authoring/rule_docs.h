// SPDX-License-Identifier: Apache-2.0
// Documents of rules and facts, all made of what the program knows, so that they cannot drift from it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/authoring/rule_test.h"
#include "engine/rules/knowledge_base.h"

namespace dladvisor {

struct DocFile {
  std::string name, content;
};

// README.md (a section per rule), FACTS.md (every relation and column) and the schemas.
std::vector<DocFile> RuleDocs(const KnowledgeBase& knowledge, std::span<const RuleTestResult> tests);

std::string FactDocs(const std::vector<const Schema*>& schemas);

}  // namespace dladvisor
