// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_table.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "engine/base/trim.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestResult = 2048, kMostResultColumns = 40, kLeastColumns = 3, kMostRows = 100'000,
                 kLeastRows = 4, kMostResultTables = 100, kMostValues = 64;
// Lines of tables, for one of all, below which the text is something else.
constexpr double kMostlyTables = 0.5;

std::string_view WithoutQuotes(std::string_view text) { return TrimAll(text, " \t\r\""); }

// "83651.05", "1,234", "1.06x", "3.2 ms": the number that a cell begins with and next to nothing behind it.
std::optional<double> NumberOfCell(std::string_view cell) {
  double number = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
  constexpr ptrdiff_t kLongestUnit = 8;
  if (error != std::errc() || !std::isfinite(number) || cell.data() + cell.size() - end > kLongestUnit)
    return std::nullopt;
  if (end != cell.data() + cell.size() && (*end == '-' || *end == ':' || *end == '/' || *end == '_'))
    return std::nullopt;  // a date, a clock, a name
  return number;
}

enum class Role { kSetting, kTime, kRate, kStatus, kIgnored };

Role RoleOfColumn(const std::string& name) {
  static const RE2 rate(
      R"((?i)throughput|bandwidth|\bbw\b|\bqps\b|\bfps\b|\btps\b|[gt]flops?(?:/s)?\b|(?:/|per[ _])s(?:ec(?:ond)?)?\b)"),
      time(
          R"((?i)latency|run ?_?time|duration|elapsed|wall.?(?:clock|time)?|(?:time|mean|avg|total|compute)\w*[ _]?[(\[]?(?:ns|us|µs|ms|s|secs?|seconds)[)\]]?$|[ _(\[](?:ns|us|µs|ms|secs?|seconds)[)\]]?$|[(\[]s[)\]]$)"),
      status(R"((?i)^(?:status|state|success|error|outcome)$)"),
      ignored(
          R"((?i)std|dev\b|\bvar\b|\bmin\b|\bmax\b|\bp\d\d|median|speed ?_?up|efficien|\bmem|memory|_mi?b\b|_gi?b\b|\(mi?b\)|\(gi?b\)|util|power|watt|temp|acc\b|accuracy|\bloss|f1|score|error|theoretical|peak|timestamp|date|\bid\b|^index$|seed|repeat|\brep\b|\brun\b|trial|timeout)");
  if (RE2::PartialMatch(name, status)) return Role::kStatus;
  if (RE2::PartialMatch(name, ignored)) return Role::kIgnored;
  if (RE2::PartialMatch(name, rate)) return Role::kRate;
  return RE2::PartialMatch(name, time) ? Role::kTime : Role::kSetting;
}

bool IsFailure(const std::string& status) {
  static const RE2 well(
      R"((?i)^(?:ok|okay|success|succeeded|pass(?:ed)?|complete[d]?|done|true|yes|1|0|none|)$)");
  return !RE2::FullMatch(status, well);
}

// One of several ways to do the same, each in a column of its own: "CPU Seq (s)".
bool IsWay(const std::string& name) {
  static const RE2 way(
      R"((?i)\b(?:cpu|gpu|cuda|hip|seq|sequential|serial|par|parallel|omp|openmp|mpi|naive|tiled|cublas|torch|pytorch|triton|numpy|jax|baseline|optimi[sz]ed|fp16|fp32|bf16|int8|eager|compiled|flash|sdpa|v\d+)\b)");
  std::string words = name;
  std::ranges::replace(words, '_', ' ');
  return RE2::PartialMatch(words, way);
}

}  // namespace

std::vector<std::string> ResultTableReader::CellsOf(std::string_view line, Form form) {
  std::vector<std::string> cells;
  if (form == Form::kColumns) {
    // Two blanks or more part the names, any the values.
    static const RE2 cell(R"(\s*(\S+(?: \S+)*?)(?:\s{2,}|\t|$))");
    re2::StringPiece rest(line.data(), line.size());
    for (std::string text; RE2::Consume(&rest, cell, &text) && cells.size() <= kMostResultColumns;)
      cells.push_back(text);
    return cells;
  }
  const char mark = form == Form::kCsv ? ',' : '|';
  line = WithoutQuotes(line);
  if (form == Form::kBars && line.starts_with('|')) line.remove_prefix(1);
  if (form == Form::kBars && line.ends_with('|')) line.remove_suffix(1);
  while (cells.size() <= kMostResultColumns) {
    const size_t end = line.find(mark);
    cells.emplace_back(WithoutQuotes(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
  return cells;
}

bool ResultTableReader::Opens(std::string_view line) {
  for (const Form form : {Form::kCsv, Form::kBars, Form::kColumns}) {
    if ((form == Form::kCsv && line.find(',') == std::string_view::npos) ||
        (form == Form::kBars && line.find('|') == std::string_view::npos))
      continue;
    std::vector<std::string> names = CellsOf(line, form);
    const bool words = std::ranges::all_of(names, [](const std::string& name) {
      constexpr size_t kLongestName = 48;
      return !name.empty() && name.size() <= kLongestName && !NumberOfCell(name);
    });
    const bool measures = std::ranges::any_of(names, [](const std::string& name) {
      const Role role = RoleOfColumn(name);
      return role == Role::kTime || role == Role::kRate;
    });
    // A profiler's, of parts.
    static const RE2 profile(
        R"((?i)\b(?:calls?|counts?|instances|occurrences|percent|start|[pt]id|stream|op|ops|operator|function|event)\b|%)");
    const bool counts =
        std::ranges::any_of(names, [](const std::string& name) { return RE2::PartialMatch(name, profile); });
    if (counts || names.size() < kLeastColumns || names.size() > kMostResultColumns || !words || !measures)
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
  if (line.size() > kLongestResult) return;
  // "+-----+-----+", "|-----|:----|", "=====  =====".
  if (line.find_first_not_of(" +-=|:\t\r") == std::string_view::npos) {
    ++taken_;
    return;
  }
  if (form_ != Form::kNone) {
    Raw& table = tables_.back();
    std::vector<std::string> cells = CellsOf(line, form_);
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

ResultTableReader::Raw ResultTableReader::Largest() const {
  const auto largest =
      std::ranges::max_element(tables_, {}, [](const Raw& table) { return table.rows.size(); });
  if (largest == tables_.end()) return {};
  const auto alike = [&](const Raw& table) { return table.names == largest->names && !table.title.empty(); };
  if (std::ranges::count_if(tables_, alike) < 2) return *largest;
  Raw all{"", largest->names, {}};
  all.names.emplace_back("table");
  for (const Raw& table : tables_) {
    if (!alike(table)) continue;
    for (const auto& row : table.rows) {
      all.rows.push_back(row);
      all.rows.back().push_back(table.title);
    }
  }
  return all;
}

std::optional<ResultTable> ResultTableReader::Finish() const {
  const Raw raw = Largest();
  if (raw.rows.size() < kLeastRows ||
      static_cast<double>(taken_) < kMostlyTables * static_cast<double>(lines_))
    return std::nullopt;
  ResultTable table;
  std::vector<size_t> measures, settings, states;
  for (const Role wanted : {Role::kTime, Role::kRate}) {
    if (!measures.empty()) break;
    table.rate = wanted == Role::kRate;
    for (size_t i = 0; i < raw.names.size(); ++i)
      if (RoleOfColumn(raw.names[i]) == wanted) measures.push_back(i);
  }
  const bool ways =
      measures.size() > 1 && std::ranges::all_of(measures, [&](size_t i) { return IsWay(raw.names[i]); });
  if (!ways) {
    // The whole before a part of it.
    static const RE2 whole("(?i)total|e2e|end.to.end|wall|overall"), mean("(?i)mean|avg|average");
    const auto rank = [&](size_t i) {
      return RE2::PartialMatch(raw.names[i], whole) ? 0 : RE2::PartialMatch(raw.names[i], mean) ? 1 : 2;
    };
    measures = {*std::ranges::min_element(measures, {}, rank)};
  }
  for (size_t i = 0; i < raw.names.size(); ++i) {
    const Role role = RoleOfColumn(raw.names[i]);
    if (role == Role::kStatus) states.push_back(i);
    if (role != Role::kSetting) continue;
    std::set<std::string> values;
    bool fractions = false;
    for (const auto& row : raw.rows) {
      if (values.size() <= kMostValues) values.insert(row[i]);
      const auto number = NumberOfCell(row[i]);
      fractions = fractions || (number && *number != std::floor(*number));
    }
    constexpr size_t kMostFractions = 12;
    if (values.size() > 1 && values.size() <= kMostValues && (!fractions || values.size() <= kMostFractions))
      settings.push_back(i);
  }
  for (const size_t i : settings) table.settings.push_back(raw.names[i]);
  table.measure = ways ? (table.rate ? "rates" : "times") : raw.names[measures.front()];
  if (ways) table.settings.emplace_back();
  for (const auto& row : raw.rows) {
    const bool failed = std::ranges::any_of(states, [&](size_t i) { return IsFailure(row[i]); });
    for (const size_t measure : measures) {
      const auto number = NumberOfCell(row[measure]);
      ResultRow& result = table.rows.emplace_back();
      for (const size_t i : settings) result.values.push_back(row[i]);
      if (ways) result.values.push_back(raw.names[measure]);
      if (!failed && number && *number > 0) result.result = *number;
      table.failed += failed;
    }
  }
  // Times by a single name are the parts of a run and not ways to do the same.
  static const RE2 whole(R"((?i)\b(?:total|overall|sum|all|idle)(?:\b|_))");
  const bool parts =
      (table.settings.size() < 2 && !table.rate) || std::ranges::any_of(table.rows, [](const ResultRow& row) {
        return std::ranges::any_of(row.values, [](const std::string& value) {
          return !NumberOfCell(value) && value.size() < kMostValues && RE2::PartialMatch(value, whole);
        });
      });
  return table.settings.empty() || parts ? std::nullopt : std::optional(std::move(table));
}

}  // namespace dladvisor::benchmark_log
