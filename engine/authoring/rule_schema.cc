// SPDX-License-Identifier: Apache-2.0
#include "engine/authoring/rule_schema.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

using Json = nlohmann::ordered_json;

// A number is a text to the reader, such as the SQL 0.
Json Text(const char* description) { return {{"type", {"string", "number"}}, {"description", description}}; }

// One that must say something.
Json FullText(const char* description) {
  Json text = Text(description);
  text["pattern"] = "\\S";
  return text;
}

Json Choice(const std::vector<std::string>& values, const char* description) {
  return {{"enum", values}, {"description", description}};
}

// A key whose entries may all be comments.
const Json kNothing = {{"type", "null"}};

Json TextOrList(const char* description, size_t least = 0) {
  const Json text = {{"type", {"string", "number"}}, {"pattern", "\\S"}};
  Json either = {text, {{"type", "array"}, {"items", text}, {"minItems", least}}};
  if (least == 0) either.push_back(kNothing);
  return {{"description", description}, {"oneOf", std::move(either)}};
}

Json LinkOrLinks(const char* description) {
  const Json link = {{"type", "string"}, {"pattern", "^https?://[^\\s/<>][^\\s<>]*$"}};
  return {{"description", description}, {"oneOf", {link, {{"type", "array"}, {"items", link}}, kNothing}}};
}

Json Object(Json properties, const std::vector<std::string>& required, const char* description = nullptr) {
  Json object = {{"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
  if (!required.empty()) object["required"] = required;
  if (description) object["description"] = description;
  return object;
}

Json MapOf(Json values, const char* description) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}, {"description", description}};
}

// The same, whose keys are names in SQL.
Json NamedMapOf(Json values, const char* description) {
  Json map = MapOf(std::move(values), description);
  map["type"] = {"object", "null"};
  map["propertyNames"] = {{"pattern", "^[A-Za-z_][A-Za-z0-9_]*$"}};
  return map;
}

std::vector<std::string> Units() {
  std::vector<std::string> units;
  for (const Unit unit : {Unit::kNanoseconds, Unit::kBytes, Unit::kRatio, Unit::kCount, Unit::kCountPerStep,
                          Unit::kBytesPerSecond, Unit::kFlops, Unit::kFlopsPerSecond, Unit::kCelsius,
                          Unit::kWatts, Unit::kHertz, Unit::kText})
    units.emplace_back(UnitName(unit));
  return units;
}

Json Scalar(const char* description) {
  return {{"type", {"number", "string", "boolean"}}, {"description", description}};
}

Json UnitChoice() {
  return Choice(Units(), "What it counts: decides how it prints and what it may be compared with.");
}

Json SqlOr(Json properties, const std::vector<std::string>& required, const char* description) {
  return {{"description", description},
          {"oneOf",
           {{{"type", {"string", "number"}}, {"minLength", 1}}, Object(std::move(properties), required)}}};
}

Json Param() {
  Json table = MapOf({{"type", "number"}}, "Numbers by pattern of a name, for lookup(:param, name).");
  table["minProperties"] = 1;
  Json param =
      Object({{"default",
               Scalar("The value, unless the project file sets another; with a table, of what fits none.")},
              {"table", std::move(table)},
              {"unit", UnitChoice()},
              {"doc", Text("What it means and where the number comes from.")}},
             {});
  param["anyOf"] = {{{"required", {"default"}}}, {{"required", {"table"}}}};
  const auto default_is = [](Json type) -> Json {
    return {{"properties", {{"default", {{"type", std::move(type)}}}}}};
  };
  const Json is_measured = {{"required", {"unit"}},
                            {"properties", {{"unit", {{"not", {{"const", UnitName(Unit::kText)}}}}}}}};
  param["allOf"] = {{{"if", {{"required", {"table"}}}}, {"then", default_is("number")}},
                    {{"if", is_measured}, {"then", default_is({"number", "boolean"})}}};
  return param;
}

Json RuleProperties(const KnowledgeBase& knowledge) {
  std::vector<std::string> relations;
  for (const Schema* schema : knowledge.schemas()) relations.push_back(schema->name);
  Json bucket = Text("Bucket of the ledger.");
  if (const auto& ledger = knowledge.ledger()) {
    std::vector<std::string> names = ledger->buckets;
    for (std::string& family : ledger->Families()) names.push_back(std::move(family));
    bucket = Choice(names, "Bucket of the time ledger, or a family of them.");
  }
  return {
      {"id", FullText("The file's name without .yaml; a noun for the failing state.")},
      {"title", FullText("The failing state in a few words.")},
      {"doc", Text("Why it matters and where the thresholds come from; for the rules' documents.")},
      {"severity", Choice({"error", "warning", "info"}, "How bad it is; warning where it is not said.")},
      {"confidence",
       Choice({"high", "medium", "low"}, "How sure the advice is; medium where it is not said.")},
      {"override",
       {{"type", "boolean"}, {"description", "Replaces the rule of this id of an earlier layer."}}},
      {"for",
       {{"description",
         "What it judges: a relation, each of whose rows is a subject, or a query with its key columns."},
        {"oneOf",
         {{{"type", "string"}, {"minLength", 1}, {"examples", relations}},
          Object({{"sql", FullText("A SELECT; each row is a subject.")},
                  {"key", TextOrList("Columns that name a subject; [] where there is one.")}},
                 {"sql", "key"})}}}},
      {"params", NamedMapOf({{"oneOf", {{{"type", {"number", "string", "boolean"}}}, Param()}}},
                            "Thresholds, written :name in SQL; a project may set others.")},
      {"with",
       NamedMapOf(FullText("A SELECT."), "Relations of this rule alone, which its other SQL reads by name.")},
      {"let", NamedMapOf(SqlOr({{"sql", FullText("An expression.")}, {"unit", UnitChoice()}}, {"sql"},
                               "A named value."),
                         "Named values over the subject's columns, params, earlier names and sub-queries.")},
      {"when", TextOrList("SQL conditions over the subject; all must be true.", 1)},
      {"given", TextOrList("Rules that must have fired for a matching subject.")},
      {"unless", TextOrList("Rules that suppress this one where they fired for a matching subject.")},
      {"causes", TextOrList("Rules whose findings this one explains: nested under it.")},
      {"saves", Object({{"from", bucket},
                        {"high", FullText("SQL: time that the fix saves at most, in ns per step.")},
                        {"low", FullText("SQL: time that it saves at least.")},
                        {"now", FullText("SQL: time that it saves at most as long as all else stays: of "
                                         "families of buckets that hold work and losses, or of work "
                                         "with which losses go.")}},
                       {"from", "high"}, "What fixing it saves.")},
      {"problem",
       FullText("What is wrong, with the values: {{name}} prints a column, let or param by its unit.")},
      {"recommendation", TextOrList("What to change, the best first.", 1)},
      {"code", FullText("What to paste, of one or several lines: code or a command, without prose.")},
      {"evidence", SqlOr({{"sql", FullText("A SELECT; :name is a column of the subject, a let or a param.")}},
                         {"sql"}, "Rows that show the problem.")},
      {"references", LinkOrLinks("Where to read on.")},
  };
}

Json RelationProperties() {
  Json columns =
      NamedMapOf(Object({{"type", Choice({"int", "integer", "real", "text"}, "Type of its values.")},
                         {"unit", UnitChoice()},
                         {"doc", Text("What it is.")}},
                        {"type"}),
                 "The columns of the SELECT.");
  columns["type"] = "object";
  columns["minProperties"] = 1;
  return {
      {"relation", FullText("The file's name without .yaml.")},
      {"doc", FullText("What a row is.")},
      {"override",
       {{"type", "boolean"}, {"description", "Replaces the relation of this name of an earlier layer."}}},
      {"key", TextOrList("Columns that name a row; [] where there is one.")},
      {"columns", std::move(columns)},
      {"sql", FullText("A SELECT over other relations.")},
  };
}

std::string Document(const char* title, Json body) {
  Json document = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}};
  document.update(body);
  return document.dump(1) + "\n";
}

// The rows that a test gives of a relation.
Json Rows(const Schema& schema) {
  Json columns = Json::object();
  const auto types = [](Type type) -> Json {
    if (type == Type::kText) return {"string", "number", "null"};
    return {type == Type::kInteger ? "integer" : "number", "null"};
  };
  for (const Column& column : schema.columns)
    columns[column.name] = {{"type", types(column.type)}, {"description", column.doc}};
  return {{"type", "array"}, {"description", schema.doc}, {"items", Object(std::move(columns), {})}};
}

}  // namespace

std::string RuleSchema(const KnowledgeBase& knowledge) {
  return Document("dladvisor rule or derived relation",
                  {{"if", {{"required", {"relation"}}}},
                   {"then", Object(RelationProperties(), {"relation", "doc", "key", "columns", "sql"})},
                   {"else", Object(RuleProperties(knowledge),
                                   {"id", "title", "for", "when", "problem", "recommendation"})}});
}

std::string TestSchema(const KnowledgeBase& knowledge) {
  Json given = Json::object();
  for (const Schema* schema : knowledge.schemas()) given[schema->name] = Rows(*schema);
  const auto saves = [](const char* description) -> Json {
    return {{"type", {"number", "string"}},
            {"pattern", "^(none|[^ ]+[.][.][^ ]+)$"},
            {"description", description}};
  };
  Json expectation = {
      {"type", "object"},
      {"properties",
       {{"subject", MapOf(Scalar("Value of a key column."), "Key columns of the subject.")},
        {"outcome", Choice({"fired", "clear", "unknown", "suppressed", "failed"}, "What the rule decides.")},
        {"problem", FullText("Part of the rendered problem.")},
        {"recommendation", FullText("Part of one of the rendered recommendations.")},
        {"saves_low", saves("ns, or a range: 1.0e+6..1.2e+6; none where nothing is claimed.")},
        {"saves_high", saves("ns, a range, or none.")},
        {"values", MapOf(Scalar("Value of a let."), "Values of lets.")},
        {"missing", TextOrList("Facts that are not known, as relation.column.")},
        {"suppressed_by", FullText("Id of the rule that suppresses it.")}}}};
  // What has no outcome is a row of a relation, with columns of its own.
  Json keys = Json::object();
  for (const auto& [key, schema] : expectation["properties"].items()) keys[key] = true;
  expectation["if"] = {{"required", {"outcome"}}};
  expectation["then"] = {{"additionalProperties", false}, {"properties", std::move(keys)}};
  const Json test =
      Object({{"name", FullText("What the case shows.")},
              {"given",
               {{"type", "object"},
                {"description", "Rows by relation; columns not given are NULL."},
                {"properties", std::move(given)},
                {"additionalProperties", {{"type", "array"}}}}},
              {"expect",
               {{"type", "array"},
                {"description", "A finding per subject in order, or a relation's rows; [] for none."},
                {"items", expectation}}}},
             {"name", "given", "expect"});
  return Document("dladvisor rule test",
                  Object({{"never_unknown", FullText("Why no condition of the rule can be unknown.")},
                          {"tests", {{"type", "array"}, {"items", test}}}},
                         {"tests"}));
}

}  // namespace dladvisor
