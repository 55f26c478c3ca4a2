// SPDX-License-Identifier: Apache-2.0
// The Trace that the importers of AMD's profilers fill, row by row: what rows have in common, however a
// profiler writes them.
//
// A row that cannot be used is counted, by table, in the trace's health: one without a start or end, one that
// ends before it starts, and times so large that sums over the table would overflow.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/gpu_rows/row_tables.h"
#include "src/trace/trace.h"

namespace dladvisor::rocm {

// What the GPU did.
struct Work {
  Ns start = 0, end = 0;
  int64_t pid = 0;
  int64_t device = 0;  // ordinal
  int64_t stream = 0;
  int64_t correlation = kNoCorrelation;
};

struct KernelLaunch {
  std::string_view name;
  std::optional<LaunchShape> shape{};  // with its grid in blocks
  int64_t registers = 0, shared_bytes = 0;
  int64_t local_bytes = -1;  // scratch memory of each work-item; -1 where it is not recorded
};

// What a call or marker on the host is of, by the names that rocprofv3 gives: "HIP_RUNTIME_API_EXT".
enum class Domain : uint8_t { kHip, kHsa, kMarker, kRccl, kOther };
Domain DomainOf(std::string_view name);

// A grid of work-items, as AMD's runtime counts, in workgroups of `block` of them, as a grid of blocks.
LaunchShape ShapeOfItems(const std::array<int64_t, 3>& items, const std::array<int64_t, 3>& block);
// "MEMORY_COPY_HOST_TO_DEVICE", "CopyHostToDevice2D".
CopyDirection DirectionOf(std::string_view name);
// "gemm.kd", as the linker names the descriptor of a kernel, and "gemm [clone .kd]" -> "gemm".
std::string_view KernelName(std::string_view name);

class RocmTrace {
 public:
  // The rows of one table of the source.
  struct Table {
    int64_t read = 0, skipped = 0, negative = 0;
    Ns total = 0;  // durations of usable rows
  };

  RocmTrace(std::string_view format, std::string_view profiler);
  RocmTrace(const RocmTrace&) = delete;
  RocmTrace& operator=(const RocmTrace&) = delete;

  Trace& trace() { return trace_; }
  // Of a name that no compiler writes, its beginning: all that follows is by its length, and for each name.
  NameId Name(std::string_view text) {
    constexpr size_t kLongest = size_t{64} << 10;
    return text.empty() ? kNoName : trace_.names.Intern(text.substr(0, kLongest));
  }
  uint32_t Thread(int64_t pid, int64_t tid) { return tables_.Thread(pid, tid); }
  uint32_t Process(int64_t pid);

  Table& TableOf(const std::string& name) { return health_[name]; }
  // Counts the row; false where it cannot be used.
  bool Use(Table& table, std::optional<int64_t> start, std::optional<int64_t> end);

  // A kernel by which the runtime copies or sets memory is that copy or set, as where the GPU has an engine
  // for it: of bytes, and between places, that are not recorded.
  void AddKernel(const Work& work, const KernelLaunch& kernel);
  void AddCopy(const Work& work, CopyDirection direction, int64_t bytes);
  void AddSet(const Work& work, int64_t bytes);
  void AddCall(uint32_t thread, std::string_view name, Ns start, Ns end, int64_t correlation);
  void AddRange(uint32_t thread, std::string_view name, std::string_view domain, Ns start, Ns end,
                RangeKind kind);
  // A call of a library, or a marker with its text. Calls of HSA are those of HIP where HIP was not traced.
  struct Region {
    Domain domain = Domain::kOther;
    std::string_view name;
    std::string_view text;  // of a marker, "" where its name is all there is
    Ns start = 0, end = 0;
    int64_t correlation = kNoCorrelation;
  };
  void AddRegion(uint32_t thread, const Region& region, bool has_hip);
  void AddOverhead(uint32_t thread, std::string_view name, Ns start, Ns end);
  // Negative bytes where memory is freed.
  void AddMemory(int64_t pid, int64_t device, Ns time, int64_t bytes, int64_t address);

  // What is known of the GPU of an ordinal, if any row is of it.
  void Describe(Device device) { described_[device.ordinal] = std::move(device); }

  // Ends the reading: rows in order, times from the first row on.
  Trace Finish();

 private:
  void AddWork(GpuOperations& ops, const Work& work);
  void NumberNodesOfGraphs();

  Trace trace_;
  gpu_rows::Tables tables_;
  std::map<int64_t, uint32_t> processes_;
  std::map<std::string, Table> health_;
  std::map<int64_t, Device> described_;
  std::unordered_map<NameId, NameId> short_names_;  // of kernels
};

}  // namespace dladvisor::rocm
