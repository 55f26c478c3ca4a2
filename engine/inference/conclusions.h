// SPDX-License-Identifier: Apache-2.0
// What the rules before have found, which later ones ask about by `given` and `unless`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/advice.h"
#include "engine/model/subject_index.h"

namespace dladvisor {

struct Conclusions {
  std::vector<Finding> findings;
  std::map<std::string, SubjectIndex> fired, unknown, failed;  // by rule

  void Add(std::vector<Finding> more);
  std::vector<size_t> FiredBy(const std::string& rule) const;
  // The first finding of the rule in `index` that matches the subject, or null.
  const Finding* Match(const std::map<std::string, SubjectIndex>& index, const std::string& rule,
                       const Finding& subject) const;
};

}  // namespace dladvisor
