// SPDX-License-Identifier: Apache-2.0
// A run as a gate compares it: what it takes, what rules find in it, and what must be the same. Its relations
// are not kept, so that many runs cost little.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/advice.h"
#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"
#include "src/gate/runs/metric.h"
#include "src/gate/runs/trait.h"

namespace dladvisor {

struct GateRun {
  std::string name;  // as shown
  size_t ranks = 0, steps = 0;
  bool is_incomplete = false;  // the end of one of its profiles is missing
  std::vector<Measurement> measurements;
  std::map<std::string, std::string> not_measured;  // by kind of metric, why it has none of it
  std::vector<Finding> findings;                    // that fired
  // Why rules could not say whether they fire, by rule and subject as JSON; of "" where the rule has no
  // subject, as where it reads what this run does not hold.
  std::map<std::pair<std::string, std::string>, std::string> undecided;

  bool IsUndecided(const std::string& rule, const std::string& subject) const;
  Traits traits;
  // Where and when it was taken, as far as that is known; of several ranks the first start.
  std::string host;
  std::optional<int64_t> start_utc_ns;
  std::optional<size_t> job;  // see sides.h

  const RunMean* Find(const std::string& metric) const;
  // What tells its recording from others: where and when it was taken, and how its steps vary, to the last
  // digit. "" where nothing varies, so that others may look the same.
  std::string Recording() const;
};

// All but its findings.
GateRun MeasureGateRun(std::string name, const Database& db);

// Evaluates the rules on the database, which afterwards has their findings. `missing_relations` are those
// that it does not hold, as a digest holds no events, and who has them: rules that judge by them are
// undecided.
void AddFindings(const KnowledgeBase& knowledge, Database& db,
                 const std::map<std::string, std::string>& missing_relations, GateRun& run);

// Both.
GateRun SummarizeRun(std::string name, const KnowledgeBase& knowledge, Database& db,
                     const std::map<std::string, std::string>& missing_relations);

}  // namespace dladvisor
