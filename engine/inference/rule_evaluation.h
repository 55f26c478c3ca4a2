// SPDX-License-Identifier: Apache-2.0
// Evaluates one rule on all its subjects: one query, whose WHERE leaves out the subjects that are clear, so
// that a rule over many rows costs little more than stepping its conditions.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/inference/conclusions.h"
#include "engine/model/advice.h"
#include "engine/model/message.h"
#include "engine/model/rule.h"
#include "engine/store/database.h"

namespace dladvisor {

struct Evaluation {
  std::vector<Finding> findings;  // without those that are clear, unless they were asked for
  size_t subjects = 0;
};

struct EvaluationOptions {
  size_t max_evidence_rows = 50;
  std::string keep_clear = {};  // id of the rule whose clear subjects are kept too, "*" for all rules
  // Relations that the data does not hold, though they are there without rows, and who has them: what is
  // judged by them is unknown.
  std::map<std::string, std::string> absent_relations = {};
  Wording wording = {};  // of this data, by Ledger::periods and Ledger::single
};

// The relations by which the rule judges, and not those that it only says or shows something from.
std::vector<std::string> RelationsThatDecide(const Rule& rule, const Database& db);

// Never throws: what breaks is a finding whose outcome is failed.
Evaluation EvaluateRule(const Rule& rule, const Database& db, const Conclusions& before,
                        const EvaluationOptions& options);

}  // namespace dladvisor
