// Evaluates every rule of a knowledge base on the relations of a database.
//
// Order: `given` and `unless` give the strata (their rules first); within a stratum by id. Two subjects match
// when their shared key columns are equal, so that a finding on a relation without keys matches all. `causes`
// only nests. Same input, same bytes out.
#pragma once

#include "engine/advice.h"
#include "engine/database.h"
#include "engine/knowledge_base.h"

namespace dladvisor {

struct InferenceOptions {
  size_t max_evidence_rows = 50;
};

// REQUIRES: `db` has every relation of the knowledge base's schemas (empty where there are no facts).
Advice Infer(const KnowledgeBase& knowledge, const Database& db, const InferenceOptions& options = {});

}  // namespace dladvisor
