// SPDX-License-Identifier: Apache-2.0
// Loads rule files in layers and checks them against the declared relations, without a trace.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/model/rule.h"
#include "engine/model/savings.h"
#include "engine/rules/evaluation_order.h"
#include "engine/rules/rule_file.h"
#include "engine/store/database.h"
#include "engine/store/relation.h"

namespace dladvisor {

// Every problem of every file at once; what() is one line per problem, "file:line:col: RULE: reason".
class RuleErrors : public Error {
 public:
  explicit RuleErrors(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<std::string> problems_;
};

// Empty tables of schemas, for preparing statements without facts.
class EmptyRelations {
 public:
  explicit EmptyRelations(const std::vector<const Schema*>& schemas);
  void Put(const Schema& schema);  // adds it, or replaces the one of the same name
  const Database& database() const { return database_; }

 private:
  Database database_;
};

// What a project sets for a rule it did not write.
struct RuleSetting {
  std::string id;
  bool off = false;
  std::optional<Severity> severity;
  struct ParamValue {
    std::string name;
    Value value;
    Place place;
    bool is_table = false;
  };
  std::vector<ParamValue> params;
  Place place;
};

class KnowledgeBase {
 public:
  // `schemas` are the relations that rules may read, and `ledger` what they may claim savings from. The
  // schemas must outlive the knowledge base.
  explicit KnowledgeBase(std::vector<const Schema*> schemas, std::optional<Ledger> ledger = {});

  // Adds one layer of rules and derived relations. A duplicate name within a layer is a problem; one of a
  // later layer replaces one of an earlier layer only where it says `override: true`. Throws RuleErrors with
  // all problems.
  void AddLayer(std::span<const RuleFile> files);
  // Sets the first layer, which was checked before, against the same schemas (rule_image.h).
  void SetChecked(std::vector<Rule> rules, DerivedRelations relations);
  // Changes severities and params, and takes out the rules that are off; those that name these in `given`
  // never fire. Throws RuleErrors for unknown names and values of another type.
  void Configure(std::span<const RuleSetting> settings);

  const std::vector<Rule>& rules() const { return rules_; }               // sorted by id
  const DerivedRelations& relations() const { return relations_; }        // sorted by name
  const std::vector<std::string>& warnings() const { return warnings_; }  // "file:line:col: RULE: reason"
  const Rule* Find(std::string_view id) const;
  const DerivedRelation* FindRelation(std::string_view name) const;
  const std::map<std::string, std::string>& off() const { return off_; }  // id -> file:line that says so
  // A knowledge base of just these rules of this one, by id, and the derived relations that they read, or
  // that are named, or that those read.
  KnowledgeBase Subset(const std::map<std::string, Rule>& rules,
                       const std::vector<std::string>& relations = {}) const;
  std::vector<const Schema*> schemas() const;  // also `finding` and the derived relations
  const std::vector<const Schema*>& base_schemas() const { return schemas_; }
  const std::optional<Ledger>& ledger() const { return ledger_; }

 private:
  void CheckSettings(std::span<const RuleSetting> settings);

  std::vector<const Schema*> schemas_;
  std::optional<Ledger> ledger_;
  std::vector<Rule> rules_;
  DerivedRelations relations_;
  std::vector<std::string> warnings_;
  std::map<std::string, std::string> off_;
};

}  // namespace dladvisor
