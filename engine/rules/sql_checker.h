// SPDX-License-Identifier: Apache-2.0
// Checks the SQL of a rule with what the rule puts around it: every statement is prepared, and messages name
// the place in the author's text and the word that may have been meant.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/model/rule.h"
#include "engine/rules/yaml_reader.h"
#include "engine/store/database.h"

namespace dladvisor {

std::vector<std::string> ParamNames(const Rule& rule);

// What is known of a rule so far and its further SQL may name.
struct SqlScope {
  Rule usable;                              // the rule with NULL for what is broken in it
  std::vector<std::string> columns;         // of the subject
  std::vector<std::string> broken_helpers;  // names
  size_t checked_lets = 0;                  // those above the one at hand

  bool HasColumn(const std::string& name) const;
};

class SqlChecker {
 public:
  // `scope` may grow between checks.
  SqlChecker(const Rule& rule, const SqlScope& scope, const Database& db, Problems& problems,
             Problems& warnings)
      : rule_(rule), scope_(scope), db_(db), problems_(problems), warnings_(warnings) {}

  // Whether SQL that gives a value of a subject is sound; says what is not.
  bool CheckExpression(const std::string& expression, const Place& place);
  // The same of a statement `sql`, in which `text` starts at `prefix` (-1: the place of an error in it is not
  // known); `parameters` may be named in it.
  bool CheckSql(const std::string& sql, const std::string& text, int prefix, const Place& place,
                const std::vector<std::string>& parameters);
  // The relations that what was checked reads.
  const std::set<std::string>& reads() const { return reads_; }

 private:
  bool CheckParentheses(const std::string& expression, const Place& place);
  // An expression names columns as subject.NAME, a statement as one of `parameters`, if at all.
  bool CheckOddSql(const std::string& text, const Place& place, bool is_expression,
                   const std::vector<std::string>& parameters);
  bool IsOfBrokenHelper(std::string_view reason) const;
  std::string WithRightColumn(const std::string& reason, const std::string& text) const;
  std::string WithQuotedName(const std::string& reason, const std::string& text) const;

  const Rule& rule_;
  const SqlScope& scope_;
  const Database& db_;
  Problems& problems_;
  Problems& warnings_;
  std::set<std::string> reads_;
  std::set<std::tuple<int, int, std::string>> warned_;  // line, column and what was said of it
};

}  // namespace dladvisor
