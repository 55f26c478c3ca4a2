#include "engine/knowledge_base.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "engine/rule_checker.h"
#include "engine/rule_reader.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

bool IsTest(const std::string& path) { return path.ends_with(".test.yaml"); }
bool IsRule(const std::string& path) { return path.ends_with(".yaml") && !IsTest(path); }

std::string Join(const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); }

}  // namespace

std::vector<RuleFile> ReadRuleFolder(const fs::path& folder, bool tests) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(folder.string(), "is no folder of rules",
                "Give a folder that holds CATEGORY/ID.yaml files to --rules.");
  std::vector<RuleFile> files;
  for (fs::recursive_directory_iterator it(folder, error), end; it != end && !error; it.increment(error)) {
    const std::string path = it->path().string();
    if (!it->is_regular_file() || !(tests ? IsTest(path) : IsRule(path))) continue;
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
    const std::string path = "rules/" + std::string(file.path);
    if (tests ? IsTest(path) : IsRule(path)) files.push_back({path, std::string(file.content)});
  }
  return files;
}

RuleErrors::RuleErrors(std::vector<std::string> problems)
    : Error("rules", fmt::format("{} problem{}\n{}", problems.size(), problems.size() == 1 ? "" : "s",
                                 Join(problems))),
      problems_(std::move(problems)) {}

KnowledgeBase::KnowledgeBase(std::vector<const Schema*> schemas) : schemas_(std::move(schemas)) {}

void KnowledgeBase::AddLayer(std::span<const RuleFile> files) {
  Problems problems;
  const EmptyRelations empty(schemas_);
  std::map<std::string, std::string> layer;  // id -> file
  std::set<std::string> broken;
  std::vector<Rule> merged = rules_;
  for (const RuleFile& file : files) {
    std::optional<Rule> rule = ReadRule(file, problems);
    if (!rule) {
      broken.insert(fs::path(file.path).stem().string());
      continue;
    }
    const auto [first, is_new] = layer.emplace(rule->id, file.path);
    if (!is_new) {
      problems.Add(rule->place, rule->id, "is already defined in " + first->second);
      continue;
    }
    CheckRule(*rule, empty.database(), problems);
    const auto old =
        std::find_if(merged.begin(), merged.end(), [&](const Rule& r) { return r.id == rule->id; });
    if (old == merged.end())
      merged.push_back(std::move(*rule));
    else if (rule->override)
      *old = std::move(*rule);
    else
      problems.Add(rule->place, rule->id,
                   "is already defined in " + old->place.file + "; say 'override: true' to replace it");
  }
  CheckReferences(merged, broken, problems);
  if (!problems.empty()) throw RuleErrors(problems.Lines());
  std::sort(merged.begin(), merged.end(), [](const Rule& a, const Rule& b) { return a.id < b.id; });
  rules_ = std::move(merged);
}

const Rule* KnowledgeBase::Find(std::string_view id) const {
  const auto found =
      std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) { return rule.id == id; });
  return found == rules_.end() ? nullptr : &*found;
}

KnowledgeBase KnowledgeBase::Subset(const std::map<std::string, Rule>& rules) const {
  KnowledgeBase subset(schemas_);
  for (const auto& [id, rule] : rules) subset.rules_.push_back(rule);
  return subset;
}

}  // namespace dladvisor
