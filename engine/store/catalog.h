// SPDX-License-Identifier: Apache-2.0
// The relations and views that SQL may name.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/store/relation.h"

namespace dladvisor {

using RelationMap = std::map<std::string, const Relation*, std::less<>>;

class Catalog {
 public:
  // In place of one of the same name.
  void Add(const Relation& relation);
  void AddView(std::string_view name) { views_.emplace(name); }

  const Relation* Find(std::string_view name) const;
  bool IsView(std::string_view name) const { return views_.contains(name); }
  std::vector<std::string> Names() const;  // of views and relations

  const std::vector<const Relation*>& relations() const { return order_; }  // in the order added
  const std::set<std::string, std::less<>>& views() const { return views_; }
  const RelationMap& by_name() const { return by_name_; }

 private:
  RelationMap by_name_;
  std::vector<const Relation*> order_;
  std::set<std::string, std::less<>> views_;
};

}  // namespace dladvisor
