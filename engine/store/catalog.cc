// SPDX-License-Identifier: Apache-2.0
#include "engine/store/catalog.h"

#include <algorithm>

namespace dladvisor {

void Catalog::Add(const Relation& relation) {
  const auto [known, is_new] = by_name_.emplace(relation.schema().name, &relation);
  if (is_new) {
    order_.push_back(&relation);
    return;
  }
  std::replace(order_.begin(), order_.end(), known->second, &relation);
  known->second = &relation;
}

const Relation* Catalog::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<std::string> Catalog::Names() const {
  std::vector<std::string> names(views_.begin(), views_.end());
  for (const Relation* relation : order_) names.push_back(relation->schema().name);
  return names;
}

}  // namespace dladvisor
