// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/csv_log.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/bytes/lines.h"
#include "src/importers/nvidia_smi/column.h"
#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/serving_columns.h"
#include "src/importers/nvidia_smi/telemetry_log.h"
#include "src/importers/nvidia_smi/unnamed_columns.h"

namespace dladvisor {
namespace {
using nvidia_smi::LogColumn;
using Kind = LogColumn::Kind;

// Lines that one row may have besides its first: one for each GPU that a command printed.
constexpr int kMostLinesOfCell = 16;

std::string_view WithoutMark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

// Of a header in which nothing is a GPU's, or that counts the host as well, names that both may have are
// none.
std::vector<LogColumn> ColumnsOf(std::string_view header) {
  std::vector<LogColumn> columns;
  bool host = false;
  for (const std::string_view name : nvidia_smi::SplitAtCommas(header)) {
    columns.push_back(nvidia_smi::CsvColumn(name));
    std::string lower(name);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (const size_t vram = lower.find("vram"); vram != std::string::npos) lower.erase(vram, 4);
    for (const char* word : {"cpu", "ram", "host", "swap", "disk"})
      host = host || lower.find(word) != std::string::npos;
  }
  if (host)
    for (LogColumn& column : columns)
      if (column.kind == Kind::kMetric && !column.names_gpu) column.kind = Kind::kOther;
  return columns;
}

bool IsMetric(const LogColumn& column) {
  return column.kind == Kind::kMetric || column.kind == Kind::kThrottleReasons;
}

// Whether the line names columns: no cell of it is a number, and one names a metric.
bool IsHeader(std::string_view line) {
  if (line.find(',') == std::string_view::npos) return false;
  for (const std::string_view cell : nvidia_smi::SplitAtCommas(line))
    if (cell.empty() || nvidia_smi::ParseQuantity(cell) || nvidia_smi::IsAbsent(cell)) return false;
  return std::ranges::any_of(ColumnsOf(line), IsMetric);
}

class CsvRowReader {
 public:
  explicit CsvRowReader(std::vector<LogColumn> named) : columns_(std::move(named)) {
    const std::vector<LogColumn>& columns = columns_;
    // The index identifies a GPU as people name it; a bus id or UUID where it is missing.
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].kind == Kind::kTime && !time_) time_ = i;
      if (columns[i].kind == Kind::kIdentity && !identity_) identity_ = i;
      if (columns[i].kind == Kind::kName && !name_) name_ = i;
      if (columns[i].kind == Kind::kMemoryFree) free_ = i;
      if (columns[i].dotted && IsMetric(columns[i]) && columns[i].metric == TelemetryMetric::kMemoryUsed)
        used_ = i;
    }
  }

  bool names_gpus() const { return identity_.has_value(); }
  std::optional<nvidia_smi::Time> TimeOf(const std::vector<std::string_view>& cells) const {
    return time_ && *time_ < cells.size() ? nvidia_smi::ParseTime(cells[*time_]) : std::nullopt;
  }

  void Row(std::vector<std::string_view> cells, nvidia_smi::TelemetryLog& log) const {
    // A script that writes a time of its own before what nvidia-smi prints, under one name.
    if (cells.size() == columns_.size() + 1 && time_ == 0 && nvidia_smi::ParseTime(cells[0]) &&
        nvidia_smi::ParseTime(cells[1]))
      cells.erase(cells.begin());
    // A time with nothing behind it: the tool printed no GPU then.
    if (cells.size() > 1 && std::ranges::all_of(cells.begin() + 1, cells.end(), &std::string_view::empty))
      return;
    if (cells.size() != columns_.size()) {
      // What another program wrote in between, such as a training, is no row.
      if (!time_ || (*time_ < cells.size() && nvidia_smi::ParseTime(cells[*time_]))) log.Skip("rows");
      return;
    }
    std::optional<nvidia_smi::Time> time;
    if (time_) {
      time = nvidia_smi::ParseTime(cells[*time_]);
      if (!time) return log.Skip("rows");
    }
    // A column "gpu" may hold a share in place of an index.
    if (identity_ && (cells[*identity_].empty() || cells[*identity_].ends_with('%'))) return log.Skip("rows");
    const std::string_view name = name_ ? cells[*name_] : std::string_view();
    log.Begin(time, log.Device(identity_ ? cells[*identity_] : name, name));
    for (size_t i = 0; i < cells.size(); ++i) Cell(columns_[i], cells[i], log);
    if (free_ && used_) Total(cells, log);
  }

 private:
  static void Cell(const LogColumn& column, std::string_view cell, nvidia_smi::TelemetryLog& log) {
    if (!IsMetric(column)) return;
    std::optional<nvidia_smi::Quantity> quantity = nvidia_smi::ParseQuantity(cell);
    if (!quantity || quantity->number < 0) {
      if (!nvidia_smi::IsAbsent(cell)) log.Skip("cells");
      return;
    }
    if (column.kind == Kind::kThrottleReasons) {
      log.AddThrottling(quantity->number);
      return;
    }
    if (quantity->unit.empty()) quantity->unit = column.unit;
    log.Add(column.metric, *quantity);
  }

  // What is used and what is free: of a GPU's memory all that programs can have, where no column has more.
  void Total(const std::vector<std::string_view>& cells, nvidia_smi::TelemetryLog& log) const {
    const auto used = nvidia_smi::ParseQuantity(cells[*used_]),
               free = nvidia_smi::ParseQuantity(cells[*free_]);
    if (!used || !free || used->number < 0 || free->number < 0) return;
    const std::string_view unit = used->unit.empty() ? std::string_view(columns_[*used_].unit) : used->unit;
    if (unit == (free->unit.empty() ? std::string_view(columns_[*free_].unit) : free->unit))
      log.Add(TelemetryMetric::kMemoryTotal, {used->number + free->number, unit});
  }

  std::vector<LogColumn> columns_;
  std::optional<size_t> time_, identity_, name_, used_, free_;
};

}  // namespace

namespace {

// What a script may write before the names of columns.
constexpr int kMostLinesBeforeHeader = 48;
// Of a script's own names, fewer of which may be of any table.
constexpr size_t kLeastColumnsOfScript = 4;

// Names as nvidia-smi writes them: "utilization.gpu [%]".
bool IsHeaderOfDriver(std::string_view line) {
  if (line.find(".gpu") == std::string_view::npos && line.find("memory.used") == std::string_view::npos)
    return false;
  // A command that asks for them, or a sentence: "nvidia-smi --query-gpu=timestamp,utilization.gpu".
  for (const std::string_view cell : nvidia_smi::SplitAtCommas(line))
    if (nvidia_smi::TrimCell(cell.substr(0, cell.find('['))).find_first_of(" =\"'{:") !=
        std::string_view::npos)
      return false;
  return line.size() <= 4096 && IsHeader(line) &&
         std::ranges::any_of(ColumnsOf(line), [](const LogColumn& c) { return c.dotted && IsMetric(c); });
}

// Whether most lines below the header have as many cells: else it stands in the output of another program.
bool HasRowsBelow(std::string_view header, std::string_view below) {
  const size_t cells = nvidia_smi::SplitAtCommas(header).size();
  size_t rows = 0, others = 0;
  for (size_t end = below.find('\n'); end != std::string_view::npos; end = below.find('\n')) {
    const std::string_view line = nvidia_smi::TrimCell(below.substr(0, end));
    if (!line.empty()) ++(nvidia_smi::SplitCsv(line).size() == cells ? rows : others);
    below.remove_prefix(end + 1);
  }
  return rows >= others;
}

// Names as a script writes them, with the rows of a clock right below: "Time,GPU,Used_MB,Utilization_%".
bool IsHeaderOfScript(std::string_view line, std::string_view below) {
  if (line.size() > 4096 || line.find_first_of("=\"'{") != std::string_view::npos || !IsHeader(line))
    return false;
  const std::vector<LogColumn> columns = ColumnsOf(line);
  const auto time = std::ranges::find(columns, Kind::kTime, &LogColumn::kind);
  if (columns.size() < kLeastColumnsOfScript || time == columns.end() ||
      std::ranges::count_if(columns, IsMetric) < 2)
    return false;
  const std::vector<std::string_view> row =
      nvidia_smi::SplitCsv(nvidia_smi::TrimCell(below.substr(0, below.find('\n'))));
  return row.size() == columns.size() &&
         nvidia_smi::ParseTime(row[static_cast<size_t>(time - columns.begin())]).has_value();
}

// How many lines stand before it.
int LinesBeforeHeader(std::string_view head) {
  for (int i = 0; i < kMostLinesBeforeHeader; ++i) {
    const size_t end = head.find('\n');
    const std::string_view line = nvidia_smi::TrimCell(head.substr(0, end));
    if (IsHeaderOfDriver(line))
      return end == std::string_view::npos || i == 0 || HasRowsBelow(line, head.substr(end + 1)) ? i : 0;
    if (end == std::string_view::npos) break;
    head.remove_prefix(end + 1);
    if (i > 0 && IsHeaderOfScript(line, head) && HasRowsBelow(line, head)) return i;
  }
  return 0;
}

}  // namespace

bool LooksLikeGpuCsv(std::string_view head) {
  head = WithoutMark(head);
  if (!nvidia_smi::UnnamedColumns(head).empty() || LinesBeforeHeader(head) > 0) return true;
  const std::string_view line = head.substr(0, head.find('\n'));
  // A name alone may be of any table, but not as nvidia-smi writes it: "utilization.gpu [%]".
  if (line.find(',') == std::string_view::npos && line.find(".gpu [") == std::string_view::npos) return false;
  // Arguments of a program may name a GPU, too: "batch=8, device='GPU'".
  if (line.size() > 4096 || line.find('=') != std::string_view::npos) return false;
  const std::vector<LogColumn> columns = ColumnsOf(line);
  // A column that only tells on which GPU something ran may be of a table of what a benchmark measured.
  static const RE2 measured(R"((?i)latency|throughput|flops|[^a-z]ms(?:[^a-z]|$)|speedup|per_sec)");
  if (RE2::PartialMatch({line.data(), line.size()}, measured) && std::ranges::none_of(columns, IsMetric))
    return false;
  return std::ranges::any_of(columns,
                             [](const LogColumn& c) { return c.names_gpu && c.kind != Kind::kOther; });
}

Trace ReadGpuCsv(std::string_view head, ByteSource& source) {
  std::vector<LogColumn> columns = nvidia_smi::UnnamedColumns(WithoutMark(head));
  const bool unnamed = !columns.empty();
  Lines lines(source);
  std::string header;
  if (!unnamed) {
    for (int before = LinesBeforeHeader(WithoutMark(head)); before > 0; --before) lines.Next();
    header = WithoutMark(lines.Next().value_or(""));
    columns = ColumnsOf(header);
  }
  if (std::ranges::none_of(columns, IsMetric))
    throw WrongKind(source.name(),
                    fmt::format("a CSV table of GPUs without a metric that dladvisor knows (its columns: {})",
                                fmt::join(nvidia_smi::SplitAtCommas(header), ", ")),
                    "log with nvidia-smi --query-gpu=timestamp,index,utilization.gpu,memory.used,power.draw,"
                    "temperature.gpu,clocks.sm --format=csv -l 1");
  const bool of_driver =
      unnamed || std::ranges::any_of(columns, [](const LogColumn& c) { return c.dotted && IsMetric(c); });
  CsvRowReader reader(std::move(columns));
  nvidia_smi::ServingColumns serving(nvidia_smi::SplitAtCommas(header));
  nvidia_smi::TelemetryLog log;
  if (of_driver) log.trace().facts["profiler"] = "nvidia-smi";
  if (header.find(",gfx,") != std::string::npos || header.find("gfx_activity") != std::string::npos)
    log.trace().facts["profiler"] = "amd-smi";
  while (const auto line = lines.Next()) {
    if (nvidia_smi::TrimCell(*line).empty() || (!unnamed && *line == header)) continue;
    // A log that another query goes on with, as after a restart.
    if (!unnamed && IsHeader(*line)) {
      header = *line;
      reader = CsvRowReader(ColumnsOf(header));
      continue;
    }
    if (lines.IsCut() && log.LeavesOutCutLine()) break;
    if (serving.any()) serving.Row(nvidia_smi::SplitCsv(*line), reader.TimeOf(nvidia_smi::SplitCsv(*line)));
    if (std::ranges::count(*line, '"') % 2 == 0) {
      reader.Row(nvidia_smi::SplitCsv(WithoutMark(*line)), log);
      continue;
    }
    // A script that writes what a command printed quotes its line ends, too.
    std::string row(*line);
    for (int more = 0; more < kMostLinesOfCell && std::ranges::count(row, '"') % 2 == 1; ++more) {
      const auto next = lines.Next();
      if (!next) break;
      row.append("\n").append(*next);
    }
    reader.Row(nvidia_smi::SplitCsv(WithoutMark(row)), log);
  }
  if (unnamed)
    log.trace().health.notes.push_back(
        "The log has no line of names: what a column holds is told by its unit and place (the first % as GPU "
        "utilisation, the second as that of its memory, the first W as power drawn).");
  if (!reader.names_gpus())
    log.trace().health.notes.push_back(
        "The log does not say which GPU a row is of: GPUs of one model are taken as one.");
  log.trace().serving_log = serving.Finish();
  return log.Finish(source.name(), "a CSV log of GPU telemetry");
}

}  // namespace dladvisor
