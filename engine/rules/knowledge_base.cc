#include "engine/rules/knowledge_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/finding_relation.h"
#include "engine/rules/derived_relation.h"
#include "engine/rules/rule_checker.h"
#include "engine/rules/rule_reader.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

bool IsTest(const std::string& path) { return path.ends_with(".test.yaml"); }
bool IsRule(const std::string& path) { return path.ends_with(".yaml") && !IsTest(path); }

std::string Join(const std::vector<std::string>& lines) {
  constexpr size_t kMaxLines = 200;
  const size_t shown = std::min(lines.size(), kMaxLines);
  std::string text =
      fmt::format("{}", fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shown), "\n"));
  if (shown < lines.size()) text += fmt::format("\n... and {} more", lines.size() - shown);
  return text;
}

}  // namespace

std::vector<RuleFile> ReadRuleFolder(const fs::path& folder, bool tests) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(folder.string(), "is no folder of rules",
                "Give a folder that holds CATEGORY/ID.yaml files to --rules.");
  std::vector<RuleFile> files;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    const std::string path = it->path().string();
    std::error_code unknown;
    if (path.ends_with(".yml")) throw Error(path, "is not read: files of rules end in .yaml", "Rename it.");
    if (!it->is_regular_file(unknown) || !(tests ? IsTest(path) : IsRule(path))) continue;
    std::ifstream in(it->path(), std::ios::binary);
    if (!in) throw Error(path, "cannot be read", "Check its permissions.");
    files.push_back({path, {std::istreambuf_iterator<char>(in), {}}});
  }
  if (error) throw Error(folder.string(), "cannot be read: " + error.message(), "Check its permissions.");
  if (files.empty() && !tests)
    throw Error(folder.string(), "holds no rule",
                "Rules are files CATEGORY/ID.yaml in the folder given to --rules.");
  std::sort(files.begin(), files.end(), [](const RuleFile& a, const RuleFile& b) { return a.path < b.path; });
  return files;
}

std::vector<RuleFile> EmbeddedRuleFiles(std::span<const EmbeddedFile> embedded, bool tests) {
  std::vector<RuleFile> files;
  for (const EmbeddedFile& file : embedded) {
    const std::string path = "built-in/" + std::string(file.path);
    if (tests ? IsTest(path) : IsRule(path)) files.push_back({path, std::string(file.content)});
  }
  return files;
}

RuleErrors::RuleErrors(std::vector<std::string> problems)
    : Error("rules", fmt::format("{} problem{}\n{}", problems.size(), problems.size() == 1 ? "" : "s",
                                 Join(problems))),
      problems_(std::move(problems)) {}

EmptyRelations::EmptyRelations(const std::vector<const Schema*>& schemas) {
  for (const Schema* schema : schemas) Put(*schema);
}

void EmptyRelations::Put(const Schema& schema) { database_.Add(std::make_unique<Table>(schema)); }

namespace {

// The layer at hand while it is read, checked and merged.
class Layer {
 public:
  Layer(const KnowledgeBase& base, std::span<const RuleFile> files) : base_(base), empty_(base.schemas()) {
    for (const RuleFile& file : files) Read(file);
    MergeRelations();
    CheckRelations();
    MergeRules();
    CheckReferences(rules, relations, broken_, problems);
    if (!problems.empty()) throw RuleErrors(problems.Lines());
    std::ranges::sort(rules, {}, &Rule::id);
  }

  std::vector<Rule> rules;  // of this and the earlier layers
  DerivedRelations relations;
  Problems problems, warnings;

 private:
  void Read(const RuleFile& file) {
    const std::string name = fs::path(file.path).stem().string();
    const size_t before = problems.size();
    auto content = ReadRuleFile(file, problems);
    if (problems.size() > before) broken_.insert(name);
    const Place* place = nullptr;
    if (const Rule* rule = std::get_if<Rule>(&content)) place = &rule->place;
    if (const auto* relation = std::get_if<DerivedRelation>(&content)) place = &relation->place;
    if (!place) {
      broken_.insert(name);
      return;
    }
    if (const auto [first, is_new] = files_.emplace(name, file.path); !is_new)
      return problems.Add(*place, name, "is already defined in " + first->second);
    if (auto* rule = std::get_if<Rule>(&content))
      own_rules_.push_back(std::move(*rule));
    else
      own_relations_.push_back(
          std::make_shared<DerivedRelation>(std::get<DerivedRelation>(std::move(content))));
  }

  void MergeRelations() {
    relations = base_.relations();
    replaces_ = std::ranges::any_of(own_relations_, [&](const auto& relation) {
      return base_.FindRelation(relation->schema.name) != nullptr;
    });
    if (replaces_)  // those that read them are checked again
      for (auto& relation : relations) {
        auto again = std::make_shared<DerivedRelation>(*relation);
        if (std::ranges::none_of(own_relations_,
                                 [&](const auto& own) { return own->schema.name == again->schema.name; }))
          own_again_.push_back(again);
        relation = again;
      }
    for (const auto& relation : own_relations_) {
      const std::string& name = relation->schema.name;
      const auto old = std::ranges::find(relations, name, [](const auto& r) { return r->schema.name; });
      const bool built_in =
          std::ranges::any_of(base_.schemas(), [&](const Schema* s) { return SameName(s->name, name); });
      if (old != relations.end() && !relation->override)
        problems.Add(relation->place, name,
                     "is already defined in " + (*old)->place.file + "; say 'override: true' to replace it");
      else if (old == relations.end() && built_in)
        problems.Add(relation->place, name, "is the name of a relation that is there already");
      else if (old != relations.end())
        *old = relation;
      else
        relations.push_back(relation);
      if (old != relations.end() || !built_in) empty_.Put(relation->schema);
    }
    std::ranges::sort(relations, {}, [](const auto& r) { return r->schema.name; });
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
    CheckReferences({}, relations, {}, cycles);
    if (!cycles.empty()) return;  // reported with those of the rules
    const EvaluationOrder order = OrderOf({}, relations);
    for (const auto* list : {&order.relations_before, &order.relations_after})
      for (const DerivedRelation* next : *list)
        for (const auto& relation : own_relations_)
          if (relation.get() == next) {
            CheckDerivedRelation(*relation, empty_.database(), problems);
            empty_.Put(relation->schema);
          }
  }

  void MergeRules() {
    rules = base_.rules();
    if (replaces_)
      for (Rule& rule : rules)
        CheckRule(rule, empty_.database(), base_.ledger(), problems, ignored_);  // may read what was replaced
    for (Rule& rule : own_rules_) {
      Check(rule);
      const auto old = std::ranges::find(rules, rule.id, &Rule::id);
      if (old == rules.end())
        rules.push_back(std::move(rule));
      else if (rule.override)
        *old = std::move(rule);
      else
        problems.Add(rule.place, rule.id,
                     "is already defined in " + old->place.file + "; say 'override: true' to replace it");
    }
  }

  void Check(Rule& rule) { CheckRule(rule, empty_.database(), base_.ledger(), problems, warnings); }

  const KnowledgeBase& base_;
  EmptyRelations empty_;
  std::map<std::string, std::string> files_;  // by name
  std::set<std::string> broken_;
  std::vector<Rule> own_rules_;
  std::vector<std::shared_ptr<DerivedRelation>> own_relations_, own_again_;
  bool replaces_ = false;  // a relation of an earlier layer
  Problems ignored_;
};

}  // namespace

KnowledgeBase::KnowledgeBase(std::vector<const Schema*> schemas, std::optional<Ledger> ledger)
    : schemas_(std::move(schemas)), ledger_(std::move(ledger)) {}

void KnowledgeBase::AddLayer(std::span<const RuleFile> files) {
  Layer layer(*this, files);
  rules_ = std::move(layer.rules);
  relations_ = std::move(layer.relations);
  for (std::string& warning : layer.warnings.Lines()) warnings_.push_back(std::move(warning));
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
            fmt::format("{} has no param '{}'{}", setting.id, given.name, DidYouMean(given.name, names)));
        continue;
      }
      if (std::holds_alternative<std::string>(param->value) !=
          std::holds_alternative<std::string>(given.value)) {
        problems.Add(given.place, "",
                     fmt::format("param '{}' of {} must be {}", given.name, setting.id,
                                 AsNumber(param->value) ? "a number" : "a text"));
        continue;
      }
      param->value = given.value;
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

KnowledgeBase KnowledgeBase::Subset(const std::map<std::string, Rule>& rules) const {
  KnowledgeBase subset(schemas_, ledger_);
  for (const auto& [id, rule] : rules) subset.rules_.push_back(rule);
  subset.relations_ = relations_;
  return subset;
}

std::vector<const Schema*> KnowledgeBase::schemas() const {
  std::vector<const Schema*> all = schemas_;
  for (const auto& relation : relations_) all.push_back(&relation->schema);
  all.push_back(&FindingSchema());
  return all;
}

}  // namespace dladvisor
