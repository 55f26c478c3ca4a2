// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/derived_relation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <unordered_set>
#include <utility>

#include "engine/base/text.h"
#include "engine/model/subject_index.h"
#include "engine/rules/rule_checker.h"
#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

// As many as an analysis would make; more belong into the analyses.
constexpr size_t kMaxRows = 1'000'000;

Column ReadColumn(const YamlFile& yaml, const YAML::Node& key, const YAML::Node& node,
                  const std::string& relation, Problems& problems) {
  Column column;
  column.name = key.Scalar();
  YamlMap map(yaml, node, relation, fmt::format("column '{}'", column.name), problems);
  const std::string type = map.RequiredText("type");
  if (const auto known = ParseType(type))
    column.type = *known;
  else if (!type.empty())
    problems.Add(map.PlaceOf(map.Get("type")), relation,
                 fmt::format("no type '{}'; types: int, real, text", type));
  column.unit = map.ReadUnit("unit");
  if (column.unit == Unit::kNone && column.type == Type::kText) column.unit = Unit::kText;
  column.doc = map.Text("doc").value_or("");
  map.Finish();
  return column;
}

std::string TypeWord(const Value& value) {
  return std::holds_alternative<std::string>(value) ? "text"
         : std::holds_alternative<double>(value)    ? "real"
                                                    : "integer";
}

bool Fits(const Value& value, Type type) {
  if (IsNull(value)) return true;
  if (std::holds_alternative<std::string>(value)) return type == Type::kText;
  if (std::holds_alternative<double>(value)) return type == Type::kReal;
  return type != Type::kText;
}

}  // namespace

DerivedRelation ReadDerivedRelation(const YamlFile& yaml, const std::string& stem, Problems& problems) {
  DerivedRelation relation;
  YamlMap map(yaml, yaml.root(), stem, "a relation", problems);
  relation.place = map.place();
  const std::string name = map.RequiredText("relation");
  if (!name.empty() && name != stem)
    problems.Add(map.PlaceOf(map.Get("relation")), stem,
                 fmt::format("relation '{}' is not the file's name '{}'", name, stem));
  relation.schema.name = stem;
  if (stem.starts_with("sqlite_"))
    problems.Add(relation.place, stem, "is a name that SQLite keeps for itself");
  if (!IsName(stem))
    problems.Add(relation.place, stem, "is not a valid name of a relation: use letters, digits and _");
  relation.schema.doc = map.RequiredText("doc");
  relation.override = map.Flag("override");
  if (!map.Get("key").IsDefined())
    problems.Add(relation.place, stem,
                 "a relation lacks 'key': the columns that name a row ([] where there is one)");
  const auto keys = map.TextList("key");
  const YAML::Node columns = map.Get("columns");
  if (!columns.IsDefined() || !columns.IsMap() || columns.size() == 0)
    problems.Add(map.PlaceOf(columns), stem, "a relation lacks 'columns': name: {type, unit, doc}");
  else
    for (const auto& entry : columns) {
      if (entry.first.IsScalar() && IsName(entry.first.Scalar()))
        relation.schema.columns.push_back(ReadColumn(yaml, entry.first, entry.second, stem, problems));
      else
        problems.Add(yaml.PlaceOf(entry.first), stem,
                     "is not a valid name of a column: use letters, digits and _");
    }
  std::vector<std::string> names;
  for (const Column& column : relation.schema.columns) {
    if (std::ranges::any_of(names, [&](const std::string& other) { return SameName(other, column.name); }))
      problems.Add(
          relation.place, stem,
          fmt::format("there already is a column '{}': names in SQL are case-insensitive", column.name));
    names.push_back(column.name);
  }
  for (const auto& [key, place] : keys) {
    relation.schema.key.push_back(key);
    if (!relation.schema.Find(key) && !names.empty())
      problems.Add(place, stem,
                   fmt::format("key '{}' is none of its columns{}", key, DidYouMean(key, names)));
  }
  relation.sql = map.RequiredText("sql");
  relation.sql_place = map.PlaceOf(map.Get("sql"));
  map.Finish();
  return relation;
}

void CheckDerivedRelation(DerivedRelation& relation, const Database& empty, Problems& problems) {
  if (relation.sql.empty()) return;
  Schema& schema = relation.schema;
  const auto add = [&](const std::string& reason) { problems.Add(relation.sql_place, schema.name, reason); };
  SqlReads reads;
  ResultSet result;
  try {
    reads = empty.Prepare(relation.sql);
    if (!reads.parameters.empty())
      return add(
          fmt::format("a relation has no params: write the value in place of :{}", reads.parameters[0]));
    result = empty.Query(relation.sql, {}, 0);
  } catch (const SqlError& error) {
    return problems.AddInText(relation.sql_place, schema.name, error.what(), relation.sql, error.offset());
  }
  relation.reads = reads.relations;
  const SqlTypes types =
      CheckTypes(relation.sql, relation.sql_place, schema.name, TypesOfReads(empty, reads.columns), problems);
  std::vector<std::string> given;
  for (const ResultColumn& column : result.columns) {
    given.push_back(column.name);
    if (!schema.Find(column.name))
      add(fmt::format("its SQL gives a column '{}' that is not declared", column.name));
  }
  std::set<std::string> needed;
  bool nullable = false;
  for (const ColumnRead& read : reads.columns) {
    const Schema* source = empty.FindRelation(read.relation);
    const auto index = source ? source->Find(read.column) : std::nullopt;
    if (!index || !source->columns[*index].nullable) continue;
    nullable = true;
    for (const std::string_view name : Split(source->columns[*index].capture, ' ')) needed.emplace(name);
  }
  for (Column& column : schema.columns) {
    if (std::ranges::find(given, column.name) == given.end())
      add(fmt::format("its SQL gives no column '{}'{}", column.name, DidYouMean(column.name, given)));
    if (std::ranges::find(schema.key, column.name) == schema.key.end()) {
      column.nullable = nullable;
      column.capture = fmt::format("{}", fmt::join(needed, " "));
    }
    const auto type = types.columns.find(column.name);
    if (type == types.columns.end()) continue;
    const auto& known = type->second.type;
    const auto& unit = type->second.unit;
    if (known && (*known == Type::kText) != (column.type == Type::kText))
      add(fmt::format("column '{}' is declared {} and is {}", column.name, TypeName(column.type),
                      TypeName(*known)));
    else if (known == Type::kReal && column.type == Type::kInteger)
      add(fmt::format("column '{}' is declared integer and is real", column.name));
    if (unit && column.unit == Unit::kNone) column.unit = *unit;
    if (unit && *unit != column.unit)
      add(fmt::format("column '{}' is declared in {} and is in {}", column.name, UnitName(column.unit),
                      UnitName(*unit)));
  }
}

std::unique_ptr<Table> Evaluate(const DerivedRelation& relation, const Database& db) {
  const Schema& schema = relation.schema;
  ResultSet result = db.Query(relation.sql, {}, kMaxRows + 1);
  if (result.rows.size() > kMaxRows)
    throw SqlError(fmt::format("relation {} has more than {} rows", schema.name, WithThousands(kMaxRows)),
                   -1);
  std::vector<size_t> source;
  for (const Column& column : schema.columns)
    source.push_back(static_cast<size_t>(std::ranges::find(result.columns, column.name, &ResultColumn::name) -
                                         result.columns.begin()));
  auto table = std::make_unique<Table>(schema);
  std::unordered_set<std::string> keys;
  table->Reserve(result.rows.size());
  for (auto& row : result.rows) {
    std::vector<Value> values;
    for (size_t i = 0; i < source.size(); ++i) {
      Value& value = row[source[i]];
      if (!Fits(value, schema.columns[i].type))
        throw SqlError(fmt::format("relation {}: column {} is declared {} and holds a {}", schema.name,
                                   schema.columns[i].name, TypeName(schema.columns[i].type), TypeWord(value)),
                       -1);
      values.push_back(std::move(value));
    }
    std::vector<NamedValue> key;
    for (const std::string& name : schema.key) key.push_back({name, values[*schema.Find(name)], Unit::kNone});
    if (!keys.insert(SubjectText(key)).second)
      throw SqlError(fmt::format("relation {}: several rows have the key {}", schema.name,
                                 key.empty() ? "(), which is for one row" : SubjectText(key)),
                     -1);
    table->AddRow(std::move(values));
  }
  return table;
}

}  // namespace dladvisor
