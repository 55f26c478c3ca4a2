// A rule as its YAML file states it: data only. knowledge_base.h loads and checks rules, inference.h
// evaluates them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/value.h"

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
  Value value;  // the default
  Unit unit = Unit::kNone;
  std::string doc;
  Place place;
};

struct Let {
  std::string name, sql;
  Unit unit = Unit::kNone;
  Place place;
};

struct Condition {
  std::string sql;
  Place place;
};

// Another rule, named in `given`, `unless` or `causes`.
struct RuleReference {
  std::string id;
  Place place;
};

// Wall time per step that the fix saves, as SQL over the subject. `from` names a bucket of the time ledger.
struct Saves {
  std::string from;
  Condition high;
  std::optional<Condition> low;
};

// A Mustache text.
struct Message {
  std::string text;
  Place place;
};

struct Rule {
  std::string id, title, category;  // category: the folder of the file
  Severity severity = Severity::kWarning;
  Confidence confidence = Confidence::kMedium;
  bool override = false;                 // replaces a rule of an earlier layer
  std::string subject_relation;          // `for: NAME`, or "" where `for` is a query
  std::string subject_sql;               // the query over subjects
  std::vector<std::string> subject_key;  // its key columns
  Place subject_place;
  std::vector<Param> params;
  std::vector<Let> lets;
  std::vector<Condition> when;
  std::vector<RuleReference> given, unless, causes;
  std::optional<Saves> saves;
  Message problem;
  std::vector<Message> recommendation;
  std::optional<Condition> evidence;
  std::vector<std::string> references;
  Place place;
};

}  // namespace dladvisor
