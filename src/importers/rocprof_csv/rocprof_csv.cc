// SPDX-License-Identifier: Apache-2.0
#include "src/importers/rocprof_csv/rocprof_csv.h"

#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "engine/base/error.h"
#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/rocm/agent.h"
#include "src/importers/rocm/rocm_trace.h"
#include "src/importers/rocprof_csv/csv_rows.h"
#include "src/importers/rocprof_csv/run_files.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

using rocprof_csv::Cell;
using rocprof_csv::CsvRows;
using rocprof_csv::Kind;

std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

class Run {
 public:
  Run() : rows_("rocprofv3", "rocprofv3") {}

  // What others refer to, read before them.
  void LookAt(Kind kind, CsvRows& rows) {
    while (rows.Next()) {
      if (kind == Kind::kAgents) ReadAgent(rows);
      if (kind == Kind::kRegions) {
        has_hip_ = has_hip_ || rocm::DomainOf(rows.Text(Cell::kDomain)) == rocm::Domain::kHip;
        if (!pid_) pid_ = rows.Number(Cell::kProcess);
      }
    }
  }
  void SetPid(std::optional<int64_t> pid) {
    if (!pid_) pid_ = pid;
  }

  void Read(Kind kind, CsvRows& rows) {
    if (kind == Kind::kAgents) return;
    constexpr auto kNames = std::to_array<const char*>(
        {"kernel_trace", "memory_copy_trace", "memory_allocation_trace", "api_trace"});
    rocm::RocmTrace::Table& table = rows_.TableOf(kNames[static_cast<size_t>(kind)]);
    while (rows.Next()) {
      if (!rows_.Use(table, rows.Number(Cell::kStart), rows.Number(Cell::kEnd))) continue;
      const bool is_used = kind == Kind::kKernels  ? ReadKernel(rows)
                           : kind == Kind::kCopies ? ReadCopy(rows)
                           : kind == Kind::kMemory ? ReadMemory(rows)
                                                   : ReadRegion(rows);
      table.skipped += !is_used;
    }
    table.read += rows.broken();
    table.skipped += rows.broken();
  }

  Trace Finish() { return rows_.Finish(); }

 private:
  struct Agent {
    bool is_gpu = false;
    int64_t ordinal = 0;
  };
  struct Allocated {
    int64_t device = 0, bytes = 0;
  };

  void ReadAgent(const CsvRows& rows) {
    const auto node = rows.Number(Cell::kNode);
    if (!node) return;
    const bool is_gpu = rows.Text(Cell::kType) == "GPU";
    agents_[*node] = {.is_gpu = is_gpu, .ordinal = gpus_};
    if (!is_gpu) return;
    constexpr int64_t kMegahertz = 1'000'000;
    Device device;
    device.ordinal = gpus_++;
    device.name = rocm::GpuName(rows.Text(Cell::kProduct), rows.Text(Cell::kName));
    if (const auto units = rows.Number(Cell::kUnits); units && *units > 0) device.sm_count = *units;
    if (const auto clock = rows.Number(Cell::kClock); clock && *clock > 0 && *clock < kMegahertz)
      device.clock_hz = *clock * kMegahertz;
    rows_.Describe(std::move(device));
  }

  // "Agent 4" and "4" are nodes, of which GPUs are some; "GPU 0" is one of these. Nothing for a processor.
  std::optional<int64_t> Gpu(std::string_view text) const {
    constexpr int64_t kLast = 4095;
    const bool is_gpu = text.starts_with("GPU ");
    for (const std::string_view prefix : {"Agent ", "GPU "})
      if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
    const auto number = NumberOf(text);
    if (!number || *number > kLast) return std::nullopt;
    const auto known = agents_.find(*number);
    if (is_gpu || known == agents_.end()) return number;
    return known->second.is_gpu ? std::optional(known->second.ordinal) : std::nullopt;
  }

  rocm::Work WorkOf(const CsvRows& rows, int64_t device) const {
    return {.start = rows.Number(Cell::kStart, 0),
            .end = rows.Number(Cell::kEnd, 0),
            .pid = pid_.value_or(0),
            .device = device,
            .stream = rows.Has(Cell::kStream) ? rows.Number(Cell::kStream, 0) : rows.Number(Cell::kQueue, 0),
            .correlation = CorrelationOf(rows)};
  }
  static int64_t CorrelationOf(const CsvRows& rows) {
    const int64_t number = rows.Number(Cell::kCorrelation, 0);
    return number > 0 ? number : kNoCorrelation;
  }

  bool ReadKernel(const CsvRows& rows) {
    const auto gpu = Gpu(rows.Text(Cell::kAgent));
    if (!gpu) return false;
    rocm::KernelLaunch kernel{.name = rows.Text(Cell::kKernel),
                              .registers = rows.Number(Cell::kRegisters, 0),
                              .shared_bytes = rows.Number(Cell::kShared, 0),
                              .local_bytes = rows.Number(Cell::kScratch, -1)};
    if (kernel.name.empty()) kernel.name = "[unnamed]";
    if (rows.Has(Cell::kBlockX) && rows.Has(Cell::kGridX))
      kernel.shape = rocm::ShapeOfItems(
          {rows.Number(Cell::kGridX, 1), rows.Number(Cell::kGridY, 1), rows.Number(Cell::kGridZ, 1)},
          {rows.Number(Cell::kBlockX, 1), rows.Number(Cell::kBlockY, 1), rows.Number(Cell::kBlockZ, 1)});
    devices_.insert(*gpu);
    rows_.AddKernel(WorkOf(rows, *gpu), kernel);
    return true;
  }

  // How many bytes is not recorded.
  bool ReadCopy(const CsvRows& rows) {
    CopyDirection direction = rocm::DirectionOf(rows.Text(Cell::kDirection));
    const auto from = Gpu(rows.Text(Cell::kFrom)), to = Gpu(rows.Text(Cell::kTo));
    const bool comes_from_gpu =
        direction == CopyDirection::kDeviceToHost || direction == CopyDirection::kDeviceToDevice;
    if (direction == CopyDirection::kDeviceToDevice && from && to && *from != *to)
      direction = CopyDirection::kPeerToPeer;
    const auto gpu = comes_from_gpu ? from : to;
    if (!gpu || direction == CopyDirection::kHostToHost) return false;
    rows_.AddCopy(WorkOf(rows, *gpu), direction, 0);
    return true;
  }

  bool ReadMemory(const CsvRows& rows) {
    const auto address = rows.Number(Cell::kAddress);
    if (!address || !rows.Has(Cell::kBytes)) return false;
    const Ns time = rows.Number(Cell::kEnd, 0);
    if (rows.Text(Cell::kOperation).ends_with("_ALLOCATE")) {
      const auto gpu = Gpu(rows.Text(Cell::kAgent));
      const int64_t bytes = rows.Number(Cell::kBytes, 0);
      const bool is_known = agents_.empty() ? gpu && devices_.contains(*gpu) : gpu.has_value();
      if (!is_known || bytes <= 0 || bytes > gpu_rows::kMostBytes) return true;  // of the host
      held_[*address] = {*gpu, bytes};
      rows_.AddMemory(pid_.value_or(0), *gpu, time, bytes, *address);
    } else if (const auto freed = held_.find(*address); freed != held_.end()) {
      rows_.AddMemory(pid_.value_or(0), freed->second.device, time, -freed->second.bytes, *address);
      held_.erase(freed);
    }
    return true;
  }

  bool ReadRegion(const CsvRows& rows) {
    const rocm::Domain domain = rocm::DomainOf(rows.Text(Cell::kDomain));
    const int64_t thread = rows.Number(Cell::kThread, 0);
    rows_.AddRegion(
        rows_.Thread(rows.Number(Cell::kProcess, pid_.value_or(0)), thread),
        {.domain = domain,
         .name = rows.Text(Cell::kFunction),
         .text = domain == rocm::Domain::kMarker && !rows.Text(Cell::kFunction).starts_with("roctx")
                     ? rows.Text(Cell::kFunction)
                     : std::string_view(),
         .start = rows.Number(Cell::kStart, 0),
         .end = rows.Number(Cell::kEnd, 0),
         .correlation = CorrelationOf(rows)},
        has_hip_);
    return true;
  }

  rocm::RocmTrace rows_;
  std::map<int64_t, Agent> agents_;
  int64_t gpus_ = 0;
  std::optional<int64_t> pid_;
  bool has_hip_ = false;
  std::set<int64_t> devices_;  // of kernels
  std::unordered_map<int64_t, Allocated> held_;
};

Trace Read(Input& input) {
  const Kind kind = *rocprof_csv::KindOf(input.head());
  if (kind == Kind::kAgents)
    throw WrongKind(input.name(), "rocprofv3's list of the machine's GPUs, which holds no work",
                    "give the kernel_trace.csv that rocprofv3 writes beside it");
  const rocprof_csv::RunFiles of_run =
      input.path() == "-" ? rocprof_csv::RunFiles{} : rocprof_csv::FilesOfRun(input.path());
  const std::vector<rocprof_csv::RunFile>& others = of_run.files;
  Run run;
  for (const rocprof_csv::RunFile& other : others) {
    ByteSource source(other.path);
    CsvRows rows(source);
    run.LookAt(other.kind, rows);
  }
  if (kind == Kind::kRegions) {
    CsvRows rows(input.bytes());
    run.LookAt(kind, rows);
    if (!input.bytes().Rewind())
      throw Error(input.name(), "a table of rocprofv3 that cannot be read twice", "give it as a file");
  }
  std::string prefix;
  rocprof_csv::TableOf(input.path(), &prefix);
  run.SetPid(NumberOf(prefix));
  // Kernels name the GPUs that memory is of.
  for (const bool memory : {false, true}) {
    if ((kind == Kind::kMemory) == memory) {
      CsvRows rows(input.bytes());
      run.Read(kind, rows);
    }
    for (const rocprof_csv::RunFile& other : others) {
      if ((other.kind == Kind::kMemory) != memory) continue;
      ByteSource source(other.path);
      CsvRows rows(source);
      run.Read(other.kind, rows);
    }
  }
  Trace trace = run.Finish();
  trace.path = input.name();
  if (!of_run.of_others.empty())
    trace.health.notes.push_back(
        fmt::format("Left out, as their times are of another run: {}.", fmt::join(of_run.of_others, ", ")));
  return trace;
}

}  // namespace

std::optional<PartOfRun> PartOfRunOf(const fs::path& file) {
  std::string prefix;
  const std::string table = rocprof_csv::TableOf(file, &prefix);
  if (table.empty()) return std::nullopt;
  PartOfRun part{.run = (file.parent_path() / prefix).string(), .place = PartOfRun::kLastTrace};
  if (table == "kernel_trace")
    part.place = 0;
  else if (table.starts_with("hip") && table.ends_with("_trace"))
    part.place = 1;
  else if (table == "memory_copy_trace")
    part.place = 2;
  else if (!table.ends_with("_trace"))
    part.place = PartOfRun::kLastTrace + 1;
  return part;
}

constinit const Importer kRocprofCsvImporter = {
    .in_list = "traces of rocprofv3 (.csv, .json, .pftrace)",
    .extensions = "",
    .more_extensions = ".csv",
    .fits =
        [](const Input& input) {
          return rocprof_csv::KindOf(input.head()) ? Importer::Fit::kYes : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(Read(input)); },
};

}  // namespace dladvisor
