// SPDX-License-Identifier: Apache-2.0
#include "engine/authoring/rule_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "engine/authoring/rule_schema.h"
#include "engine/base/text.h"

namespace dladvisor {
namespace {

// The nearest id: "X-time_ledger" -> "x-time-ledger".
std::string ValidId(std::string_view text) {
  std::string id;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    id += byte < 128 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : '-';
  }
  return id;
}

// The nearest name of the form CATEGORY/ID: "../../IO/x" -> "io/x", "slow" -> "io/slow".
std::string ValidName(std::string_view name) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= name.size();) {
    const size_t end = std::min(name.find('/', from), name.size());
    const std::string part = ValidId(name.substr(from, end - from));
    const size_t first = part.find_first_not_of('-');
    if (end > from && first != std::string::npos)
      parts.push_back(part.substr(first, part.find_last_not_of('-') - first + 1));
    from = end + 1;
  }
  const std::string id = parts.empty() ? "my-rule" : parts.back();
  return (parts.size() < 2 ? "io" : parts[parts.size() - 2]) + "/" + id;
}

const Schema& FindSchema(const KnowledgeBase& knowledge, const std::string& relation) {
  std::vector<std::string> names;
  for (const Schema* schema : knowledge.schemas()) {
    if (schema->name == relation) return *schema;
    names.push_back(schema->name);
  }
  throw Error("--for " + relation, "is not a relation" + DidYouMean(relation, names),
              "`dladvisor facts` lists them.");
}

bool IsKey(const Schema& schema, const Column& column) {
  return std::ranges::find(schema.key, column.name) != schema.key.end();
}

// What a first rule would judge: a share, else a number, else a text.
const Column& ColumnToJudge(const Schema& schema) {
  const auto rank = [&](const Column& column) {
    return IsKey(schema, column)         ? 4
           : column.type == Type::kText  ? 3
           : column.unit == Unit::kRatio ? 0
           : column.unit == Unit::kNone  ? 2
                                         : 1;
  };
  const auto best = std::ranges::min_element(schema.columns, {}, rank);
  if (best == schema.columns.end() || rank(*best) == 4)
    throw Error("--for " + schema.name, "has no column but its keys", "Choose another relation.");
  return *best;
}

// A value below, at and above the threshold.
struct Levels {
  Value at, above;
};
Levels LevelsOf(const Column& column) {
  if (column.type == Type::kText) return {std::string("fine"), std::string("bad")};
  if (column.unit == Unit::kRatio) return {0.5, 0.75};
  if (column.type == Type::kReal) return {100.0, 150.0};
  return {int64_t{100}, int64_t{150}};
}

std::string Yaml(const Value& value) {
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return FormatValue(value, Unit::kText);
}

std::string KeyCells(const Schema& schema) {
  std::string cells;
  for (const std::string& key : schema.key)
    cells += fmt::format("{}: {}, ", key, schema.columns[*schema.Find(key)].type == Type::kText ? "a" : "0");
  return cells;
}

std::string RuleText(const std::string& id, const Schema& schema, const Column& column,
                     const std::string& threshold) {
  const bool text = column.type == Type::kText;
  const Levels levels = LevelsOf(column);
  const std::string unit =
      column.unit == Unit::kNone || text ? "" : fmt::format(", unit: {}", UnitName(column.unit));
  std::string subject;
  for (const std::string& key : schema.key)
    subject += fmt::format("{}{} {{{{{}}}}}", subject.empty() ? "" : ", ", key, key);
  if (!subject.empty()) subject = " (" + subject + ")";
  return fmt::format(
      "# yaml-language-server: $schema=../{}\n"
      "id: {}\n"
      "title: Say the failing state in a few words\n"
      "severity: warning\n"
      "confidence: medium\n"
      "for: {}   # `dladvisor facts {}` lists its columns\n"
      "params:\n"
      "  {}: {{default: {}{}, doc: Say what it means and where the number comes from.}}\n"
      "when:\n"
      "  - {} {} :{}\n"
      "problem: >\n"
      "  {} is {{{{{}}}}}{}.\n"
      "recommendation:\n"
      "  - Say what to change first.\n",
      kRuleSchemaFile, id, schema.name, schema.name, threshold, Yaml(levels.at), unit, column.name,
      text ? "<>" : ">", threshold, column.name, column.name, subject);
}

std::string TestText(const Schema& schema, const Column& column) {
  const Levels levels = LevelsOf(column);
  const std::string keys = KeyCells(schema);
  std::string subject = keys;
  if (!subject.empty()) subject = "subject: {" + subject.substr(0, subject.size() - 2) + "}, ";
  const auto test = [&](const std::string& name, const std::string& cells, const std::string& expect) {
    return fmt::format("  - name: {}\n    given: {{{}: [{{{}}}]}}\n    expect: [{{{}{}}}]\n", name,
                       schema.name, cells, subject, expect);
  };
  const std::string bare = keys.empty() ? "" : keys.substr(0, keys.size() - 2);
  std::string text = fmt::format("# yaml-language-server: $schema=../{}\ntests:\n", kTestSchemaFile);
  text += test(column.type == Type::kText ? "fires on another value" : "fires above the threshold",
               fmt::format("{}{}: {}", keys, column.name, Yaml(levels.above)),
               fmt::format("outcome: fired, problem: \"{}\"", FormatValue(levels.above, column.unit)));
  text += test(column.type == Type::kText ? "clear on the value" : "clear at the threshold",
               fmt::format("{}{}: {}", keys, column.name, Yaml(levels.at)), "outcome: clear");
  if (column.nullable)
    text += test("unknown without the fact", bare,
                 fmt::format("outcome: unknown, missing: [{}.{}]", schema.name, column.name));
  return text;
}

}  // namespace

std::vector<DocFile> NewRule(const KnowledgeBase& knowledge, const std::string& name,
                             const std::string& relation) {
  const size_t slash = name.find('/');
  const std::string category = name.substr(0, slash),
                    id = slash == std::string::npos ? "" : name.substr(slash + 1);
  if (slash == std::string::npos)
    throw Error("rule " + name, "has no category: it is not of the form CATEGORY/ID",
                fmt::format("For example {}.", ValidName(name)));
  for (const std::string& part : {category, id})
    if (const std::string valid = ValidId(part); part.empty() || part != valid)
      throw Error(
          "rule " + name,
          part.empty()
              ? "is not of the form CATEGORY/ID: one of them is empty"
              : fmt::format("is not of the form CATEGORY/ID: '{}' has characters other than a-z, 0-9 and -",
                            part),
          fmt::format("For example {}.", ValidName(name)));
  if (knowledge.Find(id))
    throw Error("rule " + id, "already exists", "Choose another id, or copy it and say override: true.");
  const Schema& schema = FindSchema(knowledge, relation);
  const Column& column = ColumnToJudge(schema);
  const std::string threshold = schema.Find("threshold") ? "limit" : "threshold";
  return {{name + ".yaml", RuleText(id, schema, column, threshold)},
          {name + ".test.yaml", TestText(schema, column)}};
}

}  // namespace dladvisor
