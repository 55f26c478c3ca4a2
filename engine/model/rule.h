// SPDX-License-Identifier: Apache-2.0
// A rule as its YAML file states it: data only. knowledge_base.h loads and checks rules, inference.h
// evaluates them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/value.h"
#include "engine/sql/type_inference.h"
#include "engine/store/relation.h"

namespace dladvisor {

enum class Severity { kError, kWarning, kInfo };
enum class Confidence { kHigh, kMedium, kLow };
std::string_view SeverityName(Severity s);
std::string_view ConfidenceName(Confidence c);

// Where a piece of a rule stands, for messages: 1-based line and column.
struct Place {
  std::string file;
  int line = 0, column = 0;
  bool exact = false;  // a text that stands in the file just as it is: offsets in it are columns
};

struct Param {
  std::string name;
  Value value;  // the default, or what a project file sets
  Unit unit = Unit::kNone;
  std::string doc;
  Place place;
  std::string set_by;     // file and line of the project file that set the value, or ""
  bool is_table = false;  // the value is a text of entries "PATTERN = NUMBER", for lookup()
};

// A relation of one rule alone: a SELECT that its other SQL reads by this name.
struct Helper {
  std::string name, sql;
  Place place;
};

struct Let {
  std::string name, sql;
  Unit unit = Unit::kNone;
  Place place;
  bool inferred = false;  // the unit follows from the SQL
};

struct Condition {
  std::string sql;
  Place place;
  std::vector<Comparison> comparisons;  // of `when` items; filled when the rule is checked
};

// Another rule, named in `given`, `unless` or `causes`.
struct RuleReference {
  std::string id;
  Place place;
};

// Time that the fix saves, as SQL over the subject. `from` names a bucket of the ledger (savings.h).
struct Saves {
  std::string from;
  Place from_place;
  Condition high;
  std::optional<Condition> low;
  std::optional<Condition> now;  // at most, as long as all losses stay; where the ledger does not know it
};

// A Mustache text.
struct Message {
  std::string text;
  Place place;
};

// A relation made by a SELECT over others (derived_relation.h).
struct DerivedRelation {
  Schema schema;
  std::string category;  // the folder of the file
  std::string sql;
  Place place, sql_place;
  bool override = false;
  std::vector<std::string> reads;  // relations that its SQL reads, sorted; filled when it is checked
};

struct Rule {
  std::string id, title, category;  // category: the folder of the file
  std::string doc;                  // why it matters and where its thresholds come from
  Severity severity = Severity::kWarning;
  Confidence confidence = Confidence::kMedium;
  bool override = false;                 // replaces a rule of an earlier layer
  std::string subject_relation;          // `for: NAME`, or "" where `for` is a query
  std::string subject_sql;               // the query over subjects
  std::vector<std::string> subject_key;  // its key columns
  Place subject_place;
  std::map<std::string, Unit> units;  // of computed subject columns, as far as their SQL shows them
  std::vector<std::string> reads;     // relations that its statements read, sorted
  std::string count_sql;              // CountSql() of it (count_sql.h)
  std::vector<Param> params;
  std::vector<Helper> helpers;
  std::vector<Let> lets;
  std::vector<Condition> when;
  std::vector<RuleReference> given, unless, causes;
  std::optional<Saves> saves;
  Message problem;
  std::vector<Message> recommendation;
  Message code;  // what to paste of it: a program's lines or a command; or ""
  std::optional<Condition> evidence;
  std::vector<std::string> references;
  Place place;
  std::string set_by;  // file and line of the project file that set the severity, or ""
};

}  // namespace dladvisor
