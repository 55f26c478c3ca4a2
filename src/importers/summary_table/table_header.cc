// SPDX-License-Identifier: Apache-2.0
#include "src/importers/summary_table/table_header.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/summary_table/script_rows.h"

namespace dladvisor::summary_table {
namespace {

constexpr size_t kLongestHeader = 2048, kMostCells = 64;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<std::string> WideCells(std::string_view line) {
  std::vector<std::string> cells;
  line = Trim(line);
  while (!line.empty() && cells.size() < kMostCells) {
    const size_t end = std::min(line.find("  "), line.size());
    cells.emplace_back(line.substr(0, end));
    line = Trim(line.substr(end));
  }
  return cells;
}

// Between the borders of a drawn table, or of Markdown's, which may mark them as code or bold.
std::vector<std::string> DrawnCells(std::string_view line) {
  std::vector<std::string> cells;
  line = Trim(line);
  if (line.starts_with('|')) line.remove_prefix(1);
  while (!line.empty() && cells.size() < kMostCells) {
    const size_t end = std::min(line.find('|'), line.size());
    std::string_view cell = Trim(line.substr(0, end));
    while (cell.size() >= 2 && cell.front() == cell.back() && (cell.front() == '`' || cell.front() == '*'))
      cell = cell.substr(1, cell.size() - 2);
    cells.emplace_back(cell);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return cells;
}

char SeparatorOf(std::string_view line) {
  constexpr int kFewest = 3;
  for (const char separator : {'\t', ';'})
    if (std::ranges::count(line, separator) >= kFewest) return separator;
  return ',';
}

std::string_view NextWord(std::string_view& line) {
  line = Trim(line);
  const std::string_view word = line.substr(0, line.find_first_of(" \t"));
  line.remove_prefix(word.size());
  return word;
}

// By the words before a unit in parentheses, in lower case.
Column ColumnOf(const std::string& words, const std::string& unit, bool has_operations) {
  static const RE2 time_unit("(?:n|u|m|\xC2\xB5|\xCE\xBC)?s(?:ec)?|seconds");
  static const RE2 device_self(R"(self (?:cuda|xpu|npu|mtia|hpu|privateuse1|hip|device)(?: total)?)"),
      device_total(R"((?:cuda|xpu|npu|mtia|hpu|privateuse1|hip|device) total)");
  constexpr auto kColumns = std::to_array<std::pair<std::string_view, Column>>({
      {"name", Column::kName},
      {"kernel name", Column::kName},
      {"kernel_name", Column::kName},
      {"kernelname", Column::kName},
      {"kernel", Column::kName},
      {"operation", Column::kName},
      {"range", Column::kName},
      {"type", Column::kType},
      {"style", Column::kWord},
      {"source", Column::kWord},
      {"category", Column::kCategory},
      {"gridxyz", Column::kThree},
      {"blockxyz", Column::kThree},
      {"percentage", Column::kShare},
      {"time%", Column::kShare},
      {"time %", Column::kShare},
      {"% time", Column::kShare},
      {"% of total", Column::kShare},
      {"%", Column::kShare},
      {"share", Column::kShare},
      {"pct", Column::kShare},
      {"instances", Column::kCalls},
      {"num calls", Column::kCalls},
      {"calls", Column::kCalls},
      {"# of calls", Column::kCalls},
      {"number of calls", Column::kCalls},
      {"count", Column::kCalls},
      {"operations", Column::kCalls},
      {"total time", Column::kTotal},
      {"totaldurationns", Column::kTotal},
      {"total gpu time", Column::kTotal},
      {"total cuda time", Column::kTotal},
      {"total duration", Column::kTotal},
      {"gpu time", Column::kTotal},
      {"cuda time", Column::kTotal},
      {"avg", Column::kAverage},
      {"average", Column::kAverage},
      {"mean", Column::kAverage},
      {"avg time", Column::kAverage},
      {"averagens", Column::kAverage},
      {"med", Column::kMedian},
      {"median", Column::kMedian},
      {"p50", Column::kMedian},
      {"min", Column::kMin},
      {"minimum", Column::kMin},
      {"minns", Column::kMin},
      {"max", Column::kMax},
      {"maximum", Column::kMax},
      {"maxns", Column::kMax},
      {"self cpu", Column::kHostSelf},
      {"self cpu total", Column::kHostSelf},
      {"cpu total", Column::kHostTotal},
  });
  if (words == "time") return unit == "%" ? Column::kShare : Column::kTotal;
  if (words == "total size") return Column::kBytes;
  if ((words == "total" || words == "sum") && RE2::FullMatch(unit, time_unit)) return Column::kTotal;
  if (words == "total" && has_operations) return Column::kBytes;
  if (const auto* found = std::ranges::find(kColumns, words, &std::pair<std::string_view, Column>::first);
      found != kColumns.end())
    return found->second;
  if (RE2::FullMatch(words, device_self)) return Column::kDeviceSelf;
  return RE2::FullMatch(words, device_total) ? Column::kDeviceTotal : Column::kOther;
}

// A table of sizes of old versions names their unit in its title alone.
double BytesOf(std::string_view title) {
  if (title.find("KiB") != std::string_view::npos) return 1024;
  if (title.find("MiB") != std::string_view::npos) return 1024.0 * 1024;
  return 0;
}

// "XPU" of "self xpu": what PyTorch calls the device.
std::string DeviceOf(const std::vector<std::string>& names) {
  static const RE2 self(R"(self (cuda|xpu|npu|mtia|hpu|privateuse1|hip)(?: total)?)");
  std::string device;
  for (const std::string& name : names)
    if (RE2::FullMatch(name, self, &device)) break;
  std::ranges::transform(device, device.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return device;
}

// A table of totals that a script made of a profile: names, calls and times with their unit, in any order, of
// what a GPU does by its headers or by what stands above it.
std::optional<TableHeader> OfAScript(TableHeader header, const std::vector<std::string>& names,
                                     std::string_view title, std::string_view before) {
  static const RE2 gpu(R"((?i)\b(?:kernels?|gpu|cuda|hip|rocm|nsys|nsight|device)\b)");
  const bool drawn = header.layout == Layout::kCsv && header.separator == '|';
  if (header.layout == Layout::kCsv && !drawn) return std::nullopt;
  if (!header.Has(Column::kTotal) || !header.Has(Column::kCalls)) return std::nullopt;
  if (header.Has(Column::kMedian) + header.Has(Column::kAverage) + header.Has(Column::kShare) < 1)
    return std::nullopt;
  const auto total = std::ranges::find(header.cells, Column::kTotal, &HeaderCell::column);
  const bool of_gpu =
      RE2::PartialMatch(re2::StringPiece(title.data(), title.size()), gpu) ||
      RE2::PartialMatch(re2::StringPiece(before.data(), before.size()), gpu) ||
      std::ranges::any_of(names, [](const std::string& name) { return RE2::PartialMatch(name, gpu); });
  if (!of_gpu || !total->has_unit || SaysHost(title, before)) return std::nullopt;
  if (!drawn) header.layout = Layout::kWide;
  header.tool = Tool::kScript;
  header.rows = Rows::kByName;
  return header;
}

// rocprof-compute analyze, Omniperf before: "| 0 | vecCopy(double*, ...) | 1 | 20000.00 | ... |". Where it
// compares workloads each has its columns, of which the first ones are read.
bool IsOfRocprofCompute(TableHeader& header, const std::vector<std::string>& names) {
  const auto named = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  if (header.separator != '|' || !(named("kernel_name") || named("kernelname")) || !named("pct") ||
      !header.Has(Column::kTotal) || !header.Has(Column::kCalls))
    return false;
  for (size_t i = 0; i < names.size(); ++i)
    if (std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<ptrdiff_t>(i))
      header.cells[i] = {};
  header.tool = Tool::kRocprofCompute;
  header.rows = Rows::kByName;
  return true;
}

// What its columns are of; nothing where they are not of such a table.
std::optional<TableHeader> Known(TableHeader header, const std::vector<std::string>& names) {
  const auto named = [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  if (!header.Has(Column::kName) || !header.Has(Column::kCalls)) return std::nullopt;
  const bool by_time = header.Has(Column::kTotal) && header.Has(Column::kShare);
  if (IsOfRocprofCompute(header, names)) return header;
  // A table may have a choice of its columns: "Name  Self CPU %  Self CPU  Self CUDA  # of Calls".
  if (header.Has(Column::kHostSelf) && (header.Has(Column::kHostTotal) || named("self cpu %"))) {
    header.tool = Tool::kTorch;
    header.rows = Rows::kOperators;
    header.device = DeviceOf(names);
    if (header.layout == Layout::kWords) header.layout = Layout::kWide;
    return header;
  }
  if (named("totaldurationns") && header.layout == Layout::kCsv) {
    header.tool = Tool::kRocprof;
    header.rows = Rows::kByName;
    return header;
  }
  // Managed memory, of nvprof.
  if (named("total size")) {
    header.tool = Tool::kNvprof;
    header.rows = Rows::kMigrations;
    return header.Has(Column::kTotal) ? std::optional(std::move(header)) : std::nullopt;
  }
  if (header.Has(Column::kBytes) && named("operation")) {
    const auto bytes = std::ranges::find(header.cells, Column::kBytes, &HeaderCell::column);
    if (bytes->unit == 0) return std::nullopt;
    header.rows = Rows::kMemory;
    return header;
  }
  if (!by_time) return std::nullopt;
  // Any tool's table in Markdown may have names, calls and times.
  if (header.separator == '|' && !named("instances") &&
      !(header.Has(Column::kMin) && header.Has(Column::kMax)))
    return std::nullopt;
  if (named("kernel") || (!named("total time") && !named("time"))) return std::nullopt;
  if (!named("total time")) {
    header.tool = Tool::kNvprof;
    header.rows = Rows::kTyped;
  } else if (named("operation") || named("operations")) {  // of versions to 2021 their count
    header.rows = header.Has(Column::kCategory) ? Rows::kByName : Rows::kMemory;
  } else if (named("range") || named("source")) {
    header.rows = Rows::kRanges;
  } else {
    header.rows = named("instances") ? Rows::kKernels : Rows::kCalls;
  }
  // Numbers part from a name that may hold blanks only in front of it.
  if (header.layout == Layout::kWords && header.cells.back().column != Column::kName) return std::nullopt;
  return header;
}

}  // namespace

bool TableHeader::Has(Column column) const {
  return std::ranges::find(cells, column, &HeaderCell::column) != cells.end();
}

std::optional<double> UnitOf(std::string_view name) {
  constexpr auto kUnits = std::to_array<std::pair<std::string_view, double>>({
      {"ns", 1},
      {"nsec", 1},
      {"us", 1e3},
      {"\xC2\xB5s", 1e3},
      {"\xCE\xBCs", 1e3},
      {"usec", 1e3},
      {"ms", 1e6},
      {"msec", 1e6},
      {"s", 1e9},
      {"sec", 1e9},
      {"b", 1},
      {"bytes", 1},
      {"kb", 1e3},
      {"kib", 1024},
      {"mb", 1e6},
      {"mib", 1024.0 * 1024},
      {"gb", 1e9},
      {"gib", 1024.0 * 1024 * 1024},
  });
  const std::string lower = Lower(name);
  const auto* found = std::ranges::find(kUnits, lower, &std::pair<std::string_view, double>::first);
  return found == kUnits.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> NumberIn(std::string_view cell, double unit) {
  std::string text(Trim(cell));
  // Others' locales write 1,234.5 as 1.234,5, and 66.7 as 66,7, which are not read: a comma parts groups
  // here.
  if (text.find(',') != text.npos) {
    static const RE2 groups(R"(\d{1,3}(?:,\d{2,3})*,\d{3}(?:\D.*)?)");
    if (!RE2::FullMatch(text, groups)) return std::nullopt;
    std::erase(text, ',');
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0) || value > 1e18) return std::nullopt;
  const std::string_view rest = Trim(std::string_view(text).substr(static_cast<size_t>(end - text.data())));
  if (rest.empty()) return value * unit;
  if (rest == "%") return value;
  const auto own = UnitOf(rest);
  return own ? std::optional(value * *own) : std::nullopt;
}

std::vector<std::string> CsvCells(std::string_view line, char separator) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  // An empty cell of a tab's first column stays.
  for (const char c : separator == '\t' ? line : Trim(line)) {
    if (c == '"')
      quoted = !quoted;
    else if (c == separator && !quoted && cells.size() < kMostCells)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

std::optional<TableHeader> HeaderOf(std::string_view line, std::string_view title, std::string_view before) {
  if (line.size() > kLongestHeader) return std::nullopt;
  constexpr auto kSigns = std::to_array<std::string_view>({"Name", "Operation", "Range", "Kernel", "kernel"});
  if (std::ranges::none_of(kSigns, [&](std::string_view sign) { return line.find(sign) != line.npos; }))
    return std::nullopt;
  if (line.find("Time") == line.npos && line.find("Total") == line.npos &&
      line.find("Self CPU") == line.npos && line.find("Sum(") == line.npos)
    return std::nullopt;
  TableHeader header;
  const bool is_drawn = Trim(line).starts_with('|');
  std::vector<std::string> cells;
  if (!is_drawn) cells = WideCells(line);
  if (cells.size() < 3) {
    header.layout = Layout::kCsv;
    header.separator = is_drawn ? '|' : SeparatorOf(line);
    cells = is_drawn ? DrawnCells(line) : CsvCells(line, header.separator);
  }
  if (cells.size() < 4 || cells.size() >= kMostCells) return std::nullopt;
  static const RE2 with_unit(R"(\s*(.*?)\s*(?:\(([^()]*)\))?\s*)");
  const bool operations = Lower(Trim(cells.back())) == "operation";
  std::vector<std::string> names;
  for (const std::string& cell : cells) {
    std::string words, unit;
    RE2::FullMatch(Lower(cell), with_unit, &words, &unit);
    HeaderCell& of = header.cells.emplace_back();
    of.column = ColumnOf(words, unit, operations);
    if (of.column == Column::kBytes)
      of.unit = unit.empty() ? BytesOf(title) : UnitOf(unit).value_or(0);
    else
      of.unit = UnitOf(unit).value_or(1);
    of.has_unit = UnitOf(unit).has_value();
    names.push_back(std::move(words));
  }
  if (auto known = Known(header, names)) return known;
  return OfAScript(std::move(header), names, title, before);
}

namespace {

// Of a row whose name has commas and no quotes, as rocprof writes C++ functions: the cells behind it are
// counted from the end.
std::vector<std::string> CellsBehindName(std::string_view line, size_t count) {
  std::vector<std::string> cells(count);
  line = Trim(line);
  for (size_t i = count - 1; i > 0; --i) {
    const size_t comma = line.rfind(',');
    if (comma == line.npos) return {};
    cells[i] = line.substr(comma + 1);
    line = line.substr(0, comma);
  }
  cells[0] = line;
  return cells;
}

// Of a row whose name, in front, fills its column so that one blank parts it from the numbers behind it.
std::vector<std::string> NumbersBehindName(std::string_view line, size_t count) {
  std::vector<std::string> cells(count);
  line = Trim(line);
  for (size_t i = count - 1; i > 0; --i) {
    const size_t blank = line.find_last_of(" \t");
    if (blank == line.npos) return {};
    cells[i] = line.substr(blank + 1);
    if (cells[i].find_first_not_of('-') != cells[i].npos && !NumberIn(cells[i], 1)) return {};
    line = Trim(line.substr(0, blank));
  }
  cells[0] = line;
  return cells;
}

}  // namespace

std::optional<std::vector<std::string>> CellsOf(std::string_view line, const TableHeader& header) {
  if (header.separator == '|') {
    std::vector<std::string> cells = DrawnCells(line);
    return cells.size() == header.cells.size() ? std::optional(std::move(cells)) : std::nullopt;
  }
  if (header.layout != Layout::kWords) {
    std::vector<std::string> cells =
        header.layout == Layout::kCsv ? CsvCells(line, header.separator) : WideCells(line);
    if (header.layout == Layout::kCsv && header.separator == ',' && cells.size() > header.cells.size() &&
        !line.starts_with('"') && header.cells.front().column == Column::kName)
      cells = CellsBehindName(line, header.cells.size());
    // Shapes and source lines, which may be empty, come last.
    const auto calls = std::ranges::find(header.cells, Column::kCalls, &HeaderCell::column);
    const size_t needed = header.layout == Layout::kCsv ? header.cells.size()
                          : header.tool == Tool::kScript
                              ? header.cells.size()
                              : static_cast<size_t>(calls - header.cells.begin()) + 1;
    if (cells.size() < needed && header.layout == Layout::kWide &&
        header.cells.front().column == Column::kName)
      cells = NumbersBehindName(line, header.cells.size());
    if (cells.size() < needed) return std::nullopt;
    cells.resize(header.cells.size());
    return cells;
  }
  std::vector<std::string> cells;
  for (const HeaderCell& of : header.cells) {
    if (of.column == Column::kName) {
      cells.emplace_back(Trim(line));
    } else if (of.column == Column::kType) {
      // Of the rows of one type the first names it.
      line = Trim(line);
      const size_t colon = line.find(':');
      const bool typed = !line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
      if (typed && colon == line.npos) return std::nullopt;
      cells.emplace_back(typed ? line.substr(0, colon) : std::string_view());
      if (typed) line.remove_prefix(colon + 1);
    } else {
      std::string cell;
      for (int i = 0; i < (of.column == Column::kThree ? 3 : 1); ++i) cell = NextWord(line);
      const bool words = of.column == Column::kWord || of.column == Column::kCategory;
      if (!words && cell != "-" && !NumberIn(cell, 1)) return std::nullopt;
      cells.push_back(std::move(cell));
    }
  }
  return cells.back().empty() ? std::nullopt : std::optional(std::move(cells));
}

}  // namespace dladvisor::summary_table
