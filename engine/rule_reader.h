// From a YAML file to a Rule: keys, kinds and names. SQL and cross references are rule_checker.h's.
#pragma once

#include <optional>

#include "engine/knowledge_base.h"
#include "engine/yaml_reader.h"

namespace dladvisor {

// Nothing where the file holds no rule; every problem is added.
std::optional<Rule> ReadRule(const RuleFile& file, Problems& problems);

}  // namespace dladvisor
