// SPDX-License-Identifier: Apache-2.0
#include "src/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/report/formats/html_parts.h"
#include "src/report/formats/html_report.h"
#include "src/report/formats/json_report.h"
#include "src/report/formats/markdown_report.h"
#include "src/report/formats/text_report.h"
#include "src/report/model/column_style.h"
#include "src/report/sections/capture_section.h"
#include "src/report/sections/headline.h"

namespace dladvisor {
namespace {

std::string MissingRelation(const std::string& relation) {
  return fmt::format("the profile gives no relation {}", relation);
}

// Of a program that uses no GPU no other capture shows one.
bool IsWithoutGpu(const Database& db) {
  const Schema* run = db.FindRelation("run");
  return run != nullptr && run->Find("kind") &&
         !db.Query("SELECT 1 FROM run WHERE kind IN ('host', 'accelerator')").rows.empty();
}

// Why a figure is NULL: the relation is not there, its fact needs another capture, or what the query
// says.
std::string WhyUnknown(const Database& db, const FigureQuery& query) {
  const Schema* schema = db.FindRelation(query.relation);
  if (schema == nullptr) return MissingRelation(query.relation);
  const auto column = schema->Find(query.column);
  if (!column || schema->columns[*column].capture.empty()) return query.unknown_because;
  const auto options = CaptureOptions({schema->columns[*column].capture}, WordsOf(db));
  if (options.empty() || IsWithoutGpu(db)) return query.unknown_because;
  return fmt::format("{}; profile with {}", query.unknown_because, fmt::join(options, " "));
}

Figure ReadFigure(const Database& db, const FigureQuery& query) {
  Figure figure{query.id, query.label, {}, query.unit, query.sql, {}};
  if (db.FindRelation(query.relation) != nullptr) {
    try {
      const ResultSet result = db.Query(query.sql, {}, 1);
      if (!result.rows.empty()) {
        figure.value = result.rows[0][0];
        if (const Value& why = result.rows[0].back(); IsNull(figure.value) && !IsNull(why)) {
          figure.unknown_because = FormatValue(why, Unit::kText);
          return figure;
        }
      }
    } catch (const SqlError& error) {
      figure.unknown_because = error.what();
      return figure;
    }
  }
  if (IsNull(figure.value)) figure.unknown_because = WhyUnknown(db, query);
  return figure;
}

double CountOf(const Database& db, const std::string& relation, const std::string& counted) {
  const Schema* schema = db.FindRelation(relation);
  if (schema == nullptr) return 0;
  return AsNumber(db.Query("SELECT count(" + counted + ") FROM " + relation).rows.at(0).at(0)).value_or(0);
}

// Of many profiles the details are kept of some alone: says of which where a table's relation is of some.
std::string ScopeOf(const Database& db, const std::string& relation, double ranks, double profiles) {
  const Schema* schema = db.FindRelation(relation);
  constexpr double kMany = kMostWithoutScope;
  if (schema == nullptr || std::max(ranks, profiles) <= kMany) return "";
  const bool by_rank = schema->Find("rank").has_value();
  if (!by_rank && !schema->Find("profile")) return "";
  const std::string column = by_rank ? "rank" : "profile";
  const double all = by_rank ? ranks : profiles, held = CountOf(db, relation, "DISTINCT " + column);
  if (held == 0 || held >= all) return "";
  const std::string total = FormatValue(all, Unit::kCount);
  if (held > kMany) return fmt::format("Of {} of {} {}s.", FormatValue(held, Unit::kCount), total, column);
  std::string text;
  for (const auto& row :
       db.Query(fmt::format("SELECT DISTINCT {0} FROM {1} ORDER BY {0}", column, relation)).rows)
    text += (text.empty() ? "" : ", ") + FormatValue(row[0], Unit::kNone);
  return fmt::format("Of {}{} {} of {}.", column, held == 1 ? "" : "s", text, total);
}

// The tables that are asked for.
std::vector<const TableQuery*> QueriesOf(const Database& db) {
  const bool has_operators = WordsOf(db).records_operators;
  std::vector<const TableQuery*> queries;
  for (const TableQuery& query : TableQueries())
    if (query.needs != "operators" || has_operators) queries.push_back(&query);
  return queries;
}

}  // namespace

ReportTable ReadTable(const Database& db, const TableQuery& query, size_t shown_rows) {
  const size_t most = query.is_listed ? std::min(query.max_rows, shown_rows) : query.max_rows;
  ReportTable table{query.id, query.title, query.note, query.sql, {}, 0};
  if (db.FindRelation(query.relation) == nullptr) {
    table.note = MissingRelation(query.relation);
    return table;
  }
  try {
    // SQLite sorts no more rows than the limit, and none where another order is asked for.
    table.rows = db.Query(fmt::format("SELECT * FROM ({}) LIMIT {}", query.sql, most));
    table.total_rows = table.rows.rows.size();
    if (table.total_rows == most) {
      const ResultSet count = db.Query("SELECT count(*) FROM (" + query.sql + ") ORDER BY 1");
      if (const auto* total = std::get_if<int64_t>(&count.rows.at(0).at(0)))
        table.total_rows = static_cast<size_t>(*total);
    }
  } catch (const SqlError& error) {
    table.rows = {};
    table.total_rows = 0;
    table.note = error.what();
  }
  for (ResultColumn& column : table.rows.columns) column.unit = StyleOf(column).unit;
  return table;
}

size_t RowsShown(ReportFormat format) {
  return format == ReportFormat::kJson ? kMaxReportRows : kMaxHtmlRows;
}

std::set<std::string> RelationsOfReport(const Database& db) {
  std::set<std::string> relations;
  for (const TableQuery* query : QueriesOf(db)) relations.insert(query->relation);
  return relations;
}

ReportModel BuildReport(const Database& db, const Advice& advice, const ReportOptions& options) {
  ReportModel model;
  model.options = options;
  model.advice = &advice;
  for (const FigureQuery& query : FigureQueries())
    if (Figure figure = ReadFigure(db, query); !(query.only_where_known && IsNull(figure.value)))
      model.figures.push_back(std::move(figure));
  const double ranks = FigureNumber(model, "ranks").value_or(0), profiles = CountOf(db, "profile", "*");
  for (const TableQuery* query : QueriesOf(db)) {
    ReportTable table = ReadTable(db, *query, options.shown_rows);
    if (query->only_with_rows && table.total_rows == 0 && table.note == query->note) continue;
    if (!table.rows.rows.empty() && !query->only_with_rows)
      table.scope = ScopeOf(db, query->relation, ranks, profiles);
    if (!table.scope.empty()) table.note += (table.note.empty() ? "" : " ") + table.scope;
    model.tables.push_back(std::move(table));
  }
  HeadlineText headline = Headline(model);
  model.headline = headline.loss + headline.action;
  model.headline_action = std::move(headline.action);
  return model;
}

std::string RenderReport(const ReportModel& model, ReportFormat format) {
  switch (format) {
    case ReportFormat::kHtml:
      return RenderHtml(model);
    case ReportFormat::kMarkdown:
      return RenderMarkdown(model);
    case ReportFormat::kJson:
      return RenderJson(model);
    case ReportFormat::kText:
      return RenderText(model);
  }
  return "";
}

}  // namespace dladvisor
