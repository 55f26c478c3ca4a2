// SPDX-License-Identifier: Apache-2.0
// What a statement asks of the cells of one column, as far as they can be compared where they lie: rows
// without it are passed over before SQLite sees them, which takes many times as long for each.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "engine/store/relation.h"

struct sqlite3_index_info;
struct sqlite3_value;

namespace dladvisor {

// A number within a bound, a text that is one of a few, or any value at all. Holds of every row that SQLite
// takes, which tests it again, and of few others: integers are compared as doubles, and so are bounds that
// are not included.
class CellTest {
 public:
  // What stands for the kind of test of a constraint in a plan: '>' and '<' for bounds, '@' for a list, '!'
  // for any value; 0 where there is none. Lists are taken as a whole from here on.
  static char SignOf(const Schema& schema, sqlite3_index_info* info, int constraint);
  // Whether what the constraint compares with is asked for.
  static bool TakesValue(char sign) { return sign != '!'; }

  CellTest(const Relation& relation, char sign, size_t column, sqlite3_value* value);

  bool Holds(const Relation& relation, size_t row) const;

 private:
  void ReadBound(sqlite3_value* value, double& bound);
  void ReadList(sqlite3_value* list);

  size_t column_;
  enum class Asks { kNothing, kBounds, kTexts, kImpossible } asks_ = Asks::kBounds;
  double low_ = -std::numeric_limits<double>::infinity(), high_ = std::numeric_limits<double>::infinity();
  std::vector<std::string> texts_;
  const Table* table_ = nullptr;  // where texts are asked of one
  std::vector<int64_t> stored_;   // what it stores for those that it has
};

}  // namespace dladvisor
