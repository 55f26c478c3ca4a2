// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_table/operation_rows.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/trace/event_tables.h"

namespace dladvisor::gpu_table {
namespace {

constexpr size_t kNoCell = static_cast<size_t>(-1);
constexpr double kLastTime = 4e18;                    // 126 years: differences of two times fit
constexpr Ns kMostTotal = 1'000'000'000'000'000'000;  // sums of durations fit
constexpr size_t kLongestName = size_t{64} << 10;
constexpr const char* kTable = "operations";

struct Named {
  std::string_view name;
  Column column;
};
constexpr auto kNames = std::to_array<Named>({
    {"Start", Column::kStart},        {"Duration", Column::kDuration},
    {"GrdX", Column::kGridX},         {"GrdY", Column::kGridY},
    {"GrdZ", Column::kGridZ},         {"BlkX", Column::kBlockX},
    {"BlkY", Column::kBlockY},        {"BlkZ", Column::kBlockZ},
    {"Grid X", Column::kGridX},       {"Grid Y", Column::kGridY},
    {"Grid Z", Column::kGridZ},       {"Block X", Column::kBlockX},
    {"Block Y", Column::kBlockY},     {"Block Z", Column::kBlockZ},
    {"Reg/Trd", Column::kRegisters},  {"StcSMem", Column::kStatic},
    {"DymSMem", Column::kDynamic},    {"Registers Per Thread", Column::kRegisters},
    {"Bytes", Column::kBytes},        {"Size", Column::kBytes},
    {"Static SMem", Column::kStatic}, {"SrcMemKd", Column::kFrom},
    {"DstMemKd", Column::kTo},        {"Dynamic SMem", Column::kDynamic},
    {"SrcMemType", Column::kFrom},    {"DstMemType", Column::kTo},
    {"Device", Column::kDevice},      {"Strm", Column::kStream},
    {"Stream", Column::kStream},      {"Name", Column::kName},
});

// In nanoseconds, or bytes, of which nvprof's thousand is 1024.
std::optional<double> UnitOf(std::string_view unit, bool of_nvprof) {
  if (unit == "ns" || unit == "nsec" || unit == "B") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s" || unit == "sec") return 1e9;
  const double kilo = of_nvprof ? 1024 : 1e3;
  if (unit == "KB") return kilo;
  if (unit == "MB") return kilo * kilo;
  if (unit == "GB") return kilo * kilo * kilo;
  return std::nullopt;
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

int64_t CountOf(std::string_view text, double unit, int64_t most, int64_t unknown = 0) {
  const auto number = NumberOf(text);
  if (!number || *number < 0) return unknown;
  return static_cast<int64_t>(std::min(*number * unit, static_cast<double>(most)));
}

// Exact where it is a whole number of nanoseconds.
std::optional<Ns> TimeOf(std::string_view text, double unit) {
  Ns whole = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (unit == 1 && failed == std::errc() && end == text.data() + text.size())
    return whole < 0 || static_cast<double>(whole) > kLastTime ? std::nullopt : std::optional(whole);
  const auto number = NumberOf(text);
  if (!number || *number < 0 || *number * unit > kLastTime) return std::nullopt;
  return std::llround(*number * unit);
}

MemoryKind MemoryOf(std::string_view text) {
  if (text == "Pageable") return MemoryKind::kPageable;
  if (text == "Pinned") return MemoryKind::kPinned;
  if (text == "Device") return MemoryKind::kDevice;
  if (text == "Array") return MemoryKind::kArray;
  return text == "Managed" ? MemoryKind::kManaged : MemoryKind::kUnknown;
}

CopyDirection DirectionOf(std::string_view name) {
  const auto has = [&](std::string_view text) { return name.find(text) != std::string_view::npos; };
  const bool is_managed = has("Unified");
  if (has("HtoD") || has("HtoA"))
    return is_managed ? CopyDirection::kUnifiedHostToDevice : CopyDirection::kHostToDevice;
  if (has("DtoH") || has("AtoH"))
    return is_managed ? CopyDirection::kUnifiedDeviceToHost : CopyDirection::kDeviceToHost;
  if (has("PtoP")) return CopyDirection::kPeerToPeer;
  if (has("HtoH")) return CopyDirection::kHostToHost;
  if (has("DtoD") || has("DtoA") || has("AtoD") || has("AtoA"))
    return is_managed ? CopyDirection::kUnifiedDeviceToDevice : CopyDirection::kDeviceToDevice;
  return CopyDirection::kUnknown;
}

}  // namespace

Header::Header(const std::vector<std::string>& cells) : cells_(cells.size()) {
  at_.fill(kNoCell);
  unit_.fill(1);
  static const RE2 with_unit(R"((.*?)\s*\(([A-Za-z]+)\))");
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string name = cells[i], unit;
    RE2::FullMatch(cells[i], with_unit, &name, &unit);
    is_of_nvprof_ = is_of_nvprof_ || name == "Grid X";
    for (const Named& named : kNames)
      if (const auto c = static_cast<size_t>(named.column); named.name == name && at_[c] == kNoCell) {
        at_[c] = i;
        unit_[c] = UnitOf(unit, false).value_or(1);
      }
  }
  is_valid_ = std::ranges::all_of(
      std::array{Column::kStart, Column::kDuration, Column::kGridX, Column::kBlockX, Column::kName},
      [&](Column column) { return at_[static_cast<size_t>(column)] != kNoCell; });
}

bool Header::TakeUnits(const std::vector<std::string>& cells) {
  const size_t start = at_[static_cast<size_t>(Column::kStart)];
  if (!is_of_nvprof_ || start >= cells.size() || !UnitOf(cells[start], true)) return false;
  for (size_t c = 0; c < kColumns; ++c)
    if (at_[c] < cells.size()) unit_[c] = UnitOf(cells[at_[c]], true).value_or(1);
  return true;
}

OperationRows::OperationRows() : tables_(trace_) {}

// "NVIDIA L20 (0)"; names without a number are numbered as they come.
uint32_t OperationRows::DeviceOf(std::string_view text) {
  const auto [ordinal, is_new] = ordinals_.try_emplace(std::string(text), 0);
  if (is_new) {
    static const RE2 numbered(R"((.*?)\s*\((\d{1,3})\))");
    std::string name(text);
    int64_t number = static_cast<int64_t>(ordinals_.size()) - 1;
    RE2::FullMatch(re2::StringPiece(text.data(), text.size()), numbered, &name, &number);
    ordinal->second = number;
    names_.try_emplace(number, std::move(name));
  }
  return tables_.Device(ordinal->second);
}

void OperationRows::AddWork(GpuOperations& ops, Ns start, Ns end, std::string_view device, int64_t stream) {
  ops.start.push_back(start);
  ops.end.push_back(end);
  ops.process.push_back(trace_.threads[tables_.Thread(0, 0)].process);
  ops.device.push_back(DeviceOf(device));
  ops.stream.push_back(stream);
  ops.correlation.push_back(kNoCorrelation);
  ops.graph_node.push_back(0);
}

void OperationRows::Add(const Header& header, const std::vector<std::string>& cells) {
  const auto cell = [&](Column column) {
    const size_t at = header.at_[static_cast<size_t>(column)];
    return at < cells.size() ? std::string_view(cells[at]) : std::string_view();
  };
  const auto unit = [&](Column column) { return header.unit_[static_cast<size_t>(column)]; };
  ++trace_.health.rows_read[kTable];
  const auto start = TimeOf(cell(Column::kStart), unit(Column::kStart));
  const auto duration = TimeOf(cell(Column::kDuration), unit(Column::kDuration));
  std::string_view name = cell(Column::kName).substr(0, kLongestName);
  if (!start || !duration || name.empty() || *duration > kMostTotal - total_) {
    ++trace_.health.rows_skipped[kTable];
    return;
  }
  total_ += *duration;
  const Ns end = *start + *duration;
  constexpr int64_t kMostStream = int64_t{1} << 32;
  const int64_t stream = CountOf(cell(Column::kStream), 1, kMostStream);
  const int64_t bytes = CountOf(cell(Column::kBytes), unit(Column::kBytes), gpu_rows::kMostBytes);
  const bool is_memory = name.starts_with("[") && (name.find("mem") != std::string_view::npos ||
                                                   name.find("Mem") != std::string_view::npos);
  if (is_memory && name.find("set") != std::string_view::npos) {
    AddWork(trace_.sets, *start, end, cell(Column::kDevice), stream);
    trace_.sets.bytes.push_back(bytes);
    trace_.sets.memory.push_back(MemoryOf(cell(Column::kFrom)));
    return;
  }
  if (is_memory) {
    Copies& c = trace_.copies;
    AddWork(c, *start, end, cell(Column::kDevice), stream);
    c.bytes.push_back(bytes);
    c.direction.push_back(DirectionOf(name));
    c.source.push_back(MemoryOf(cell(Column::kFrom)));
    c.destination.push_back(MemoryOf(cell(Column::kTo)));
    return;
  }
  if (header.is_of_nvprof() && !NumberOf(cell(Column::kGridX))) {
    AddCall(*start, end, name);
    return;
  }
  // Of nvprof with the number of the launch: "gemm(float*) [112]".
  static const RE2 numbered(R"((.*) \[(\d{1,15})\])");
  std::string without;
  int64_t launch = kNoCorrelation;
  if (header.is_of_nvprof() &&
      RE2::FullMatch(re2::StringPiece(name.data(), name.size()), numbered, &without, &launch))
    name = without;
  launches_.push_back(launch);
  Kernels& k = trace_.kernels;
  AddWork(k, *start, end, cell(Column::kDevice), stream);
  k.name.push_back(trace_.names.Intern(name));
  k.short_name.push_back(trace_.names.Intern(gpu_rows::ShortNameOf(trace_.names.View(k.name.back()))));
  LaunchShape shape;
  constexpr int64_t kMostDimension = int64_t{1} << 40;
  for (size_t i = 0; i < 3; ++i) {
    const auto of = [&](Column x) {
      const auto column = static_cast<Column>(static_cast<size_t>(x) + i);
      return std::max<int64_t>(1, CountOf(cell(column), 1, kMostDimension, 1));
    };
    shape.grid[i] = of(Column::kGridX);
    shape.block[i] = of(Column::kBlockX);
  }
  k.grid.push_back(gpu_rows::Product(shape.grid));
  k.block.push_back(gpu_rows::Product(shape.block));
  k.registers.push_back(CountOf(cell(Column::kRegisters), 1, gpu_rows::kMostPerBlock));
  k.shared_bytes.push_back(CountOf(cell(Column::kStatic), unit(Column::kStatic), gpu_rows::kMostPerBlock) +
                           CountOf(cell(Column::kDynamic), unit(Column::kDynamic), gpu_rows::kMostPerBlock));
  k.shape.push_back(tables_.Shape(shape));
}

// "cudaLaunchKernel (gemm(float*) [112])".
void OperationRows::AddCall(Ns start, Ns end, std::string_view name) {
  static const RE2 launching(R"((\w+) \(.*?(?:\[(\d{1,15})\])?\))");
  std::string call(name);
  int64_t launch = kNoCorrelation;
  RE2::FullMatch(re2::StringPiece(name.data(), name.size()), launching, &call, &launch);
  ApiCalls& calls = trace_.api_calls;
  calls.start.push_back(start);
  calls.end.push_back(end);
  calls.thread.push_back(tables_.Thread(0, 0));
  calls.correlation.push_back(launch);
  calls.name.push_back(trace_.names.Intern(call));
  calls.result.push_back(0);
}

Trace OperationRows::Finish(const Header& header) {
  trace_.format = header.is_of_nvprof() ? "nvprof" : "gpu table";
  trace_.facts["profiler"] = header.is_of_nvprof() ? "nvprof" : "nsys stats";
  trace_.facts["vendor"] = "NVIDIA";
  for (Device& device : trace_.devices)
    if (const auto name = names_.find(device.ordinal); name != names_.end()) device.name = name->second;
  // Without calls there is nothing that the numbers refer to.
  if (trace_.api_calls.size() > 0) {
    trace_.kernels.correlation = {};
    for (const int64_t launch : launches_) trace_.kernels.correlation.push_back(launch);
    SortByStart(trace_.api_calls);
  }
  SortByStart(trace_.kernels);
  SortByStart(trace_.copies);
  SortByStart(trace_.sets);
  SortDevices(trace_);
  if (const auto first = FirstTime(trace_)) SetOrigin(trace_, *first);
  return std::move(trace_);
}

}  // namespace dladvisor::gpu_table
