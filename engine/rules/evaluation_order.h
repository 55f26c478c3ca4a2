// SPDX-License-Identifier: Apache-2.0
// In which order rules and derived relations are evaluated, and the references that have none.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/model/rule.h"
#include "engine/rules/yaml_reader.h"

namespace dladvisor {

// What reads the relation `finding`, by itself or through what it refers to, comes after all that does not.
struct EvaluationOrder {
  std::vector<const DerivedRelation*> relations_before, relations_after;
  std::vector<const Rule*> rules_before, rules_after;
};

using DerivedRelations = std::vector<std::shared_ptr<const DerivedRelation>>;

// REQUIRES: CheckReferences found no problem. The order is that of the strata, within them of names.
EvaluationOrder OrderOf(const std::vector<Rule>& rules, const DerivedRelations& relations);

// References to rules that do not exist, and cycles, which are named. `broken` are the ids of rules that
// could not be read, which are not reported once more where others name them.
void CheckReferences(const std::vector<Rule>& rules, const DerivedRelations& relations,
                     const std::set<std::string>& broken, Problems& problems);

}  // namespace dladvisor
