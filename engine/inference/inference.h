// SPDX-License-Identifier: Apache-2.0
// Evaluates every rule of a knowledge base on the relations of a database.
//
// Order: derived relations before what reads them; `given` and `unless` give the strata (their rules first);
// within a stratum by id. What reads the relation `finding`, by itself or through others, runs after all that
// does not. Two subjects match when their shared key columns are equal, so that a finding on a relation
// without keys matches all. `causes` only nests. Same input, same bytes out.
#pragma once

#include "engine/inference/rule_evaluation.h"
#include "engine/model/advice.h"
#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"

namespace dladvisor {

// REQUIRES: `db` has every relation of the knowledge base's base schemas (empty where there are no facts).
// Adds the derived relations and `finding` to it, except those that it has.
Advice Infer(const KnowledgeBase& knowledge, Database& db, const EvaluationOptions& options = {});

}  // namespace dladvisor
