// Checks rules against the declared relations, without a trace: every statement is prepared, every name must
// exist and be used, references between rules must exist and be acyclic.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/database.h"
#include "engine/relation.h"
#include "engine/rule.h"
#include "engine/yaml_reader.h"

namespace dladvisor {

// Empty tables of the schemas, for preparing statements. Not movable: a Database refers to its tables.
class EmptyRelations {
 public:
  explicit EmptyRelations(const std::vector<const Schema*>& schemas);
  EmptyRelations(const EmptyRelations&) = delete;
  EmptyRelations& operator=(const EmptyRelations&) = delete;
  const Database& database() const { return database_; }

 private:
  std::vector<Table> tables_;
  Database database_;
};

// Problems of one rule by itself; fills the rule's subject_key where `for` names a relation.
void CheckRule(Rule& rule, const Database& empty, Problems& problems);

// Problems between rules: references to rules that do not exist, and cycles. `broken` are the ids of rules
// that could not be read, which are not reported once more where others name them.
void CheckReferences(const std::vector<Rule>& rules, const std::set<std::string>& broken, Problems& problems);

}  // namespace dladvisor
