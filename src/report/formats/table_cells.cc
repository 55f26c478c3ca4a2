// SPDX-License-Identifier: Apache-2.0
#include "src/report/formats/table_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "src/render/escape.h"
#include "src/render/kernel_label.h"

namespace dladvisor {
namespace {

// Kernel names of templates run to kilobytes: an opened cell shows the ends of one, its tooltip more.
constexpr size_t kCellColumns = 360;
constexpr size_t kShortColumns = 64;  // of a name, until one opens it
constexpr size_t kTooltipColumns = 2000;
constexpr size_t kLongText = 40;  // a text that is longer is shown as a name

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

void AddBoolean(std::string& html, const Value& value) {
  const auto* flag = std::get_if<int64_t>(&value);
  const auto [css, mark, word] = flag == nullptr ? std::tuple{"unknown", "?", "unknown"}
                                 : *flag != 0    ? std::tuple{"yes", "✓", "yes"}
                                                 : std::tuple{"no", "✗", "no"};
  fmt::format_to(std::back_inserter(html),
                 "<td class=\"flag {}\" data-v=\"{}\"><span aria-hidden=\"true\">{}</span><span "
                 "class=\"sr\">{}</span></td>",
                 css, flag == nullptr ? -1 : *flag, mark, word);
}

// As {fmt} writes it; whole numbers take a shorter way.
void AddNumber(std::string& html, double number) {
  constexpr double kExact = 1e15;
  if (std::abs(number) < kExact && number == std::floor(number) && !std::signbit(number)) {
    const fmt::format_int digits(static_cast<int64_t>(number));
    html.append(digits.data(), digits.size());
  } else {
    fmt::format_to(std::back_inserter(html), "{}", number);
  }
}

// Of a share, in tenths.
void AddPercents(std::string& html, double share) {
  const auto tenths = static_cast<int>(std::lround(share * 1000));
  const fmt::format_int whole(tenths / 10);
  html.append(whole.data(), whole.size());
  if (tenths % 10 == 0) return;
  html += '.';
  html += static_cast<char>('0' + tenths % 10);
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

// Short names, different ones for different names.
Labels LabelsOf(const std::vector<std::string>& names) {
  Labels labels;  // long paths differ mostly at their ends
  std::map<std::string, std::set<std::string>> alike;
  for (const std::string& name : names) alike[Ellipsize(Visible(name), kShortColumns)].insert(name);
  for (const auto& [label, same] : alike)
    if (same.size() == 1)
      labels[*same.begin()] = label;
    else
      labels.merge(DistinctParts(same));
  // Parts of other paths may be the same.
  std::unordered_map<std::string, size_t> count;
  for (const auto& [name, label] : labels) ++count[label];
  for (auto& [name, label] : labels)
    if (count[label] > 1) label = Visible(name);
  return labels;
}

}  // namespace

std::string Breakable(std::string_view visible) {
  std::string html;
  while (!visible.empty()) {
    // Not after the first character: a path's leading slash stays with its first part.
    size_t end = visible.find_first_of("/:<,", html.empty() ? 1 : 0);
    end = end == std::string_view::npos ? visible.size() : visible.find_first_not_of("/:<,", end);
    if (end == std::string_view::npos) end = visible.size();
    AddEscapedHtml(html, visible.substr(0, end));
    visible.remove_prefix(end);
    if (!visible.empty()) html += "<wbr>";
  }
  return html;
}

NameCells NameCellsOf(const ResultSet& rows, size_t column, size_t shown, const ColumnStyle& style,
                      bool row_header) {
  NameCells cells;  // by each text, empty at first
  size_t longest = 0;
  for (size_t row = 0; row < shown; ++row) {
    const auto* text = std::get_if<std::string>(&rows.rows[row][column]);
    if (text == nullptr) continue;
    cells.try_emplace(*text);
    longest = std::max(longest, text->size());
  }
  if (style.kind != ColumnKind::kName && longest <= kLongText) return {};
  std::vector<std::string> names;
  for (const auto& [name, cell] : cells) names.emplace_back(name);
  std::ranges::sort(names);
  const Labels labels =
      rows.columns[column].name == "kernel" ? KernelLabels(names, kShortColumns) : LabelsOf(names);
  for (const auto& [name, label] : labels) cells.at(name) = NameCell(name, label, row_header);
  return cells;
}

void AddCell(std::string& html, const Value& value, const ColumnStyle& style, const NameCells& names,
             double most) {
  if (style.kind == ColumnKind::kBoolean) {
    AddBoolean(html, value);
    return;
  }
  const auto number = AsNumber(value);
  if (IsNull(value) || (number && !std::isfinite(*number))) {
    const bool is_text = style.kind == ColumnKind::kText || style.kind == ColumnKind::kName;
    html.append("<td class=\"").append(is_text ? "text" : "num");
    html += "\" title=\"unknown\"><span class=\"nil\">–<span class=\"sr\"> unknown</span></span></td>";
    return;
  }
  if (!number) {
    const std::string& text = std::get<std::string>(value);
    if (style.kind == ColumnKind::kName || text.size() > kLongText) {
      html += names.at(text);
    } else {
      html += "<td class=\"text\">";
      AddEscapedHtml(html, text);
      html += "</td>";
    }
    return;
  }
  const bool is_share = style.kind == ColumnKind::kShare;
  const bool has_bar = is_share || most > 0;
  html += has_bar ? "<td class=\"num share\" data-v=\"" : "<td class=\"num\" data-v=\"";
  AddNumber(html, *number);
  if (has_bar) {
    html += "\" style=\"--w:";
    AddPercents(html, std::clamp(is_share ? *number : *number / most, 0.0, 1.0));
    html += "%\"><span>";
  } else {
    html += "\">";
  }
  AddEscapedHtml(html, CellText(value, style));
  html += has_bar ? "</span></td>" : "</td>";
}

}  // namespace dladvisor
