// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/dmon_log.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "src/importers/bytes/lines.h"
#include "src/importers/nvidia_smi/column.h"
#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/telemetry_log.h"

namespace dladvisor {
namespace {
using nvidia_smi::LogColumn;
using Kind = LogColumn::Kind;

std::vector<std::string_view> Split(std::string_view line) {
  return line.find(',') == std::string_view::npos ? nvidia_smi::SplitAtBlanks(line)
                                                  : nvidia_smi::SplitAtCommas(line);
}

// The cells of a line that begins with #, which may stand apart from the first one.
std::vector<std::string> Heading(std::string_view line) {
  std::vector<std::string> cells;
  for (const std::string_view cell : Split(line.substr(1))) cells.emplace_back(cell);
  return cells;
}

// A page: names, then units.
bool IsNames(const std::vector<std::string>& cells) { return std::ranges::find(cells, "gpu") != cells.end(); }

class DmonReader {
 public:
  void Line(std::string_view line, bool cut) {
    line = nvidia_smi::TrimCell(line);
    if (line.empty()) return;
    if (line.starts_with('#')) {
      if (std::vector<std::string> cells = Heading(line); IsNames(cells))
        names_ = std::move(cells);
      else
        SetColumns(cells);
      return;
    }
    if (columns_.empty()) return;
    if (cut && log.LeavesOutCutLine()) return;
    const std::vector<std::string_view> cells = Split(line);
    if (cells.size() == columns_.size())
      Row(cells);
    else
      log.Skip("rows");
  }

  nvidia_smi::TelemetryLog log;

 private:
  void SetColumns(const std::vector<std::string>& units) {
    columns_.clear();
    date_ = time_ = gpu_ = std::nullopt;
    for (size_t i = 0; i < names_.size() && names_.size() == units.size(); ++i) {
      columns_.push_back(nvidia_smi::DmonColumn(names_[i], units[i]));
      if (names_[i] == "Date") date_ = i;
      if (names_[i] == "Time") time_ = i;
      if (names_[i] == "gpu") gpu_ = i;
    }
  }

  // With a date "20240102" and a time "03:04:05"; with the time alone as of one day, and the next when it
  // falls.
  std::optional<nvidia_smi::Time> TimeOf(const std::vector<std::string_view>& cells) {
    if (!time_) return std::nullopt;
    std::string date = "1970-01-01";
    if (date_) {
      const std::string_view digits = cells[*date_];
      if (digits.size() != 8) return std::nullopt;
      date = std::string(digits.substr(0, 4)) + "-" + std::string(digits.substr(4, 2)) + "-" +
             std::string(digits.substr(6));
    }
    std::optional<nvidia_smi::Time> time = nvidia_smi::ParseTime(date + " " + std::string(cells[*time_]));
    if (!time || date_) return time;
    constexpr Ns kDay = Ns{86'400} * 1'000'000'000;
    time->ns += day_ * kDay;
    if (time->ns + kDay / 2 < last_) {
      time->ns += kDay;
      ++day_;
    }
    last_ = time->ns;
    return time;
  }

  void Row(const std::vector<std::string_view>& cells) {
    const std::optional<nvidia_smi::Time> time = TimeOf(cells);
    if (!gpu_ || (time_ && !time) || !nvidia_smi::ParseQuantity(cells[*gpu_])) return log.Skip("rows");
    log.Begin(time, log.Device(cells[*gpu_], ""));
    for (size_t i = 0; i < cells.size(); ++i) {
      if (columns_[i].kind != Kind::kMetric) continue;
      std::optional<nvidia_smi::Quantity> quantity = nvidia_smi::ParseQuantity(cells[i]);
      if (!quantity || quantity->number < 0) {
        if (!nvidia_smi::IsAbsent(cells[i])) log.Skip("cells");
        continue;
      }
      quantity->unit = columns_[i].unit;
      log.Add(columns_[i].metric, *quantity);
    }
  }

  std::vector<std::string> names_;
  std::vector<LogColumn> columns_;
  std::optional<size_t> date_, time_, gpu_;
  Ns last_ = 0;
  int64_t day_ = 0;
};

// What may stand before the first page: the prompt with the command, a date.
constexpr int kMostLinesBefore = 16;

constexpr size_t kRowsForEachOther = 10;

// Of numbers, and of "-" where there is none.
bool IsRow(std::string_view line) {
  const std::vector<std::string_view> cells = Split(line);
  return std::ranges::all_of(cells, [](std::string_view cell) {
    return nvidia_smi::IsAbsent(cell) || nvidia_smi::ParseQuantity(cell) || nvidia_smi::ParseTime(cell);
  });
}

bool IsNamesOfMetrics(std::string_view line) {
  if (!line.starts_with('#')) return false;
  const std::vector<std::string> cells = Heading(line);
  // Processes have rows of their own in pmon's pages, which are shares of no GPU.
  return IsNames(cells) && std::ranges::find(cells, "pid") == cells.end() &&
         std::ranges::any_of(cells, [](const std::string& name) {
           return nvidia_smi::DmonColumn(name, "").kind == Kind::kMetric;
         });
}

}  // namespace

bool LooksLikeDmonLog(std::string_view head) {
  int before = 0;
  size_t rows = 0, others = 0;
  bool named = false;
  for (size_t end = head.find('\n'); !head.empty(); end = head.find('\n')) {
    const std::string_view line = nvidia_smi::TrimCell(head.substr(0, end));
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (line.empty()) continue;
    if (!named && IsNamesOfMetrics(line)) {
      if (before == 0) return true;
      named = true;
    } else if (!named) {
      if (++before > kMostLinesBefore) return false;
    } else if (end != std::string_view::npos) {
      ++(line.starts_with('#') || IsRow(line) ? rows : others);
    }
  }
  // One look before something else is the other's; the prompt may come again at the end.
  return named && rows > others && others <= 1 + rows / kRowsForEachOther;
}

Trace ReadDmonLog(ByteSource& source) {
  Lines lines(source);
  DmonReader reader;
  while (const auto line = lines.Next()) reader.Line(*line, lines.IsCut());
  reader.log.trace().facts["profiler"] = "nvidia-smi dmon";
  return reader.log.Finish(source.name(), "a log of nvidia-smi dmon");
}

}  // namespace dladvisor
