// SPDX-License-Identifier: Apache-2.0
// What `explain` says of a rule: the values of its conditions for every subject.
#pragma once

#include <string>
#include <vector>

#include "engine/model/advice.h"
#include "engine/model/rule.h"

namespace dladvisor {

// Throws Error where one of COLUMN=VALUE is malformed or names no key of the rule.
void CheckSubject(const Rule& rule, const std::vector<std::string>& subject);

// Of an advice that keeps the rule's clear subjects, too; those that have every COLUMN=VALUE of `subject`.
std::string ExplanationText(const Rule& rule, const Advice& advice, const std::vector<std::string>& subject);

}  // namespace dladvisor
