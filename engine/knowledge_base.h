// Loads rule files in layers and checks them against the declared relations, without a trace.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/embedded.h"
#include "engine/base/error.h"
#include "engine/relation.h"
#include "engine/rule.h"

namespace dladvisor {

struct RuleFile {
  std::string path;     // as shown in messages; its stem is the rule's id, its folder the category
  std::string content;  // YAML
};

// The *.yaml files below `folder` (not *.test.yaml), sorted by path. Throws Error where it is no folder
// or, without `tests`, holds none.
std::vector<RuleFile> ReadRuleFolder(const std::filesystem::path& folder, bool tests = false);
std::vector<RuleFile> EmbeddedRuleFiles(std::span<const EmbeddedFile> files, bool tests = false);

// Every problem of every file at once; what() is one line per problem, "file:line:col: RULE: reason".
class RuleErrors : public Error {
 public:
  explicit RuleErrors(std::vector<std::string> problems);
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<std::string> problems_;
};

class KnowledgeBase {
 public:
  // `schemas` are the relations that rules may read. They must outlive the knowledge base.
  explicit KnowledgeBase(std::vector<const Schema*> schemas);

  // Adds one layer of rules. A duplicate id within a layer is a problem; a rule of a later layer replaces
  // one of an earlier layer only where it says `override: true`. Throws RuleErrors with all problems.
  void AddLayer(std::span<const RuleFile> files);

  const std::vector<Rule>& rules() const { return rules_; }  // sorted by id
  const Rule* Find(std::string_view id) const;
  // A knowledge base of just these rules of this one, by id.
  KnowledgeBase Subset(const std::map<std::string, Rule>& rules) const;
  const std::vector<const Schema*>& schemas() const { return schemas_; }

 private:
  std::vector<const Schema*> schemas_;
  std::vector<Rule> rules_;
};

}  // namespace dladvisor
