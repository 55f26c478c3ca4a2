// SPDX-License-Identifier: Apache-2.0
// Documents of rules and facts, all made of what the program knows, so that they cannot drift from it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/authoring/rule_test.h"
#include "engine/rules/knowledge_base.h"

namespace dladvisor {

struct DocFile {
  std::string name, content;
};

// How profilers are asked for what a column needs (a name in Column::capture).
using HowToCapture = std::function<std::string(std::string_view)>;

// Of which profiles a relation has rows, as a sentence.
using WhereHeld = std::function<std::string(const Schema&)>;

inline constexpr const char* kFactsFile = "FACTS.md";

// README.md (every rule in a line), CATEGORY.md (a section per rule), FACTS.md (every relation and
// column) and the schemas.
std::vector<DocFile> RuleDocs(const KnowledgeBase& knowledge, std::span<const RuleTestName> tests,
                              const HowToCapture& how, const WhereHeld& where);

std::string FactDocs(const std::vector<const Schema*>& schemas, const HowToCapture& how,
                     const WhereHeld& where);

}  // namespace dladvisor
