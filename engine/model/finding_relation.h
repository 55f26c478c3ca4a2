// SPDX-License-Identifier: Apache-2.0
// Findings as a relation, so that rules and queries can read what other rules concluded.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "engine/model/advice.h"
#include "engine/store/relation.h"

namespace dladvisor {

const Schema& FindingSchema();

// The key columns of a finding's subject as a JSON object, valid UTF-8: it distinguishes the findings of a
// rule.
std::string SubjectJson(const Finding& finding);

// A row per finding that is not clear. `categories` are those of the rules.
std::unique_ptr<Table> FindingTable(std::span<const Finding> findings,
                                    const std::map<std::string, std::string>& categories);

}  // namespace dladvisor
