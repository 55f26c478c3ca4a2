// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "engine/base/text.h"
#include "src/render/bucket_words.h"
#include "src/render/escape.h"
#include "src/report/formats/table_cells.h"
#include "src/report/model/column_style.h"
#include "src/report/sections/dashboard.h"

namespace dladvisor {
namespace {

// The greatest of a column.
double MostOf(const ResultSet& rows, size_t column, size_t shown) {
  double most = 0;
  for (size_t row = 0; row < shown; ++row)
    most = std::max(most, AsNumber(rows.rows[row][column]).value_or(0));
  return most;
}

// Running sums of the column `share`, for rows of which each has less than the one before; empty where there
// is none, or where it is of several wholes.
std::vector<double> Cumulative(const ResultSet& rows, size_t shown) {
  const auto share = std::ranges::find(rows.columns, "share", &ResultColumn::name);
  if (share == rows.columns.end() || shown < 3) return {};
  const auto column = static_cast<size_t>(share - rows.columns.begin());
  std::vector<double> sums;
  double sum = 0, before = 2;
  for (size_t row = 0; row < shown; ++row) {
    const auto part = AsNumber(rows.rows[row][column]);
    if (!part || *part > before + 1e-9 || sum + *part > 1.001) return {};
    before = *part;
    sums.push_back(sum += *part);
  }
  return sums;
}

bool IsNumeric(const ColumnStyle& style) {
  return style.kind == ColumnKind::kNumber || style.kind == ColumnKind::kSeconds ||
         style.kind == ColumnKind::kShare;
}

// Columns of numbers without a unit, e.g. sampled values, are recognised from their first known value.
ColumnStyle StyleIn(const ResultSet& rows, size_t column) {
  ColumnStyle style = StyleOf(rows.columns[column]);
  if (style.kind != ColumnKind::kText) return style;
  const auto known =
      std::find_if(rows.rows.begin(), rows.rows.end(), [&](const auto& row) { return !IsNull(row[column]); });
  if (known != rows.rows.end() && AsNumber((*known)[column])) style.kind = ColumnKind::kNumber;
  return style;
}

}  // namespace

data TableData(const ReportTable& table, const std::vector<size_t>& columns) {
  data headers{data::type::list};
  std::vector<ColumnStyle> styles;
  std::optional<size_t> header_column, bar_column;
  const size_t shown = std::min(table.rows.rows.size(), kMaxHtmlRows);
  const std::vector<double> cumulative = Cumulative(table.rows, shown);
  const auto add_header = [&](const std::string& label, const char* css, const char* unit) {
    data header;
    header.set("label", label);
    header.set("css", css);
    header.set("unit", unit[0] == 0 ? data{false} : data{unit});
    headers << header;
  };
  bool has_share = false;
  for (const size_t c : columns) {
    styles.push_back(StyleIn(table.rows, c));
    const ColumnStyle& style = styles.back();
    if (!header_column && style.kind == ColumnKind::kName) header_column = c;
    has_share = has_share || style.kind == ColumnKind::kShare;
    if (!bar_column && style.kind == ColumnKind::kNumber && style.unit == Unit::kNanoseconds &&
        !table.rows.columns[c].name.starts_with("start_"))
      bar_column = c;
    add_header(style.label,
               IsNumeric(style)                     ? "num"
               : style.kind == ColumnKind::kBoolean ? "flag"
                                                    : "text",
               style.unit == Unit::kNanoseconds ? "ns"
               : style.unit == Unit::kBytes     ? "bytes"
                                                : "");
    if (!cumulative.empty() && table.rows.columns[c].name == "share") add_header("Cumulative", "num", "");
  }
  if (has_share) bar_column.reset();  // which has bars of its own
  std::vector<NameCells> names;
  for (size_t i = 0; i < columns.size(); ++i)
    names.push_back(NameCellsOf(table.rows, columns[i], shown, styles[i], header_column == columns[i]));
  const double most = bar_column && shown > 1 ? MostOf(table.rows, *bar_column, shown) : 0;
  std::string body;
  for (size_t row = 0; row < shown; ++row) {
    body += "<tr>";
    for (size_t i = 0; i < columns.size(); ++i) {
      AddCell(body, table.rows.rows[row][columns[i]], styles[i], names[i],
              bar_column == columns[i] ? most : 0);
      if (!cumulative.empty() && table.rows.columns[columns[i]].name == "share")
        body += fmt::format("<td class=\"num\" data-v=\"{}\">{}</td>", cumulative[row],
                            FormatValue(cumulative[row], Unit::kRatio));
    }
    body += "</tr>\n";
  }
  data item;
  item.set("table_id", table.id);
  item.set("title", table.title);
  item.set("note", TextOrFalse(table.note));
  item.set("reason", TextOrFalse(table.rows.columns.empty() ? table.note : ""));
  item.set("columns", headers);
  item["body"] = data{body};  // moved, not copied as by set()
  item.set("empty", shown == 0);
  item.set("long", shown > kMaxOpenRows);
  item.set("sql", TextOrFalse(table.sql));
  const std::string left_out = LeftOutText(table, shown);
  item.set("more", TextOrFalse(left_out.empty() ? "" : left_out + "; dladvisor query gives all."));
  return item;
}

data RecordsData(const ReportTable& table) {
  data records{data::type::list};
  for (size_t row = 0; row < std::min(table.rows.rows.size(), kMaxRecords); ++row) {
    data fields{data::type::list};
    for (size_t c = 0; c < table.rows.columns.size(); ++c) {
      const ColumnStyle style = StyleOf(table.rows.columns[c]);
      const Value& value = table.rows.rows[row][c];
      data field;
      field.set("label", style.label);
      field.set("value", IsNull(value) ? "unknown" : Ellipsize(Visible(CellText(value, style)), 400));
      field.set("unknown", IsNull(value));
      fields << field;
    }
    records << data{"fields", fields};
  }
  return records;
}

data LegendData(const std::vector<Segment>& segments, bool explains_buckets) {
  double total = 0;
  for (const Segment& segment : segments) total += segment.value;
  data legend{data::type::list};
  for (const Segment& segment : segments) {
    data item;
    item.set("color", segment.color);
    item.set("label", segment.label);
    const std::string_view words = BucketWords(segment.label);
    item.set("words", !explains_buckets || words == segment.label ? data{false} : data{std::string(words)});
    item.set("value", segment.text);
    item.set("share", total > 0 && !segment.is_share
                          ? data{fmt::format("{:.1f} %", segment.value / total * 100)}
                          : data{false});
    legend << item;
  }
  return legend;
}

data DonutCard(const std::string& id, const std::string& title, const std::string& tip,
               const std::vector<Segment>& segments, const std::string& center, const std::string& unknown) {
  data card;
  card.set("card_id", id);
  card.set("title", title);
  card.set("tip", tip);
  card.set("svg", unknown.empty() ? data{Donut("chart-" + id, title, segments, center)} : data{false});
  card.set("legend", LegendData(segments));
  card.set("unknown", TextOrFalse(unknown));
  return card;
}

data TextList(const std::vector<std::string>& texts) {
  data items{data::type::list};
  for (const std::string& text : texts) items << data{"text", text};
  return items;
}

data FigureList(const ReportModel& model, std::span<const std::string_view> ids) {
  data items{data::type::list};
  for (const Figure* figure : ShownFigures(model, ids)) {
    data item;
    item.set("label", figure->label);
    item.set("value", Ellipsize(Visible(FormatValue(figure->value, figure->unit)), 300));
    item.set("because", IsNull(figure->value) ? TextOrFalse(figure->unknown_because) : data{false});
    items << item;
  }
  return items;
}

data RuleList(const Advice& advice) {
  std::map<std::string, std::set<std::string>> missing;
  for (const Finding& finding : advice.findings) {
    if (finding.outcome == Outcome::kUnknown) {
      missing[finding.rule].insert(OneLine(WhyUndecided(finding)));
      if (!finding.capture.empty())
        missing[finding.rule].insert(fmt::format("record {}", fmt::join(finding.capture, " ")));
    } else if (finding.outcome == Outcome::kFailed) {
      missing[finding.rule].insert(OneLine(finding.error));
    } else if (finding.outcome == Outcome::kSuppressed) {
      missing[finding.rule].insert("suppressed by " + finding.suppressed_by);
    }
  }
  data items{data::type::list};
  for (const RuleSummary& rule : advice.rules) {
    data counts{data::type::list};
    for (const auto& [count, outcome] :
         {std::pair{rule.fired, Outcome::kFired}, std::pair{rule.clear, Outcome::kClear},
          std::pair{rule.unknown, Outcome::kUnknown}, std::pair{rule.suppressed, Outcome::kSuppressed},
          std::pair{rule.failed, Outcome::kFailed}}) {
      if (count == 0) continue;
      data item;
      item.set("outcome", std::string(OutcomeName(outcome)));
      item.set("count", count > 1 ? data{WithThousands(static_cast<int64_t>(count))} : data{false});
      counts << item;
    }
    data item;
    item.set("id", rule.id);
    item.set("title", OneLine(rule.title));
    item.set("severity", std::string(SeverityName(rule.severity)));
    item.set("counts", counts);
    item.set("undecided", rule.fired + rule.clear + rule.unknown + rule.suppressed + rule.failed == 0);
    item.set("note",
             fmt::format("{}{}{}", rule.note, rule.note.empty() || missing[rule.id].empty() ? "" : "; ",
                         fmt::join(missing[rule.id], ", ")));
    items << item;
  }
  return items;
}

}  // namespace dladvisor
