// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/knowledge_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/text.h"
#include "engine/model/finding_relation.h"
#include "engine/rules/derived_relation.h"
#include "engine/rules/rule_checker.h"
#include "engine/rules/rule_reader.h"
#include "engine/rules/unused_names.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

std::string Join(const std::vector<std::string>& lines) {
  constexpr size_t kMaxLines = 200;
  const size_t shown = std::min(lines.size(), kMaxLines);
  std::string text =
      fmt::format("{}", fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), "\n"));
  if (shown < lines.size()) text += fmt::format("\n... and {} more", lines.size() - shown);
  return text;
}

}  // namespace

RuleErrors::RuleErrors(std::vector<std::string> problems)
    : Error("rules", fmt::format("{} problem{}\n{}", problems.size(), problems.size() == 1 ? "" : "s",
                                 Join(problems))),
      problems_(std::move(problems)) {}

EmptyRelations::EmptyRelations(const std::vector<const Schema*>& schemas) {
  for (const Schema* schema : schemas) Put(*schema);
}

void EmptyRelations::Put(const Schema& schema) { database_.Add(std::make_unique<Table>(schema)); }

namespace {

// All rules and derived relations of one layer and the earlier ones.
struct Layer {
  std::vector<Rule> rules;
  DerivedRelations relations;
  std::vector<std::string> warnings;
};

// Reads, checks and merges the files of one layer.
class LayerBuilder {
 public:
  explicit LayerBuilder(const KnowledgeBase& base) : base_(base), empty_(base.schemas()) {}

  // Throws RuleErrors with all problems.
  Layer Build(std::span<const RuleFile> files) {
    for (const RuleFile& file : files) Read(file);
    MergeRelations();
    CheckRelations();
    MergeRules();
    CheckReferences(rules_, relations_, broken_, problems_);
    if (!problems_.empty()) throw RuleErrors(problems_.Lines());
    std::ranges::sort(rules_, {}, &Rule::id);
    return {std::move(rules_), std::move(relations_), warnings_.Lines()};
  }

 private:
  void Read(const RuleFile& file) {
    const std::string name = std::filesystem::path(file.path).stem().string();
    const size_t before = problems_.size();
    auto content = ReadRuleFile(file, problems_, warnings_);
    if (problems_.size() > before) broken_.insert(name);
    const Place* place = nullptr;
    if (const Rule* rule = std::get_if<Rule>(&content)) place = &rule->place;
    if (const auto* relation = std::get_if<DerivedRelation>(&content)) place = &relation->place;
    if (!place) {
      broken_.insert(name);
      return;
    }
    if (const auto [first, is_new] = files_.emplace(name, file.path); !is_new)
      return problems_.Add(*place, name, "is already defined in " + first->second);
    if (auto* rule = std::get_if<Rule>(&content))
      own_rules_.push_back(std::move(*rule));
    else
      own_relations_.push_back(
          std::make_shared<DerivedRelation>(std::get<DerivedRelation>(std::move(content))));
  }

  void MergeRelations() {
    relations_ = base_.relations();
    replaces_ = std::ranges::any_of(own_relations_, [&](const auto& relation) {
      return base_.FindRelation(relation->schema.name) != nullptr;
    });
    if (replaces_)  // those that read them are checked again
      for (auto& relation : relations_) {
        auto again = std::make_shared<DerivedRelation>(*relation);
        if (std::ranges::none_of(own_relations_,
                                 [&](const auto& own) { return own->schema.name == again->schema.name; }))
          own_again_.push_back(again);
        relation = again;
      }
    for (const auto& relation : own_relations_) {
      const std::string& name = relation->schema.name;
      const auto old = std::ranges::find(relations_, name, [](const auto& r) { return r->schema.name; });
      const bool built_in =
          std::ranges::any_of(base_.schemas(), [&](const Schema* s) { return SameName(s->name, name); });
      if (old != relations_.end() && !relation->override)
        problems_.Add(relation->place, name,
                      "is already defined in " + (*old)->place.file + "; say 'override: true' to replace it");
      else if (old == relations_.end() && built_in)
        problems_.Add(relation->place, name, "is the name of a relation that is there already");
      else if (old != relations_.end())
        *old = relation;
      else
        relations_.push_back(relation);
      if (old != relations_.end() || !built_in) empty_.Put(relation->schema);
    }
    std::ranges::sort(relations_, {}, [](const auto& r) { return r->schema.name; });
  }

  // Those that others read come first, since columns inherit from what they are made of.
  void CheckRelations() {
    own_relations_.insert(own_relations_.end(), own_again_.begin(), own_again_.end());
    std::erase_if(own_relations_,
                  [&](const auto& relation) { return broken_.contains(relation->schema.name); });
    for (const auto& relation : own_relations_) {
      try {
        if (!relation->sql.empty()) relation->reads = empty_.database().Prepare(relation->sql).relations;
      } catch (const SqlError&) {  // reported when it is checked
      }
    }
    Problems cycles;
    CheckReferences({}, relations_, {}, cycles);
    if (!cycles.empty()) return;  // reported with those of the rules
    const EvaluationOrder order = OrderOf({}, relations_);
    for (const auto* list : {&order.relations_before, &order.relations_after})
      for (const DerivedRelation* next : *list)
        for (const auto& relation : own_relations_)
          if (relation.get() == next) {
            CheckDerivedRelation(*relation, empty_.database(), problems_);
            empty_.Put(relation->schema);
          }
  }

  void MergeRules() {
    rules_ = base_.rules();
    if (replaces_)
      for (Rule& rule : rules_)
        CheckRule(rule, empty_.database(), base_.ledger(), problems_,
                  ignored_);  // may read what was replaced
    for (Rule& rule : own_rules_) {
      Check(rule);
      if (!broken_.contains(rule.id)) CheckUse(rule, problems_);  // what names it may stand under a wrong key
      const auto old = std::ranges::find(rules_, rule.id, &Rule::id);
      if (old == rules_.end())
        rules_.push_back(std::move(rule));
      else if (rule.override)
        *old = std::move(rule);
      else
        problems_.Add(rule.place, rule.id,
                      "is already defined in " + old->place.file + "; say 'override: true' to replace it");
    }
  }

  void Check(Rule& rule) { CheckRule(rule, empty_.database(), base_.ledger(), problems_, warnings_); }

  const KnowledgeBase& base_;
  EmptyRelations empty_;
  std::map<std::string, std::string> files_;  // by name
  std::set<std::string> broken_;
  std::vector<Rule> own_rules_;
  std::vector<std::shared_ptr<DerivedRelation>> own_relations_, own_again_;
  bool replaces_ = false;    // a relation of an earlier layer
  std::vector<Rule> rules_;  // of this and the earlier layers
  DerivedRelations relations_;
  Problems problems_, warnings_, ignored_;
};

}  // namespace

KnowledgeBase::KnowledgeBase(std::vector<const Schema*> schemas, std::optional<Ledger> ledger)
    : schemas_(std::move(schemas)), ledger_(std::move(ledger)) {}

void KnowledgeBase::AddLayer(std::span<const RuleFile> files) {
  Layer layer = LayerBuilder(*this).Build(files);
  rules_ = std::move(layer.rules);
  relations_ = std::move(layer.relations);
  for (std::string& warning : layer.warnings) warnings_.push_back(std::move(warning));
}

void KnowledgeBase::SetChecked(std::vector<Rule> rules, DerivedRelations relations) {
  assert(rules_.empty() && relations_.empty());
  rules_ = std::move(rules);
  relations_ = std::move(relations);
}

void KnowledgeBase::Configure(std::span<const RuleSetting> settings) {
  Problems problems;
  std::vector<std::string> ids;
  for (const Rule& rule : rules_) ids.push_back(rule.id);
  for (const RuleSetting& setting : settings) {
    const auto rule = std::ranges::find(rules_, setting.id, &Rule::id);
    if (rule == rules_.end()) {
      problems.Add(setting.place, "",
                   fmt::format("no such rule: {}{}", setting.id, DidYouMean(setting.id, ids)));
      continue;
    }
    if (setting.off) off_[setting.id] = fmt::format("{}:{}", setting.place.file, setting.place.line);
    if (setting.severity) {
      rule->severity = *setting.severity;
      rule->set_by = fmt::format("{}:{}", setting.place.file, setting.place.line);
    }
    std::vector<std::string> names;
    for (const Param& param : rule->params) names.push_back(param.name);
    for (const RuleSetting::ParamValue& given : setting.params) {
      const auto param = std::ranges::find(rule->params, given.name, &Param::name);
      if (param == rule->params.end()) {
        problems.Add(
            given.place, "",
            given.name == "severity"
                ? fmt::format("the severity of {} stands by itself or first: [error, {{param: value}}]",
                              setting.id)
                : fmt::format("{} has no param '{}'{}", setting.id, given.name,
                              DidYouMean(given.name, names)));
        continue;
      }
      if (param->is_table != given.is_table) {
        problems.Add(given.place, "",
                     fmt::format("param '{}' of {} must be {}", given.name, setting.id,
                                 param->is_table ? "a mapping (pattern: number)" : "a number or a text"));
        continue;
      }
      if (std::holds_alternative<std::string>(param->value) !=
          std::holds_alternative<std::string>(given.value)) {
        problems.Add(given.place, "",
                     fmt::format("param '{}' of {} must be {}", given.name, setting.id,
                                 AsNumber(param->value) ? "a number" : "a text"));
        continue;
      }
      const std::string fallback = param->is_table ? std::get<std::string>(param->value) : "";
      param->value = given.value;
      if (param->is_table)  // its own entries come first
        param->value = std::get<std::string>(given.value) + "; " + fallback;
      if (const auto* integer = std::get_if<int64_t>(&given.value); integer && param->unit == Unit::kRatio)
        param->value = static_cast<double>(*integer);
      param->set_by = fmt::format("{}:{}", given.place.file, given.place.line);
    }
  }
  if (!problems.empty()) throw RuleErrors(problems.Lines());
  CheckSettings(settings);
  std::erase_if(rules_, [&](const Rule& rule) { return off_.contains(rule.id); });
  for (const Rule& rule : rules_)
    for (const RuleReference& given : rule.given)
      if (const auto why = off_.find(given.id); why != off_.end())
        warnings_.push_back(fmt::format("{}:{}:{}: {}: can never fire, since {} is off in {}",
                                        given.place.file, given.place.line, given.place.column, rule.id,
                                        given.id, why->second));
  for (Rule& rule : rules_)
    for (auto* list : {&rule.unless, &rule.causes})
      std::erase_if(*list, [&](const RuleReference& reference) { return off_.contains(reference.id); });
}

// A value may be one that the rule's conditions are never meant for, such as 25 for a share.
void KnowledgeBase::CheckSettings(std::span<const RuleSetting> settings) {
  Problems problems;
  std::optional<EmptyRelations> empty;
  for (const RuleSetting& setting : settings) {
    if (setting.params.empty()) continue;
    if (!empty) empty.emplace(schemas());
    Rule rule = *Find(setting.id);
    Problems found, ignored;
    CheckRule(rule, empty->database(), ledger_, found, ignored);
    for (const std::string& reason : found.Reasons()) problems.Add(setting.params[0].place, "", reason);
  }
  if (!problems.empty()) throw RuleErrors(problems.Lines());
}

const Rule* KnowledgeBase::Find(std::string_view id) const {
  const auto found = std::ranges::find(rules_, id, &Rule::id);
  return found == rules_.end() ? nullptr : &*found;
}

const DerivedRelation* KnowledgeBase::FindRelation(std::string_view name) const {
  const auto found = std::ranges::find(relations_, name, [](const auto& r) { return r->schema.name; });
  return found == relations_.end() ? nullptr : found->get();
}

KnowledgeBase KnowledgeBase::Subset(const std::map<std::string, Rule>& rules,
                                    const std::vector<std::string>& relations) const {
  KnowledgeBase subset(schemas_, ledger_);
  std::vector<std::string> to_visit = relations;
  for (const auto& [id, rule] : rules) {
    subset.rules_.push_back(rule);
    to_visit.insert(to_visit.end(), rule.reads.begin(), rule.reads.end());
  }
  std::set<std::string> needed;
  while (!to_visit.empty()) {
    const std::string name = std::move(to_visit.back());
    to_visit.pop_back();
    const DerivedRelation* relation = FindRelation(name);
    if (relation && needed.insert(name).second)
      to_visit.insert(to_visit.end(), relation->reads.begin(), relation->reads.end());
  }
  std::ranges::copy_if(relations_, std::back_inserter(subset.relations_),
                       [&](const auto& relation) { return needed.contains(relation->schema.name); });
  return subset;
}

std::vector<const Schema*> KnowledgeBase::schemas() const {
  std::vector<const Schema*> all = schemas_;
  for (const auto& relation : relations_) all.push_back(&relation->schema);
  all.push_back(&FindingSchema());
  return all;
}

}  // namespace dladvisor
