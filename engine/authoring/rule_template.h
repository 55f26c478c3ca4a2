// SPDX-License-Identifier: Apache-2.0
// A rule to start from: a threshold on a fact of a relation, with tests that pass.
#pragma once

#include <string>
#include <vector>

#include "engine/authoring/rule_docs.h"

namespace dladvisor {

// ID.yaml and ID.test.yaml in their category's folder. `name` is CATEGORY/ID. Throws Error for a name that is
// none or taken, a relation that is not there, and one that holds nothing to judge.
std::vector<DocFile> NewRule(const KnowledgeBase& knowledge, const std::string& name,
                             const std::string& relation);

}  // namespace dladvisor
