// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/result_cells.h"
#include "src/importers/benchmark_log/result_settings.h"
#include "src/importers/benchmark_log/result_texts.h"

namespace dladvisor::benchmark_log {
namespace {

// Of longer texts, which are logs, no line is read twice over.
constexpr size_t kMostResultLines = 2'000, kLongestResultLine = 400;
// What one result has: more is a list of something else.
constexpr size_t kMostPairsOfResult = 64;
constexpr std::string_view kFrame = " \t\r=-#*_~[]<>";

bool IsTime(const std::string& name, const std::string& value) {
  const auto number = NumberOfCell(value);
  const Role role = RoleOfName(name);
  return number && role != Role::kIgnored && role != Role::kRate && (number->unit > 0 || role == Role::kTime);
}

bool IsMeasure(const std::string& name, const std::string& value) {
  return IsTime(name, value) || (NumberOfCell(value) && RoleOfName(name) == Role::kRate);
}

// Of several times none is the whole's: a rate says more, and without one nothing does. Whether one is left.
bool LeaveOutParts(RawResults& table) {
  static const RE2 whole(
      R"((?i)total|e2e|end.to.end|wall|overall|real|mean|avg|average|\blatency\b|^time\b)");
  std::vector<size_t> times;
  bool rates = false, known = false;
  for (size_t i = 0; i < table.names.size(); ++i) {
    const std::string& cell = table.rows.front()[i];
    rates = rates || (NumberOfCell(cell) && RoleOfName(table.names[i]) == Role::kRate);
    if (!IsTime(table.names[i], cell)) continue;
    times.push_back(i);
    known = known || RE2::PartialMatch(table.names[i], whole);
  }
  const bool ways = std::ranges::all_of(times, [&](size_t i) { return IsWay(table.names[i]); });
  if (times.size() < 2 || known || ways) return true;
  if (!rates) return false;
  for (size_t k = times.size(); k-- > 0;) {
    const auto at = static_cast<ptrdiff_t>(times[k]);
    table.names.erase(table.names.begin() + at);
    for (auto& row : table.rows) row.erase(row.begin() + at);
  }
  return true;
}

}  // namespace

void ResultLinesReader::Heading(std::string_view line, bool framed) {
  if (any_framed_ && !framed) return;
  any_framed_ = framed;
  heading_ = TrimAll(line, framed ? kFrame : std::string_view(" \t\r:."));
  ++block_;
}

void ResultLinesReader::Line(std::string_view line) {
  if (lines_ >= kMostResultLines || line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  const bool under_rule = std::exchange(under_rule_, false);
  if (line.find_first_not_of(kFrame) == std::string_view::npos) {
    under_rule_ = true;
    return;
  }
  ++lines_;
  // A progress bar is no result.
  if (line.size() > kLongestResultLine || line.find("%|") != std::string_view::npos) return;
  static const RE2 framed(
      R"(^\s*(?:={2,}|-{2,}|\*{2,}|#{2,}|>{2,}|~{2,})\s*\S|^\s*\[[A-Za-z][^\[\]=:]{1,60}\]\s*$)");
  const re2::StringPiece piece(line.data(), line.size());
  if (RE2::PartialMatch(piece, framed)) return Heading(line, true);
  if (const auto times = SpeedupIn(line)) speedups_.push_back(*times);
  PairsOfLine pairs = PairsIn(line);
  auto named = NamedResultIn(line);
  if (pairs.pairs.empty() && !named) return Heading(WithoutLogger(line), under_rule);
  if (under_rule && !named && pairs.pairs.size() < 3 &&
      std::ranges::none_of(pairs.pairs, [](const auto& pair) { return IsMeasure(pair.first, pair.second); }))
    return Heading(line, true);
  read_.push_back({heading_, block_, std::move(pairs), std::move(named)});
}

std::vector<ResultLinesReader::Record> ResultLinesReader::ByLine() const {
  std::vector<Record> records;
  for (const Read& read : read_)
    if (read.line.pairs.size() > 1) records.push_back({{read.line.before, read.heading}, read.line.pairs, 1});
  return records;
}

// A block ends at the next heading, and where a name comes again.
std::vector<ResultLinesReader::Record> ResultLinesReader::ByBlock() const {
  std::vector<Record> records;
  std::set<std::string> names;
  size_t block = 0;
  for (const Read& read : read_) {
    const bool again =
        std::ranges::any_of(read.line.pairs, [&](const auto& pair) { return names.contains(pair.first); });
    if (records.empty() || read.block != block || again) {
      records.push_back({{read.heading}, {}, 0});
      names.clear();
      block = read.block;
    }
    for (const auto& pair : read.line.pairs) {
      records.back().pairs.push_back(pair);
      names.insert(pair.first);
    }
    ++records.back().lines;
  }
  return records;
}

// Those of one unit.
std::vector<ResultLinesReader::Record> ResultLinesReader::ByName() const {
  std::map<std::string, std::vector<Record>> by_unit;
  for (const Read& read : read_) {
    if (!read.named) continue;
    const std::string& rate = read.named->rate;
    by_unit[rate].push_back(
        {{read.named->name, read.heading},
         {{rate.empty() ? std::string("time") : fmt::format("throughput ({})", rate), read.named->value}},
         1});
  }
  const auto most =
      std::ranges::max_element(by_unit, {}, [](const auto& unit) { return unit.second.size(); });
  return most == by_unit.end() ? std::vector<Record>() : most->second;
}

// Of the records that have the measure which most have.
std::optional<ResultTable> ResultLinesReader::TableOf(std::vector<Record> records) const {
  std::erase_if(records, [](const Record& record) { return record.pairs.size() > kMostPairsOfResult; });
  std::map<std::string, size_t> measured;
  for (const Record& record : records)
    for (const auto& [name, value] : record.pairs) measured[name] += IsMeasure(name, value);
  const auto most = std::ranges::max_element(measured, {}, [](const auto& name) { return name.second; });
  if (most == measured.end() || most->second < 2) return std::nullopt;
  std::erase_if(records, [&](const Record& record) {
    return std::ranges::find(record.pairs, most->first, &Pairs::value_type::first) == record.pairs.end();
  });
  for (size_t i = 0; i < records[0].texts.size(); ++i) {
    std::vector<std::string> texts;
    for (const Record& record : records) texts.push_back(record.texts[i]);
    const std::vector<Pairs> settings = SettingsOfTexts(texts);
    for (size_t k = 0; k < records.size(); ++k)
      records[k].pairs.insert(records[k].pairs.begin(), settings[k].begin(), settings[k].end());
  }
  // What half of them have.
  std::map<std::string, size_t> counts;
  size_t lines = 0;
  for (const Record& record : records) {
    lines += record.lines;
    for (const auto& pair : record.pairs) ++counts[pair.first];
  }
  constexpr size_t kMostLinesOfOthers = 3;
  if (kMostLinesOfOthers * lines < lines_) return std::nullopt;
  RawResults table;
  table.compares = true;
  for (const auto& pair : records[0].pairs) counts[pair.first] += records.size();  // in its order
  for (const Record& record : records)
    for (const auto& [name, value] : record.pairs)
      if (2 * counts[name] >= records.size() && std::ranges::find(table.names, name) == table.names.end())
        table.names.push_back(name);
  for (const Record& record : records) {
    auto& row = table.rows.emplace_back();
    for (const std::string& name : table.names) {
      const auto found = std::ranges::find(record.pairs, name, &Pairs::value_type::first);
      row.push_back(found == record.pairs.end() ? "" : found->second);
    }
  }
  if (!LeaveOutParts(table)) return std::nullopt;
  auto results = ResultsOf(table);
  return results && IsTold(*results) ? std::move(results) : std::nullopt;
}

// Of settings some may be chosen. Of two results a printed speed-up, or names, say that they are of the same
// work: times of the CPU and of the GPU may be of parts.
bool ResultLinesReader::IsTold(const ResultTable& table) const {
  constexpr size_t kFew = 2;
  constexpr double kRounding = 0.06;
  const auto has = [&](SettingKind kind) {
    return std::ranges::find(table.kinds, kind) != table.kinds.end();
  };
  if (has(SettingKind::kDevices) || (has(SettingKind::kLoad) && table.rows.size() > kFew)) return true;
  if (!has(SettingKind::kChoice) || table.rows.size() > kFew) return has(SettingKind::kChoice);
  if (table.rows.size() < kFew) return false;
  const double ratio = table.rows[0].result / table.rows[1].result;
  const bool told = std::ranges::any_of(speedups_, [&](double times) {
    return std::abs(ratio / times - 1) <= kRounding || std::abs(1 / ratio / times - 1) <= kRounding;
  });
  static const RE2 base(
      R"((?i)(?:^|[\W_])(?:naive|base(?:line)?|ref(?:erence)?|eager|unfused|unoptimi[sz]ed|sequential|serial|default|vanilla|fp32|float32)(?:$|[\W_]))");
  return told || std::ranges::any_of(table.rows, [](const ResultRow& row) {
           return std::ranges::any_of(row.values,
                                      [](const auto& value) { return RE2::PartialMatch(value, base); });
         });
}

std::optional<ResultTable> ResultLinesReader::Finish() const {
  if (lines_ >= kMostResultLines) return std::nullopt;
  for (auto records : {ByLine(), ByBlock(), ByName()})
    if (auto table = records.empty() ? std::nullopt : TableOf(std::move(records))) return table;
  return std::nullopt;
}

}  // namespace dladvisor::benchmark_log
