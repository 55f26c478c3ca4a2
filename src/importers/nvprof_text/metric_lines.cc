// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvprof_text/metric_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "engine/base/trim.h"
#include "src/importers/summary_table/table_header.h"

namespace dladvisor::nvprof_text {
namespace {

constexpr size_t kLongestName = 4096, kLongestLine = 8192;
constexpr int64_t kMostCalls = 1'000'000'000;

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

std::string Printable(std::string_view text) {
  std::string plain(Trim(text).substr(0, kLongestName));
  std::erase_if(plain, [](unsigned char c) { return c < 0x20 || c > 0x7E; });
  return plain;
}

int64_t CountOf(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size() && count > 0 && count <= kMostCalls ? count
                                                                                                      : 1;
}

}  // namespace

bool MetricLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestLine) return false;
  if (TakeTitle(line) || TakeHeader(line)) return true;
  if (table_ == Table::kNone) return false;
  return table_ == Table::kCsv ? TakeCsvRow(line) : TakeRow(line);
}

// "==812== Metric result:", "==812== Event result:".
bool MetricLinesReader::TakeTitle(std::string_view line) {
  if (!line.starts_with("==")) return false;
  static const RE2 title(R"(^==(\d{1,10})== (?:Metric|Event) result:\s*$)");
  std::string process;
  if (!RE2::PartialMatch(Piece(line), title, &process)) return false;
  process_ = std::move(process);
  table_ = Table::kNone;
  kernel_ = nullptr;
  return true;
}

bool MetricLinesReader::TakeHeader(std::string_view line) {
  if (line.find("Invocations") == line.npos) return false;
  static const RE2 metrics(R"(^Invocations\s+Metric Name\s+Metric Description\s+Min\s+Max\s+Avg\s*$)"),
      events(R"(^Invocations\s+Event Name\s+Min\s+Max\s+Avg(?:\s+Total)?\s*$)");
  kernel_ = nullptr;
  if (RE2::PartialMatch(Piece(line), metrics)) {
    table_ = Table::kMetrics;
    return true;
  }
  if (RE2::PartialMatch(Piece(line), events)) {
    table_ = Table::kEvents;
    return true;
  }
  const std::vector<std::string> cells = summary_table::CsvCells(Trim(line));
  const auto at = [&](std::string_view name) {
    return static_cast<size_t>(std::ranges::find(cells, name) - cells.begin());
  };
  device_cell_ = at("Device");
  kernel_cell_ = at("Kernel");
  calls_cell_ = at("Invocations");
  metric_cell_ = std::min(at("Metric Name"), at("Event Name"));
  average_cell_ = at("Avg");
  cells_ = cells.size();
  if (std::max({device_cell_, kernel_cell_, calls_cell_, metric_cell_, average_cell_}) >= cells_)
    return false;
  table_ = Table::kCsv;
  return true;
}

// "Device "Tesla V100 (0)"", "    Kernel: scale(float*)", and rows of it:
// "   100    achieved_occupancy    Achieved Occupancy    0.886    0.918    0.911".
bool MetricLinesReader::TakeRow(std::string_view line) {
  static const RE2 device(R"re(^\s*Device "(.{1,200})"\s*$)re"), kernel(R"(^\s+Kernel: (\S.*?)\s*$)"),
      metric(
          R"(^\s+(\d{1,12})\s+(\w+)\s+\S.*?\s{2,}\S+(?: \(\d+\))?\s{2,}\S+(?: \(\d+\))?\s{2,}(\S+(?: \(\d+\))?)\s*$)"),
      event(R"(^\s+(\d{1,12})\s+\w+(?:\s+[\d.e+]+){3,4}\s*$)");
  std::string name, calls, average;
  if (RE2::PartialMatch(Piece(line), device, &name)) {
    BeginGpu(name);
    return true;
  }
  if (gpus_.empty()) return false;
  if (RE2::PartialMatch(Piece(line), kernel, &name)) {
    BeginKernel(name);
    return true;
  }
  if (table_ == Table::kMetrics && RE2::PartialMatch(Piece(line), metric, &calls, &name, &average)) {
    Add(CountOf(calls), name, average);
    return true;
  }
  if (table_ == Table::kEvents && RE2::PartialMatch(Piece(line), event, &calls)) {
    Add(CountOf(calls), "", "");
    return true;
  }
  return false;
}

bool MetricLinesReader::TakeCsvRow(std::string_view line) {
  if (line.find(',') == line.npos) return false;
  const std::vector<std::string> cells = summary_table::CsvCells(Trim(line));
  if (cells.size() != cells_ || cells[kernel_cell_].empty()) return false;
  BeginGpu(cells[device_cell_]);
  BeginKernel(cells[kernel_cell_]);
  Add(CountOf(cells[calls_cell_]), cells[metric_cell_], cells[average_cell_]);
  return true;
}

void MetricLinesReader::BeginGpu(std::string_view name) {
  const std::string printable = Printable(name);
  const auto known = std::ranges::find_if(
      gpus_, [&](const Gpu& gpu) { return gpu.process == process_ && gpu.name == printable; });
  kernel_ = nullptr;
  if (known != gpus_.end())
    std::rotate(known, known + 1, gpus_.end());  // the last is the one that lines are of
  else if (gpus_.size() < kMostGpus)
    gpus_.push_back({process_, printable, {}});
}

void MetricLinesReader::BeginKernel(std::string_view name) {
  std::vector<Kernel>& kernels = gpus_.back().kernels;
  const std::string printable = Printable(name);
  kernel_ = nullptr;
  if (!kernels.empty() && kernels.back().name == printable) {
    kernel_ = &kernels.back();
    return;
  }
  const auto known = std::ranges::find(kernels, printable, &Kernel::name);
  if (known == kernels.end() && kernels.size() >= kMostKernels) return;
  kernel_ = known != kernels.end() ? &*known : &kernels.emplace_back(Kernel{printable, 0, {}});
}

void MetricLinesReader::Add(int64_t calls, std::string_view metric, std::string_view average) {
  if (kernel_ == nullptr) return;
  kernel_->calls = std::max(kernel_->calls, calls);
  kernel_->values.Take(metric, average);
}

std::vector<SummaryTable> MetricLinesReader::Finish() {
  std::vector<SummaryTable> tables;
  for (const Gpu& gpu : gpus_) {
    SummaryTable table;
    table.tool = "nvprof";
    table.title = gpu.name;
    table.has_device = true;
    table.is_one_by_one = true;
    for (const Kernel& kernel : gpu.kernels) {
      if (kernel.calls == 0) continue;
      SummaryRow row;
      row.name = kernel.name;
      row.calls = kernel.calls;
      KernelMeasurement measured = kernel.values.Measurement();
      measured.row = static_cast<int64_t>(table.rows.size());
      table.rows.push_back(std::move(row));
      table.kernels.push_back(std::move(measured));
    }
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  gpus_.clear();
  kernel_ = nullptr;
  table_ = Table::kNone;
  return tables;
}

}  // namespace dladvisor::nvprof_text
