// SPDX-License-Identifier: Apache-2.0
#include "src/cli/query_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/text.h"
#include "engine/inference/inference.h"
#include "src/cli/table.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

struct QueryOptions {
  ProfileOptions profile;
  std::string sql, format = "table";
};

// The full precision of a value, for other programs.
std::string Exact(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return "";
}

std::string CsvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

void PrintJson(const ResultSet& result) {
  std::vector<std::string> names;  // of several columns of a name the later ones are numbered
  for (const ResultColumn& column : result.columns) {
    std::string name = ValidUtf8(column.name);
    for (int n = 2; std::ranges::find(names, name) != names.end(); ++n)
      name = fmt::format("{}_{}", column.name, n);
    names.push_back(std::move(name));
  }
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : result.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (size_t i = 0; i < row.size(); ++i) {
      auto& field = object[names[i]];
      if (const auto* text = std::get_if<std::string>(&row[i]))
        field = ValidUtf8(*text);
      else if (const auto* integer = std::get_if<int64_t>(&row[i]))
        field = *integer;
      else if (const auto* real = std::get_if<double>(&row[i]); real && std::isfinite(*real))
        field = *real;
    }
    rows.push_back(std::move(object));
  }
  fmt::print("{}\n", rows.dump(2));
}

bool IsName(const std::string& sql) { return sql.find_first_of(" \n\t(") == std::string::npos; }

// A SELECT as it is; of the name of a relation its rows. Throws Error for one that is not there.
std::string ToSelect(const Database& database, const std::string& sql) {
  if (!IsName(sql)) return sql;
  std::vector<std::string> known = database.Views();
  if (!database.FindRelation(sql) && std::ranges::find(known, sql) == known.end()) {
    for (const Schema* schema : database.Relations()) known.push_back(schema->name);
    throw Error("query " + sql, "is not a relation" + DidYouMean(sql, known),
                "`dladvisor facts` lists them; a query begins with SELECT.");
  }
  return "SELECT * FROM \"" + sql + "\"";
}

Error ToError(const SqlError& error) {
  return Error("query", error.what(),
               error.hint().empty() ? "`dladvisor facts` lists relations, `dladvisor facts RELATION` columns."
                                    : error.hint());
}

// What a query reads of events where these are not held: 0 rows would be taken for an answer.
std::string NotHeld(const Profile& profile, const SqlReads& reads) {
  const std::map<std::string, std::string> not_held = profile.MissingRelations();
  std::vector<std::string> missing;
  for (const Schema* schema : AllSchemas())
    if (not_held.contains(schema->name) &&
        std::ranges::find(reads.relations, schema->name) != reads.relations.end())
      missing.push_back(schema->name);
  if (missing.empty()) return "";
  return fmt::format("{}: no rows of {}",
                     profile.trace ? profile.files[0] + " is no gate"
                     : profile.files.size() == 1
                         ? profile.files[0] + " is a digest, which holds no events"
                         : "of several profiles together only the facts are kept, not the events",
                     fmt::join(missing, ", "));
}

void RunQuery(QueryOptions options, const CommonOptions& common) {
  options.sql = options.profile.TakeLast("SQL");
  Stages stages(common);
  const Project project = LoadProject(common.config);
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  stages.Begin("read");
  const Profile profile = LoadProfiles(options.profile, options.profile.ToAnalysisOptions(project), stages);
  if (profile.is_elsewhere) return;
  for (const std::string& message : profile.unreadable)
    fmt::print(stderr, "warning: {}\n", VisibleLines(message));
  Database database = profile.OpenDatabase();
  stages.Begin("infer");
  // Adds derived relations and `finding`.
  for (const auto& [relation, error] :
       Infer(knowledge, database, {.absent_relations = profile.MissingRelations()}).relation_errors)
    fmt::print(stderr, "warning: relation {} has no rows: {}\n", relation, error);
  stages.Begin("query");
  const std::string warning = EventsNotHeld(profile, database, options.sql);
  if (!warning.empty()) fmt::print(stderr, "warning: {}\n", warning);
  const ResultSet result = RunSql(database, options.sql);
  stages.Hide();
  if (options.format == "csv")
    fmt::print("{}", CsvText(result));
  else if (options.format == "json")
    PrintJson(result);
  else
    PrintTable(result);
}

}  // namespace

std::string CsvText(const ResultSet& result) {
  std::string text;
  for (size_t i = 0; i < result.columns.size(); ++i)
    text += (i ? "," : "") + CsvField(result.columns[i].name);
  text += "\n";
  for (const auto& row : result.rows) {
    for (size_t i = 0; i < row.size(); ++i) text += (i ? "," : "") + CsvField(Exact(row[i]));
    text += "\n";
  }
  return text;
}

std::string EventsNotHeld(const Profile& profile, const Database& database, const std::string& sql) {
  if (profile.trace) return "";
  try {
    return NotHeld(profile, database.Prepare(ToSelect(database, sql)));
  } catch (const SqlError& error) {
    throw ToError(error);
  }
}

ResultSet RunSql(const Database& database, const std::string& sql, size_t max_rows) {
  try {
    return database.Query(ToSelect(database, sql), {}, max_rows);
  } catch (const SqlError& error) {
    throw ToError(error);
  }
}

void AddQueryCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<QueryOptions>();
  CLI::App* command = app.add_subcommand(
      "query", "Run SQL over a profile's facts and events: a SELECT, or the name of a relation");
  options->profile.AddTo(*command, "PROFILE... SQL");
  options->profile.AddMpiTo(*command);
  command->add_option("--format", options->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}));
  command->callback([options, &common] { RunQuery(*options, common); });
}

}  // namespace dladvisor
