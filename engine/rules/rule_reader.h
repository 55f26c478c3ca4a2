// SPDX-License-Identifier: Apache-2.0
// From a YAML file to a Rule or a DerivedRelation: keys, kinds and names. SQL and cross references are
// rule_checker.h's.
#pragma once

#include <variant>

#include "engine/rules/derived_relation.h"
#include "engine/rules/rule_file.h"
#include "engine/rules/yaml_reader.h"

namespace dladvisor {

// Nothing where the file holds neither; every problem and warning is added.
std::variant<std::monostate, Rule, DerivedRelation> ReadRuleFile(const RuleFile& file, Problems& problems,
                                                                 Problems& warnings);

}  // namespace dladvisor
