// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/base/text.h"
#include "src/render/escape.h"
#include "src/render/kernel_label.h"
#include "src/report/model/column_style.h"
#include "src/report/sections/dashboard.h"

namespace dladvisor {
namespace {

// Kernel names of templates run to kilobytes: an opened cell shows the ends of one, its tooltip more.
constexpr size_t kCellColumns = 360;
constexpr size_t kShortColumns = 64;  // of a name, until one opens it
constexpr size_t kTooltipColumns = 2000;

// `label` stands for a longer name until one opens it, by click, touch or keyboard.
std::string NameCell(const std::string& text, const std::string& label, bool row_header) {
  const std::string name = Visible(text);
  const char* tag = row_header ? "th scope=\"row\"" : "td";
  const char* close = row_header ? "th" : "td";
  const std::string whole = Breakable(Ellipsize(name, kCellColumns));
  if (label == name) return fmt::format("<{} class=\"name\"><span>{}</span></{}>", tag, whole, close);
  return fmt::format("<{} class=\"name\"><details><summary title=\"{}\">{}</summary>{}</details></{}>", tag,
                     EscapeHtml(Ellipsize(name, kTooltipColumns)), Breakable(label), whole, close);
}

std::string BooleanCell(const Value& value) {
  const auto* flag = std::get_if<int64_t>(&value);
  const auto [css, mark, word] = flag == nullptr ? std::tuple{"unknown", "?", "unknown"}
                                 : *flag != 0    ? std::tuple{"yes", "✓", "yes"}
                                                 : std::tuple{"no", "✗", "no"};
  return fmt::format(
      "<td class=\"flag {}\" data-v=\"{}\"><span aria-hidden=\"true\">{}</span><span "
      "class=\"sr\">{}</span></td>",
      css, flag == nullptr ? -1 : *flag, mark, word);
}

using Labels = std::map<std::string, std::string>;

// Of paths that are alike where they are cut: what they have in common, but for the last part, is left out.
Labels DistinctParts(const std::set<std::string>& paths) {
  const std::string first = Visible(*paths.begin());
  const std::string last = first.substr(first.find_last_of('/', first.size() - 2) + 1);  // "x" or "x/"
  size_t before = first.size(), behind = first.size(), shortest = first.size();
  for (const std::string& path : paths) {
    const std::string name = Visible(path);
    const auto same = [&](auto begin, auto end, auto other, auto other_end) {
      return static_cast<size_t>(std::mismatch(begin, end, other, other_end).first - begin);
    };
    before = std::min(before, same(first.begin(), first.end(), name.begin(), name.end()));
    behind = std::min(behind, same(first.rbegin(), first.rend(), name.rbegin(), name.rend()));
    shortest = std::min(shortest, name.size());
  }
  // Whole parts, and no letter twice.
  const size_t slash = first.substr(0, before).rfind('/');
  before = slash == std::string::npos ? 0 : slash;
  behind = std::min(behind, shortest - before);
  const size_t next = first.find('/', first.size() - behind);
  behind = next == std::string::npos ? 0 : first.size() - next;
  Labels labels;
  for (const std::string& path : paths) {
    const std::string name = Visible(path);
    std::string label = (before > 0 ? "…" : "") + name.substr(before, name.size() - before - behind);
    if (behind > 0) label += behind > last.size() + 1 ? "/…/" + last : "/" + last;
    labels[path] = label.size() <= 2 * kShortColumns ? label : name;
  }
  return labels;
}

// Short names of a column's texts; none where it holds no names.
Labels LabelsOf(const ResultSet& rows, size_t column, size_t shown) {
  std::vector<std::string> names;
  for (size_t row = 0; row < shown; ++row)
    if (const auto* text = std::get_if<std::string>(&rows.rows[row][column])) names.push_back(*text);
  if (rows.columns[column].name == "kernel") return KernelLabels(names, kShortColumns);
  Labels labels;  // long paths differ mostly at their ends
  std::map<std::string, std::set<std::string>> alike;
  for (const std::string& name : names) alike[Ellipsize(Visible(name), kShortColumns)].insert(name);
  for (const auto& [label, same] : alike)
    if (same.size() == 1)
      labels[*same.begin()] = label;
    else
      labels.merge(DistinctParts(same));
  // Parts of other paths may be the same.
  std::map<std::string, size_t> count;
  for (const auto& [name, label] : labels) ++count[label];
  for (auto& [name, label] : labels)
    if (count[label] > 1) label = Visible(name);
  return labels;
}

// A number over a bar as wide as its share of `most`; without one where that is 0.
std::string CellHtml(const Value& value, const ColumnStyle& style, const Labels& labels, bool row_header,
                     double most) {
  if (style.kind == ColumnKind::kBoolean) return BooleanCell(value);
  const auto number = AsNumber(value);
  if (IsNull(value) || (number && !std::isfinite(*number)))
    return fmt::format(
        "<td class=\"{}\" title=\"unknown\"><span class=\"nil\">–<span class=\"sr\"> "
        "unknown</span></span></td>",
        style.kind == ColumnKind::kText || style.kind == ColumnKind::kName ? "text" : "num");
  if (!number) {
    const std::string& text = std::get<std::string>(value);
    if (style.kind == ColumnKind::kName || text.size() > 40)
      return NameCell(text, labels.at(text), row_header);
    return fmt::format("<td class=\"text\">{}</td>", EscapeHtml(text));
  }
  const std::string text = EscapeHtml(CellText(value, style));
  if (style.kind == ColumnKind::kShare)
    return fmt::format("<td class=\"num share\" data-v=\"{}\" style=\"--w:{:.2f}%\"><span>{}</span></td>",
                       *number, std::clamp(*number, 0.0, 1.0) * 100, text);
  if (most > 0)
    return fmt::format("<td class=\"num share\" data-v=\"{}\" style=\"--w:{:.1f}%\"><span>{}</span></td>",
                       *number, std::clamp(*number / most, 0.0, 1.0) * 100, text);
  return fmt::format("<td class=\"num\" data-v=\"{}\">{}</td>", *number, text);
}

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

std::string Breakable(std::string_view visible) {
  std::string html;
  while (!visible.empty()) {
    // Not after the first character: a path's leading slash stays with its first part.
    size_t end = visible.find_first_of("/:<,", html.empty() ? 1 : 0);
    end = end == std::string_view::npos ? visible.size() : visible.find_first_not_of("/:<,", end);
    if (end == std::string_view::npos) end = visible.size();
    html += EscapeHtml(visible.substr(0, end));
    visible.remove_prefix(end);
    if (!visible.empty()) html += "<wbr>";
  }
  return html;
}

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
  std::vector<Labels> labels;
  for (const size_t c : columns) labels.push_back(LabelsOf(table.rows, c, shown));
  const double most = bar_column && shown > 1 ? MostOf(table.rows, *bar_column, shown) : 0;
  std::string body;
  for (size_t row = 0; row < shown; ++row) {
    body += "<tr>";
    for (size_t i = 0; i < columns.size(); ++i) {
      body += CellHtml(table.rows.rows[row][columns[i]], styles[i], labels[i], header_column == columns[i],
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
  item.set("body", body);
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

data LegendData(const std::vector<Segment>& segments) {
  double total = 0;
  for (const Segment& segment : segments) total += segment.value;
  data legend{data::type::list};
  for (const Segment& segment : segments) {
    data item;
    item.set("color", segment.color);
    item.set("label", segment.label);
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
