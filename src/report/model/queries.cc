// SPDX-License-Identifier: Apache-2.0
#include "src/report/model/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string_view>

#include "engine/base/embedded.h"
#include "engine/base/error.h"
#include "engine/base/sql_file.h"

namespace dladvisor {

std::span<const EmbeddedFile> EmbeddedQueries();

namespace {

// Of a figure title, unit, relation, column, unknown and empty (hidden: it is left out where it is unknown);
// of a table title, note, relation, needs (asked only where the profiler records that: operators), empty
// (hidden: the report does not show the table then), max_rows, rows (listed: nothing is made of them but a
// list), view (the title of the one that shows it) and drawn (what is drawn in that view).
constexpr std::array<std::string_view, 12> kKeys = {"title",    "note",    "unit",  "relation",
                                                    "column",   "unknown", "needs", "empty",
                                                    "max_rows", "rows",    "view",  "drawn"};

struct Queries {
  std::vector<FigureQuery> figures;
  std::vector<TableQuery> tables;
  std::vector<ReportView> views;
};

[[noreturn]] void Refuse(const SqlStatement& statement, const std::string& reason) {
  throw Error("templates/queries: " + statement.Get("id"), reason, "Correct the file and build again.");
}

FigureQuery FigureOf(const SqlStatement& statement) {
  const auto unit = ParseUnit(statement.Get("unit"));
  if (!unit) Refuse(statement, fmt::format("unknown unit \"{}\"", statement.Get("unit")));
  return {statement.Get("id"),
          statement.Get("title"),
          *unit,
          statement.Get("relation"),
          statement.Get("column"),
          statement.sql,
          statement.Get("unknown"),
          statement.Get("empty") == "hidden"};
}

TableQuery TableOf(const SqlStatement& statement) {
  TableQuery table{statement.Get("id"),       statement.Get("title"), statement.Get("note"),
                   statement.Get("relation"), statement.sql,          statement.Get("needs")};
  table.only_with_rows = statement.Get("empty") == "hidden";
  table.is_listed = statement.Get("rows") == "listed";
  const std::string& most = statement.Get("max_rows");
  if (!most.empty() &&
      std::from_chars(most.data(), most.data() + most.size(), table.max_rows).ec != std::errc())
    Refuse(statement, fmt::format("max_rows \"{}\" is no number", most));
  return table;
}

// "ops-and-kernels" of "Ops and Kernels".
std::string ViewId(std::string_view title) {
  std::string id;
  for (const char c : title)
    id += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return id;
}

void AddToView(const SqlStatement& statement, std::vector<ReportView>& views) {
  const std::string &title = statement.Get("view"), &drawn = statement.Get("drawn");
  if (title.empty()) {
    if (!drawn.empty()) Refuse(statement, "says what is drawn, and no view");
    return;
  }
  auto view = std::ranges::find(views, title, &ReportView::title);
  if (view == views.end()) view = views.insert(view, {ViewId(title), title, "", {}});
  if (!drawn.empty() && !view->drawn.empty()) Refuse(statement, fmt::format("\"{}\" has a drawing", title));
  if (!drawn.empty()) view->drawn = drawn;
  view->tables.push_back(statement.Get("id"));
}

const Queries& AllQueries() {
  static const Queries all = [] {
    Queries queries;
    for (const EmbeddedFile& file : EmbeddedQueries())  // by name
      for (const SqlStatement& statement :
           ReadSqlFile(fmt::format("templates/queries/{}", file.path), file.content, kKeys)) {
        if (statement.Get("title").empty() || statement.Get("relation").empty())
          Refuse(statement, "has no title or no relation");
        if (!statement.Get("column").empty()) {
          queries.figures.push_back(FigureOf(statement));
          continue;
        }
        queries.tables.push_back(TableOf(statement));
        AddToView(statement, queries.views);
      }
    return queries;
  }();
  return all;
}

}  // namespace

const std::vector<FigureQuery>& FigureQueries() { return AllQueries().figures; }
const std::vector<TableQuery>& TableQueries() { return AllQueries().tables; }
const std::vector<ReportView>& ReportViews() { return AllQueries().views; }

}  // namespace dladvisor
