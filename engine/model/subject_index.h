// SPDX-License-Identifier: Apache-2.0
// Finds the findings of a rule whose subjects match another subject: their shared key columns are equal, so
// that a subject without keys matches all.
#pragma once

#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/model/advice.h"

namespace dladvisor {

// Names and values as one text, which is equal where the subjects are: 1 and 1.0 are the same.
std::string SubjectText(std::span<const NamedValue> subject);

// REQUIRES: all findings that are added have the same key columns.
class SubjectIndex {
 public:
  void Add(size_t finding, const std::vector<NamedValue>& subject);
  std::vector<size_t> All() const;  // in the order added
  // Those that match, in the order added.
  const std::vector<size_t>& Matching(const std::vector<NamedValue>& subject) const;

 private:
  std::vector<std::pair<size_t, std::vector<NamedValue>>> findings_;
  // By the names of the shared columns, filled when first asked for.
  mutable std::map<std::vector<std::string>, std::unordered_map<std::string, std::vector<size_t>>> shared_;
};

}  // namespace dladvisor
