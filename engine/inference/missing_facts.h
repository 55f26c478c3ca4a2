// SPDX-License-Identifier: Apache-2.0
// Names the facts that were missing where a rule cannot be decided.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/model/advice.h"
#include "engine/model/rule.h"
#include "engine/store/database.h"
#include "engine/store/equal_index.h"

namespace dladvisor {

class MissingFacts {
 public:
  // `scope` begins with the values of the row at hand: the subject's columns, then the lets. `sql` is the
  // statement that gives the rows. All must outlive it.
  MissingFacts(const Rule& rule, const Database& db, const std::vector<NamedValue>& scope,
               size_t subject_columns, size_t values, std::string sql)
      : rule_(rule),
        db_(db),
        scope_(scope),
        subject_columns_(subject_columns),
        values_(values),
        sql_(std::move(sql)) {}

  // Puts into the finding, whose conditions are judged, the facts that were NULL: columns of the subject's
  // row, or columns of other relations without a value, as far as the conditions read them directly or
  // through lets that are NULL. A relation without rows counts where nothing that is there is NULL: it may
  // well be without by right.
  void Name(Finding& finding);

 private:
  // What is not there of a column that a condition reads, for a subject.
  struct Lack {
    enum Kind { kNone, kNoRow, kNull, kNullElsewhere };  // the last in rows only that the rule does not name
    Kind kind = kNone;
    std::string text = {};               // of NULL in which rows: " of bucket idle/input"; or ""
    std::vector<std::string> rows = {};  // likewise: "idle/input"
  };
  // The rows that match a subject, of a relation's column.
  struct RowsOfColumn {
    bool any = false, any_null = false;
    std::map<Value, bool> nulls =
        {};  // by the last key column of the first of them, whether it is NULL there
  };
  struct Missing {
    std::vector<std::string> facts, lacks, capture;
  };

  bool Find(Finding& finding);
  const NamedValue* OwnColumn(const ColumnRead& read) const;
  const std::vector<ColumnRead>& Reads(size_t condition, const std::vector<bool>& lets);
  static Lack LackOfOwn(const NamedValue& value);
  const Lack& LackOf(const ColumnRead& read, const Schema& schema);
  std::string NoRowText(const ColumnRead& read, const std::vector<Binding>& keys) const;
  Lack NullOf(const ColumnRead& read, const Schema& schema, const RowsOfColumn& rows,
              const std::vector<Binding>& keys) const;
  RowsOfColumn Look(const ColumnRead& read, const Schema& schema, const std::vector<Binding>& keys);
  void ForEachMatch(const Relation& relation, const std::vector<Binding>& keys,
                    const std::function<void(size_t)>& visit);

  static constexpr size_t kMostLooked = 100;  // values of the last key column

  const Rule& rule_;
  const Database& db_;
  const std::vector<NamedValue>& scope_;
  const size_t subject_columns_, values_;
  const std::string sql_;
  std::map<std::pair<size_t, std::vector<bool>>, std::vector<ColumnRead>> reads_;  // of a condition, by the
                                                                                   // lets that are NULL
  // By relation, column and the values of the shared key columns.
  std::map<std::tuple<std::string, std::string, std::vector<Value>>, Lack> lacks_;
  std::map<std::pair<const Relation*, std::vector<size_t>>, EqualIndex> indexes_;  // by columns
  std::map<std::vector<bool>, Missing> missing_;  // by which conditions and values are unknown
};

// Adds what one finding lacks to another.
void InheritMissing(const Finding& from, Finding& to);

}  // namespace dladvisor
