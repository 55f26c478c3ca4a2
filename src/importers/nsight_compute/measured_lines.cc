// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsight_compute/measured_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <charconv>

#include "src/importers/nsight_compute/line_text.h"
#include "src/importers/nsight_compute/profiler_messages.h"

namespace dladvisor::nsight_compute {
namespace {

constexpr size_t kLongestName = 4096, kLongestTitle = 80, kMostProcesses = 64, kMostCells = 200,
                 kLongestCell = 64, kLongestError = 120;
// Blanks in front of what goes on with a message.
constexpr size_t kIndentOfMessage = 6;

std::string Printable(std::string_view text, size_t most) {
  std::string plain(Trim(text).substr(0, most));
  std::erase_if(plain, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return plain;
}

std::string_view Part(std::string_view line, std::pair<size_t, size_t> column) {
  if (line.size() <= column.first) return {};
  return Trim(line.substr(column.first, column.second - column.first));
}

// "-------- ------ -----": where these begin and end; nothing where the line is no rule.
std::vector<std::pair<size_t, size_t>> ColumnsOf(std::string_view line) {
  std::vector<std::pair<size_t, size_t>> columns;
  if (line.find_first_not_of(" \t\r-") != std::string_view::npos) return columns;
  for (size_t at = line.find('-'); at != std::string_view::npos; at = line.find('-', at)) {
    const size_t end = std::min(line.find_first_not_of('-', at), line.size());
    columns.emplace_back(at, end);
    at = end;
  }
  return columns;
}

// Commas part them, but within quotes, where a quote is written twice.
std::vector<std::string> CsvCells(std::string_view line) {
  constexpr size_t kMostColumns = 20'000;
  std::vector<std::string> cells(1);
  bool quoted = false;
  line = Trim(line);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
      cells.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == ',' && !quoted && cells.size() < kMostColumns)
      cells.emplace_back();
    else
      cells.back() += line[i];
  }
  return cells;
}

// "Duration [us]": the unit goes from the header to its own list.
void TakeUnits(std::vector<std::string>& header, std::vector<std::string>& units) {
  units.assign(header.size(), "");
  for (size_t i = 0; i < header.size(); ++i) {
    const size_t begin = header[i].rfind(" [");
    if (begin == std::string::npos || !header[i].ends_with(']')) continue;
    units[i] = header[i].substr(begin + 2, header[i].size() - begin - 3);
    header[i].resize(begin);
  }
}

int64_t CountOf(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  constexpr int64_t kMost = 1'000'000'000;
  return error == std::errc() && count > 0 && count < kMost ? count : 1;
}

}  // namespace

bool MeasuredLinesReader::Line(std::string_view line) {
  if (constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF"; line.starts_with(kByteOrderMark))
    line.remove_prefix(kByteOrderMark.size());
  if (csv_ && TakeCsvRow(line)) return true;
  if (TakeNote(line) || TakeHeader(line) || TakeCsvHeader(line)) return true;
  return open_ && !csv_ && TakeLineOfKernel(line);
}

// "==PROF== Profiling ...", "==ERROR== ...", "[1803] native@127.0.0.1".
bool MeasuredLinesReader::TakeNote(std::string_view line) {
  const bool runs = line.starts_with("==PROF== "), fails = line.starts_with("==ERROR== ");
  if (runs || fails || line.starts_with("==WARNING== ")) {
    runs_ = runs_ || runs;
    if (constexpr std::string_view kReport = "==PROF== Report: "; line.starts_with(kReport))
      report_ = Printable(line.substr(kReport.size()), kLongestError);
    if (error_.empty() && (fails || line.find("No kernels were profiled") != line.npos))
      error_ = Printable(line.substr(line.find(' ')), kLongestError);
    return runs_;
  }
  if (!line.starts_with('[') || line.find('@') == line.npos) return false;
  static const RE2 process(R"(^\[(\d{1,10})\] (\S.{0,200})@[\w.:\-]+\s*$)");
  std::string id, name;
  if (!RE2::PartialMatch(Piece(line), process, &id, &name)) return false;
  EndLaunch();
  BeginProcess(id, name);
  return true;
}

// "  f(int) (32, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9"; of before 2022.3 with the date of
// the launch and no sizes; of a summary with "Invocations 4".
bool MeasuredLinesReader::TakeHeader(std::string_view line) {
  if (line.find(", Context ") == line.npos && line.find(", Device ") == line.npos) return false;
  static const RE2 header(
      R"(^\s*(\S.*?)(?: \((\d+, \d+, \d+)\)x\((\d+, \d+, \d+)\))?(?:, \d{4}-\w{3}-\d{1,2} \d\d:\d\d:\d\d)?(?:, Block Size (\d+), Grid Size (\d+))?(?:, Context \S+, Stream \S+)?(?:, Device \d+)?(?:, CC \d+\.\d+)?(?:, Invocations (\d+)|, (\d+) invocations)?\s*$)");
  std::string name, grid, block, block_size, grid_size, count, other_count;
  if (line.size() > kLongestName ||
      !RE2::PartialMatch(Piece(line), header, &name, &grid, &block, &block_size, &grid_size, &count,
                         &other_count) ||
      name.find(", Context ") != name.npos || name.find(", Device ") != name.npos)
    return false;
  csv_.reset();
  Launch launch;
  launch.name = Printable(name, kLongestName);
  launch.grid = grid.empty() ? grid_size : grid;
  launch.block = block.empty() ? block_size : block;
  launch.count = CountOf(count.empty() ? other_count : count);
  BeginLaunch(std::move(launch));
  return true;
}

bool MeasuredLinesReader::TakeLineOfKernel(std::string_view line) {
  const size_t indent = line.find_first_not_of(" \t\r");
  if (indent == std::string_view::npos) return false;
  if (indent == 0 && !line.starts_with('-')) {
    EndLaunch();
    return false;
  }
  if (line.substr(indent).starts_with("Section: ")) {
    columns_.clear();
    in_message_ = false;
    has_metrics_ = true;
    return true;
  }
  if (auto columns = ColumnsOf(line); !columns.empty()) {
    in_message_ = false;
    if (columns.size() >= 3) columns_ = std::move(columns);
    has_metrics_ = true;
    return true;
  }
  if (auto message = MessageOf(line)) {
    columns_.clear();
    in_message_ = open_->messages.size() < kMostCells;
    if (in_message_) open_->messages.push_back(std::move(*message));
    return true;
  }
  if (in_message_ && indent >= kIndentOfMessage) {
    AddTo(open_->messages.back(), line);
    return true;
  }
  in_message_ = false;
  // Ranges and what else stands above the first section.
  return TakeRow(line) || !has_metrics_;
}

bool MeasuredLinesReader::TakeRow(std::string_view line) {
  if (columns_.size() < 3 || line.size() <= columns_[2].first) return false;
  const size_t last = columns_.size() - 1;
  const std::string_view value =
      last == 2 ? Trim(line.substr(columns_[2].first)) : Part(line, columns_[last]);
  TakeMetric(Part(line, columns_[0]), Part(line, columns_[1]), value);
  return true;
}

void MeasuredLinesReader::TakeMetric(std::string_view name, std::string_view unit, std::string_view value) {
  const auto metric = MetricOf(name, unit);
  if (open_ && ValueOf(value, unit, comma_is_point_)) open_->has_metrics = true;
  not_available_ = not_available_ || value.find("n/a") != value.npos;
  is_nan_ = is_nan_ || value.find("nan") != value.npos;
  if (!metric || !open_ || value.empty() || open_->cells.size() >= kMostCells) return;
  comma_is_point_ = comma_is_point_ || HasCommaAsPoint(value.substr(0, value.find(' ')));
  open_->cells.push_back(
      {*metric, std::string(unit.substr(0, kLongestCell)), std::string(value.substr(0, kLongestCell))});
}

bool MeasuredLinesReader::TakeCsvHeader(std::string_view line) {
  const bool of_window = line.find("Function Name") != line.npos;
  if ((line.find("Kernel Name") == line.npos && !of_window) || line.find(',') == line.npos) return false;
  Csv csv;
  csv.header = CsvCells(line);
  if (of_window) TakeUnits(csv.header, csv.units);
  const auto column = [&](std::string_view name) -> std::optional<size_t> {
    const auto found = std::ranges::find(csv.header, name);
    return found == csv.header.end() ? std::nullopt : std::optional<size_t>(found - csv.header.begin());
  };
  csv.kernel = column("Kernel Name");
  csv.of_window = !csv.kernel && column("Function Name") && (column("Duration") || column("Cycles")) &&
                  (column("Compute Throughput") || column("Grid Size"));
  if (csv.of_window) csv.kernel = column("Function Name");
  csv.name = column("Metric Name");
  csv.value = column("Metric Value") ? column("Metric Value") : column("Average");
  csv.unit = column("Metric Unit");
  csv.has_units = csv.of_window;
  csv.wide = csv.of_window || (!csv.name && std::ranges::any_of(csv.header, [](const std::string& cell) {
               return cell.find("__") != cell.npos && cell.find(' ') == cell.npos;
             }));
  if (!csv.kernel || (!csv.wide && (!csv.name || !csv.value))) return false;
  csv.id = column("ID");
  csv.process_id = column("Process ID");
  csv.process = column("Process Name");
  csv.block = column("Block Size");
  csv.grid = column("Grid Size");
  csv.invocations = column("Invocations");
  csv.rule_type = column("Rule Type");
  csv.rule_text = column("Rule Description");
  csv.speedup_type = column("Estimated Speedup Type");
  csv.speedup = column("Estimated Speedup");
  EndLaunch();
  csv_ = std::move(csv);
  return true;
}

bool MeasuredLinesReader::TakeCsvRow(std::string_view line) {
  if (line.find(',') == line.npos) return false;
  std::vector<std::string> cells = CsvCells(line);
  // Newer versions leave out the cells of rules at the end of rows that have none.
  if (!csv_->wide && cells.size() > std::max(*csv_->kernel, *csv_->value) &&
      cells.size() < csv_->header.size())
    cells.resize(csv_->header.size());
  if (cells.size() != csv_->header.size()) return false;
  if (csv_->wide && !csv_->has_units && cells[*csv_->kernel].empty()) {
    csv_->units = cells;
    csv_->has_units = true;
    return true;
  }
  if (cells[*csv_->kernel].empty()) return false;
  TakeCells(cells);
  return true;
}

void MeasuredLinesReader::TakeCells(const std::vector<std::string>& cells) {
  const auto cell = [&](std::optional<size_t> column) {
    return column ? std::string_view(cells[*column]) : std::string_view();
  };
  if (csv_->process_id && (processes_.empty() || cell(csv_->process_id) != process_id_))
    BeginProcess(cell(csv_->process_id), cell(csv_->process));
  // Rows of a launch have its number; without one, they have each metric once.
  const std::string id(csv_->id ? cell(csv_->id) : cell(csv_->kernel));
  const auto metric = MetricOf(cell(csv_->name), cell(csv_->unit));
  const bool again =
      !csv_->id && open_ && metric &&
      std::ranges::any_of(open_->cells, [&](const MetricCell& c) { return c.metric == *metric; });
  if (csv_->wide || !open_ || id != csv_->last_id || again) {
    csv_->last_id = id;
    Launch launch;
    launch.name = Printable(cell(csv_->kernel), kLongestName);
    const auto sizes = [&](std::string_view text) {
      if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
      return std::string(text.substr(0, kLongestCell));
    };
    launch.grid = sizes(cell(csv_->grid));
    launch.block = sizes(cell(csv_->block));
    launch.count = csv_->invocations ? CountOf(cell(csv_->invocations)) : 1;
    BeginLaunch(std::move(launch));
  }
  if (csv_->of_window) {
    // Behind a value may stand what it is of another launch: "0.35 (+11878.43%)".
    for (size_t i = 0; i < cells.size(); ++i)
      if (i != csv_->grid && i != csv_->block && i != csv_->kernel) {
        const std::string_view value = Trim(cells[i]);
        TakeMetric(csv_->header[i], csv_->units[i], value.substr(0, value.find(' ')));
      }
    return;
  }
  if (csv_->wide) {
    for (size_t i = 0; i < cells.size(); ++i)
      TakeMetric(csv_->header[i], csv_->has_units ? std::string_view(csv_->units[i]) : std::string_view(),
                 cells[i]);
    return;
  }
  TakeMetric(cell(csv_->name), cell(csv_->unit), cell(csv_->value));
  if (cell(csv_->rule_text).empty() || open_->messages.size() >= kMostCells) return;
  ProfilerMessage message;
  message.kind = Printable(cell(csv_->rule_type), 8);
  message.is_local = cell(csv_->speedup_type) == "local";
  if (const auto speedup = ValueOf(cell(csv_->speedup), "%", false);
      speedup && *speedup >= 0 && *speedup <= 1)
    message.most_speedup = speedup;
  AddTo(message, cell(csv_->rule_text));
  open_->messages.push_back(std::move(message));
}

void MeasuredLinesReader::BeginProcess(std::string_view id, std::string_view name) {
  EndLaunch();
  process_id_ = id;
  const auto known = std::ranges::find(processes_, id, &Launches::id);
  process_ = static_cast<size_t>(known - processes_.begin());
  if (known != processes_.end()) return;
  if (processes_.size() == kMostProcesses) {
    --process_;
    return;
  }
  processes_.push_back({std::string(id.substr(0, kLongestCell)), Printable(name, kLongestTitle), {}});
}

void MeasuredLinesReader::BeginLaunch(Launch launch) {
  EndLaunch();
  columns_.clear();
  in_message_ = has_metrics_ = false;
  open_ = std::move(launch);
}

void MeasuredLinesReader::EndLaunch() {
  // Where the launch failed, each metric is nan, and the rules have nothing to say.
  if (open_ && !open_->has_metrics && is_nan_ &&
      std::ranges::all_of(open_->messages, [](const auto& message) { return message.kind == "ERR"; })) {
    open_->messages.clear();
    failed_ = open_->name.substr(0, open_->name.find('('));
  }
  is_nan_ = false;
  if (open_ && !open_->empty() && !open_->name.empty() && !IsFull()) {
    ++launches_;
    if (processes_.empty()) processes_.emplace_back();
    processes_[process_].all.push_back(std::move(*open_));
  }
  open_.reset();
}

std::optional<MeasuredLinesReader::Lacks> MeasuredLinesReader::WithoutKernels() const {
  if (!runs_ && failed_.empty()) return std::nullopt;
  if (!report_.empty())
    return Lacks{"the output of a program under Nsight Compute, whose measurements are in a report beside it",
                 "give these as text: ncu --import " + report_ + " --page details > run.txt"};
  if (error_.find("ERR_NVGPUCTRPERM") != error_.npos)
    return Lacks{
        "the output of a program under Nsight Compute, which may not read the GPU's counters "
        "(ERR_NVGPUCTRPERM)",
        "run ncu as root, or let the driver allow it (NVreg_RestrictProfilingToAdminUsers=0); nsys "
        "profile --trace=cuda,nvtx -o run PROGRAM records times without counters"};
  if (!failed_.empty())
    return Lacks{
        fmt::format("the output of a program under Nsight Compute, in which the launch of {} failed{}: "
                    "all its metrics are nan",
                    failed_, error_.empty() ? "" : " (" + error_ + ")"),
        "run the program without ncu, and under compute-sanitizer, to see whether the kernel fails by "
        "itself (an access out of bounds, a time limit of the display's driver); where it does not, "
        "measure less at once (ncu --set basic --launch-count 1, or --replay-mode application)"};
  if (not_available_)
    return Lacks{
        "the output of a program under Nsight Compute, which has none of the metrics that it was asked for "
        "(n/a)",
        "take sections in place of single metrics (ncu --set full PROGRAM), or names of metrics that ncu "
        "--query-metrics prints"};
  if (error_.empty()) return std::nullopt;
  return Lacks{"the output of a program under Nsight Compute, which measured no kernel: " + error_,
               "see that the program launches kernels on the GPU and that options such as --kernel-name and "
               "--launch-skip let some through"};
}

std::vector<SummaryTable> MeasuredLinesReader::Finish() {
  EndLaunch();
  csv_.reset();
  std::vector<SummaryTable> tables;
  for (const Launches& process : processes_)
    if (!process.all.empty()) tables.push_back(TableOf(process, comma_is_point_));
  processes_.clear();
  process_ = 0;
  return tables;
}

}  // namespace dladvisor::nsight_compute
