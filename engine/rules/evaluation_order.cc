// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/evaluation_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/finding_relation.h"

namespace dladvisor {
namespace {

struct Edge {
  std::string to;
  const Place* place;
};
using Edges = std::map<std::string, std::vector<Edge>>;

// Reports one cycle reachable from each node that lies on one, once.
void FindCycles(const Edges& edges, const std::string& kind, Problems& problems) {
  std::set<std::string> done;
  std::vector<std::string> path;
  const std::function<void(const std::string&)> visit = [&](const std::string& node) {
    path.push_back(node);
    if (const auto found = edges.find(node); found != edges.end())
      for (const Edge& edge : found->second) {
        const auto on_path = std::ranges::find(path, edge.to);
        if (on_path != path.end()) {
          std::vector<std::string> cycle(on_path, path.end());
          cycle.push_back(edge.to);
          problems.Add(*edge.place, node, fmt::format("{} a cycle: {}", kind, fmt::join(cycle, " -> ")));
        } else if (!done.contains(edge.to)) {
          visit(edge.to);
        }
      }
    path.pop_back();
    done.insert(node);
  };
  for (const auto& [node, targets] : edges)
    if (!done.contains(node)) visit(node);
}

class Strata {
 public:
  Strata(const std::vector<Rule>& rules, const DerivedRelations& relations) {
    for (const Rule& rule : rules) rules_[rule.id] = &rule;
    for (const auto& relation : relations) relations_[relation->schema.name] = relation.get();
  }

  // Whether `finding` must be there before, and the depth of what must be evaluated before.
  using Key = std::pair<bool, int>;

  Key Of(const Rule& rule) {
    if (const auto known = rule_keys_.find(rule.id); known != rule_keys_.end()) return known->second;
    Key key{false, 0};
    for (const auto* list : {&rule.given, &rule.unless})
      for (const RuleReference& reference : *list)
        if (const auto other = rules_.find(reference.id); other != rules_.end()) {
          const auto [late, depth] = Of(*other->second);
          key = {key.first || late, std::max(key.second, depth + 1)};
        }
    key.first |= ReadsLate(rule.reads);
    return rule_keys_[rule.id] = key;
  }

  Key Of(const DerivedRelation& relation) {
    const std::string& name = relation.schema.name;
    if (const auto known = relation_keys_.find(name); known != relation_keys_.end()) return known->second;
    Key key{ReadsLate(relation.reads), 0};
    for (const std::string& read : relation.reads)
      if (const auto other = relations_.find(read); other != relations_.end())
        key.second = std::max(key.second, Of(*other->second).second + 1);
    return relation_keys_[name] = key;
  }

 private:
  bool ReadsLate(const std::vector<std::string>& reads) {
    return std::ranges::any_of(reads, [&](const std::string& name) {
      const auto derived = relations_.find(name);
      return name == FindingSchema().name || (derived != relations_.end() && Of(*derived->second).first);
    });
  }

  std::map<std::string, const Rule*> rules_;
  std::map<std::string, const DerivedRelation*> relations_;
  std::map<std::string, Key> rule_keys_, relation_keys_;
};

}  // namespace

EvaluationOrder OrderOf(const std::vector<Rule>& rules, const DerivedRelations& relations) {
  Strata strata(rules, relations);
  EvaluationOrder order;
  for (const Rule& rule : rules)
    (strata.Of(rule).first ? order.rules_after : order.rules_before).push_back(&rule);
  for (const auto& relation : relations)
    (strata.Of(*relation).first ? order.relations_after : order.relations_before).push_back(relation.get());
  for (auto* list : {&order.rules_before, &order.rules_after})
    std::ranges::stable_sort(*list, {}, [&](const Rule* rule) { return strata.Of(*rule).second; });
  for (auto* list : {&order.relations_before, &order.relations_after})
    std::ranges::stable_sort(*list, {}, [&](const DerivedRelation* r) { return strata.Of(*r).second; });
  return order;
}

void CheckReferences(const std::vector<Rule>& rules, const DerivedRelations& relations,
                     const std::set<std::string>& broken, Problems& problems) {
  std::vector<std::string> ids;
  for (const Rule& rule : rules) ids.push_back(rule.id);
  Edges order, causes, reads;
  for (const Rule& rule : rules) {
    for (const auto* list : {&rule.given, &rule.unless, &rule.causes})
      for (const RuleReference& reference : *list) {
        if (std::ranges::find(ids, reference.id) == ids.end() && !broken.contains(reference.id))
          problems.Add(reference.place, rule.id,
                       fmt::format("no such rule: {}{}", reference.id, DidYouMean(reference.id, ids)));
        (list == &rule.causes ? causes : order)[rule.id].push_back({reference.id, &reference.place});
      }
  }
  for (const auto& relation : relations)
    for (const std::string& read : relation->reads)
      reads[relation->schema.name].push_back({read, &relation->sql_place});
  FindCycles(order, "given and unless forms", problems);
  FindCycles(causes, "causes forms", problems);
  FindCycles(reads, "reading forms", problems);
}

}  // namespace dladvisor
