// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_table.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/result_cells.h"
#include "src/importers/benchmark_log/result_json.h"
#include "src/importers/benchmark_log/result_names.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestResult = 2048, kMostRawColumns = 40, kMostRows = 100'000, kMostResultTables = 100,
                 kLeastInColumns = 3;
// Lines of tables, for one of all, below which the text is something else.
constexpr double kMostlyTables = 0.5;

// A name of a column where single blanks part them, and not a word of a sentence.
bool IsPlainWord(const std::string& name) {
  static const RE2 word(R"([A-Za-z#][\w/()%#\[\]-]*)");
  return RE2::FullMatch(name, word);
}

std::string_view WithoutQuotes(std::string_view text) { return TrimAll(text, " \t\r\""); }

}  // namespace

std::vector<std::string> ResultTableReader::CellsOf(std::string_view line, Form form) {
  std::vector<std::string> cells;
  if (form == Form::kColumns) {
    // Two blanks or more part the names, any the values.
    static const RE2 cell(R"(\s*(\S+(?: \S+)*?)(?:\s{2,}|\t|$))");
    re2::StringPiece rest(line.data(), line.size());
    for (std::string text; RE2::Consume(&rest, cell, &text) && cells.size() <= kMostRawColumns;)
      cells.push_back(text);
    return cells;
  }
  if (form == Form::kWords) {
    static const RE2 word(R"(\s*(\S+))");
    re2::StringPiece rest(line.data(), line.size());
    for (std::string text; RE2::Consume(&rest, word, &text) && cells.size() <= kMostRawColumns;)
      cells.push_back(text);
    return cells;
  }
  const char mark = form == Form::kCsv ? ',' : '|';
  if (form == Form::kCsv && line.find('"') != std::string_view::npos) {
    bool quoted = false;
    cells.emplace_back();
    for (const char c : TrimAll(line, " \t\r")) {
      if (c == '"')
        quoted = !quoted;
      else if (c == mark && !quoted)
        cells.emplace_back();
      else
        cells.back() += c;
    }
    if (cells.size() > kMostRawColumns) cells.resize(kMostRawColumns + 1);
    for (std::string& cell : cells) cell = std::string(WithoutQuotes(cell));
    return cells;
  }
  line = WithoutQuotes(line);
  if (form == Form::kBars && line.starts_with('|')) line.remove_prefix(1);
  if (form == Form::kBars && line.ends_with('|')) line.remove_suffix(1);
  while (cells.size() <= kMostRawColumns) {
    const size_t end = line.find(mark);
    cells.emplace_back(WithoutQuotes(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
  return cells;
}

bool ResultTableReader::Opens(std::string_view line) {
  for (const Form form : {Form::kCsv, Form::kBars, Form::kColumns, Form::kWords}) {
    if ((form == Form::kCsv && line.find(',') == std::string_view::npos) ||
        (form == Form::kBars && line.find('|') == std::string_view::npos))
      continue;
    std::vector<std::string> names = CellsOf(line, form);
    // pandas writes the numbers of rows as a column without a name.
    if ((form == Form::kCsv || form == Form::kBars) && names.size() > 2 && names[0].empty())
      names[0] = "index";
    const bool few = (form == Form::kColumns || form == Form::kWords) && names.size() < kLeastInColumns;
    if (few || !MayBeResults(names) || (form == Form::kWords && !std::ranges::all_of(names, IsPlainWord)))
      continue;
    if (tables_.size() >= kMostResultTables) return false;
    form_ = form;
    tables_.push_back({title_, std::move(names), {}});
    return true;
  }
  return false;
}

void ResultTableReader::Line(std::string_view line) {
  if (WithoutQuotes(line).empty()) {
    if (form_ != Form::kNone && !tables_.back().rows.empty()) form_ = Form::kNone;
    return;
  }
  ++lines_;
  if (compare_.Line(line) || hyperfine_.Line(line) || triton_.Line(line)) {
    ++taken_;
    return;
  }
  if (line.size() > kLongestResult) return;
  constexpr size_t kMostOfRecords = size_t{1} << 22;
  if (IsRecordLine(line) && records_.size() < kMostOfRecords) {
    records_.append(line).push_back('\n');
    ++record_lines_;
    return;
  }
  // "+-----+-----+", "|-----|:----|", "=====  =====".
  if (line.find_first_not_of(" +-=|:\t\r") == std::string_view::npos) {
    ++taken_;
    return;
  }
  if (form_ != Form::kNone) {
    RawResults& table = tables_.back();
    std::vector<std::string> cells = CellsOf(line, form_);
    // pandas numbers the rows of a table that it prints, and has no name for that.
    const bool in_columns = form_ == Form::kColumns || form_ == Form::kWords;
    if (in_columns && cells.size() == table.names.size() + 1 && cells[0] == std::to_string(table.rows.size()))
      cells.erase(cells.begin());
    if (cells.size() == table.names.size() && cells != table.names && table.rows.size() < kMostRows &&
        std::ranges::any_of(cells, [](const std::string& cell) { return NumberOfCell(cell).has_value(); })) {
      table.rows.push_back(std::move(cells));
      ++taken_;
      return;
    }
    form_ = Form::kNone;
  }
  if (Opens(line)) {
    ++taken_;
  } else {
    constexpr size_t kLongestTitle = 80;
    constexpr std::string_view kRules = " \t\r=-#*:";
    const size_t first = line.find_first_not_of(kRules);
    title_ = first == std::string_view::npos
                 ? ""
                 : line.substr(first, line.find_last_not_of(kRules) - first + 1).substr(0, kLongestTitle);
  }
}

RawResults ResultTableReader::Largest() const {
  const auto largest =
      std::ranges::max_element(tables_, {}, [](const RawResults& table) { return table.rows.size(); });
  if (largest == tables_.end()) return {};
  const auto alike = [&](const RawResults& table) {
    return table.names == largest->names && !table.title.empty();
  };
  if (std::ranges::count_if(tables_, alike) < 2) return *largest;
  RawResults all{"", largest->names, {}};
  all.names.emplace_back("table");
  // The same rows are printed again, as the best of all, or in another format.
  std::set<std::vector<std::string>> seen;
  for (const RawResults& table : tables_) {
    if (!alike(table)) continue;
    std::set<std::vector<std::string>> own(table.rows.begin(), table.rows.end());
    for (const auto& row : table.rows) {
      if (seen.contains(row)) continue;
      all.rows.push_back(row);
      all.rows.back().push_back(table.title);
    }
    seen.merge(own);
  }
  return all;
}

std::optional<ResultTable> ResultTableReader::Finish() const {
  if (record_lines_ > 0 && record_lines_ == lines_) return ResultsOfJson(records_);
  const bool mostly = static_cast<double>(taken_) >= kMostlyTables * static_cast<double>(lines_);
  if (const auto compared = compare_.Finish(); compared && mostly) return ResultsOf(*compared);
  if (auto commands = hyperfine_.Finish(); commands && mostly) {
    KeepMeanOfHyperfine(*commands);
    return ResultsOf(*commands);
  }
  if (auto values = triton_.Finish(); values && mostly) return values;
  RawResults raw = Largest();
  // pytest prints much beside it.
  const bool pytest = !raw.rows.empty() && KeepMeanOfPytest(raw);
  if (raw.rows.empty() || (!mostly && !pytest)) return std::nullopt;
  KeepMeanOfHyperfine(raw);
  KeepTimeOfNvbench(raw);
  SplitNames(raw);
  return ResultsOf(raw);
}

}  // namespace dladvisor::benchmark_log
