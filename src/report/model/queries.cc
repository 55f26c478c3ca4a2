// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/queries.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <span>

#include "engine/base/embedded.h"
#include "engine/base/error.h"
#include "engine/base/sql_file.h"

namespace dladvisor {

std::span<const EmbeddedFile> EmbeddedQueries();

namespace {

constexpr std::array<std::string_view, 17> kFiles = {
    "figures.sql", "speed_of_light.sql", "dashboard.sql", "ops.sql",         "iterations.sql", "gpus.sql",
    "pytorch.sql", "host.sql",           "timeline.sql",  "time_ledger.sql", "memory.sql",     "pipeline.sql",
    "ranks.sql",   "counters.sql",       "training.sql",  "serving.sql",     "capture.sql"};

// Of a figure title, unit, relation, column and unknown; of a table title, note, relation, needs (asked only
// where the profiler records that: operators), empty (hidden: the report does not show the table then) and
// max_rows.
constexpr std::array<std::string_view, 9> kKeys = {"title",   "note",  "unit",  "relation", "column",
                                                   "unknown", "needs", "empty", "max_rows"};

struct Queries {
  std::vector<FigureQuery> figures;
  std::vector<TableQuery> tables;
};

[[noreturn]] void Refuse(const SqlStatement& statement, const std::string& reason) {
  throw Error("templates/queries: " + statement.Get("id"), reason, "Correct the file and build again.");
}

FigureQuery FigureOf(const SqlStatement& statement) {
  const auto unit = ParseUnit(statement.Get("unit"));
  if (!unit) Refuse(statement, fmt::format("unknown unit \"{}\"", statement.Get("unit")));
  return {statement.Get("id"),       statement.Get("title"),  *unit,
          statement.Get("relation"), statement.Get("column"), statement.sql,
          statement.Get("unknown")};
}

TableQuery TableOf(const SqlStatement& statement) {
  TableQuery table{statement.Get("id"),       statement.Get("title"), statement.Get("note"),
                   statement.Get("relation"), statement.sql,          statement.Get("needs")};
  table.only_with_rows = statement.Get("empty") == "hidden";
  const std::string& most = statement.Get("max_rows");
  if (!most.empty() &&
      std::from_chars(most.data(), most.data() + most.size(), table.max_rows).ec != std::errc())
    Refuse(statement, fmt::format("max_rows \"{}\" is no number", most));
  return table;
}

const Queries& AllQueries() {
  static const Queries all = [] {
    Queries queries;
    for (const std::string_view file : kFiles)
      for (const SqlStatement& statement : ReadSqlFile(fmt::format("templates/queries/{}", file),
                                                       FindEmbedded(EmbeddedQueries(), file), kKeys)) {
        if (statement.Get("title").empty() || statement.Get("relation").empty())
          Refuse(statement, "has no title or no relation");
        if (statement.Get("column").empty())
          queries.tables.push_back(TableOf(statement));
        else
          queries.figures.push_back(FigureOf(statement));
      }
    return queries;
  }();
  return all;
}

}  // namespace

std::span<const std::string_view> QueryFiles() { return kFiles; }

const std::vector<FigureQuery>& FigureQueries() { return AllQueries().figures; }
const std::vector<TableQuery>& TableQueries() { return AllQueries().tables; }

}  // namespace dladvisor
