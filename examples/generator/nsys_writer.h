// SPDX-License-Identifier: Apache-2.0
// Writes an Nsight Systems SQLite export, in whichever schema it is given: for examples, tests and
// measurements, with figures that are known beforehand.
//
// Rows go straight into SQLite, so that a file may hold more of them than memory. A table or column that the
// schema lacks is left out, as an export of that release would; what is required but unknown is 0 or "".
// Times are ns on the session's clock; pid and tid are the system's numbers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "examples/generator/nsys_schema.h"

struct sqlite3;

namespace dladvisor::example {

using StringId = int64_t;  // from NsysWriter::Intern

// How exports pack a process and a thread into one number.
int64_t GlobalPid(int64_t pid);
int64_t GlobalTid(int64_t pid, int64_t tid);

// What every operation on a GPU has.
struct GpuRow {
  int64_t start = 0, end = 0;
  int64_t pid = 0, device = 0, stream = 7, context = 1;
  int64_t correlation = 0;  // that of the API call that launched it; unique within the process
};

struct KernelRow : GpuRow {
  StringId name = 0, short_name = 0;
  int64_t grid = 1, block = 1;  // blocks; threads per block
  int64_t registers = 32, shared_bytes = 0;
};

enum class CopyKind : int { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 8 };
enum class MemoryKind : int { kPageable = 0, kPinned = 1, kDevice = 2 };

struct CopyRow : GpuRow {
  int64_t bytes = 0;
  CopyKind kind = CopyKind::kHostToDevice;
  MemoryKind source = MemoryKind::kPinned, destination = MemoryKind::kDevice;
};

struct SetRow : GpuRow {
  int64_t bytes = 0;
};

enum class SyncKind : int { kEvent = 1, kStreamWait = 2, kStream = 3, kContext = 4 };

struct SyncRow : GpuRow {
  SyncKind kind = SyncKind::kStream;
};

struct ApiRow {
  int64_t start = 0, end = 0;
  int64_t pid = 0, tid = 0, correlation = 0;
  StringId name = 0;  // as recorded, e.g. "cudaLaunchKernel_v7000"
};

struct RangeRow {
  int64_t start = 0, end = 0;
  int64_t pid = 0, tid = 0;
  std::string_view text;
  bool registered = false;  // the text is stored once, as for strings registered with NVTX
};

struct OsCallRow {
  int64_t start = 0, end = 0;
  int64_t pid = 0, tid = 0;
  StringId name = 0;
};

struct MemoryRow {
  int64_t time = 0;
  int64_t pid = 0, device = 0, correlation = 0;
  int64_t address = 0;
  int64_t bytes = 0;  // of the allocation, also when it is freed
  bool is_free = false;
};

struct GpuInfo {
  int64_t device = 0;
  std::string name, chip, bus, uuid;
  int64_t memory_bytes = 0, memory_bandwidth = 0;  // bytes/s
  int64_t l2_bytes = 0, clock_hz = 0, sm_count = 0;
  int64_t compute_major = 0, compute_minor = 0;
};

struct SystemInfo {
  int64_t gpu_count = 0, cpu_cores = 0;
  std::string host, os, cpu_model, driver_version, cuda_version, framework;  // "460.73.01", "11.2"
  std::vector<std::pair<std::string, std::string>> environment;              // of the profiled process
  int64_t start_utc_ns = 0;                                                  // of time 0
};

class NsysWriter {
 public:
  // The file appears at `path`, replacing another, when Finish() returns, and not before. Throws Error, as do
  // all other functions, where the file cannot be written.
  NsysWriter(std::filesystem::path path, const NsysSchema& schema);
  ~NsysWriter();  // without Finish(), leaves nothing
  NsysWriter(const NsysWriter&) = delete;
  NsysWriter& operator=(const NsysWriter&) = delete;

  StringId Intern(std::string_view text);
  void Add(const KernelRow& row);
  void Add(const CopyRow& row);
  void Add(const SetRow& row);
  void Add(const SyncRow& row);
  void Add(const ApiRow& row);
  void Add(const RangeRow& row);
  void Add(const OsCallRow& row);
  void Add(const MemoryRow& row);
  void Add(const GpuInfo& gpu);
  void AddProcess(int64_t pid, std::string_view name);
  void AddThread(int64_t pid, int64_t tid, std::string_view name);
  void AddSystem(const SystemInfo& system);
  // `stop` is the end of the session, which starts at 0.
  void Finish(int64_t stop);

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  struct Tables;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  void Run(const std::string& sql);
  void AddVersions();

  std::filesystem::path path_, partial_;
  NsysSchema schema_;
  std::unique_ptr<sqlite3, Close> db_;
  std::unique_ptr<Tables> tables_;  // declared after db_: its statements go before the database closes
  std::unordered_map<std::string, StringId, Hash, std::equal_to<>> strings_;
  int64_t grids_ = 0;
  int64_t start_utc_ns_ = 0;
};

}  // namespace dladvisor::example
