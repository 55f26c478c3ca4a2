// SPDX-License-Identifier: Apache-2.0
#include "examples/generator/nsys_writer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>

#include "engine/base/error.h"

namespace dladvisor::example {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kVm = int64_t{1} << 48;  // the first machine's part of a global id
constexpr int64_t kPushPop = 59;           // ENUM_NSYS_EVENT_TYPE
constexpr int64_t kNoEvent = 4294967295;

[[noreturn]] void Fail(sqlite3* db, const fs::path& path) {
  throw Error(path.string(), std::string("cannot be written: ") + sqlite3_errmsg(db));
}

// A value of unknown content.
constexpr std::nullopt_t kUnknown = std::nullopt;

// The INSERT statement of one table, for those of `columns` that the schema has. What else it requires is
// given as 0 or "".
class Table {
 public:
  Table(sqlite3* db, const fs::path& path, const std::string& name,
        const std::vector<std::string_view>& columns)
      : db_(db), path_(path), parameters_(columns.size()) {
    std::string names, values;
    int count = 0;
    sqlite3_stmt* info = nullptr;
    if (sqlite3_prepare_v2(db, ("PRAGMA table_info(" + name + ")").c_str(), -1, &info, nullptr) != SQLITE_OK)
      Fail(db, path);
    while (sqlite3_step(info) == SQLITE_ROW) {
      const auto cell = [&](int c) {
        return std::string(reinterpret_cast<const char*>(sqlite3_column_text(info, c)));
      };
      const std::string column = cell(1);
      const bool is_text = cell(2) == "TEXT", is_required = sqlite3_column_int(info, 3) != 0;
      const auto known = std::find(columns.begin(), columns.end(), column);
      if (known == columns.end() && !is_required) continue;
      if (known != columns.end())
        parameters_[static_cast<size_t>(known - columns.begin())] = {++count, is_text, is_required};
      names += (names.empty() ? "\"" : ", \"") + column + '"';
      values += values.empty() ? "" : ", ";
      values += known != columns.end() ? "?" : is_text ? "''" : "0";
    }
    sqlite3_finalize(info);
    if (count == 0) return;
    const std::string sql = "INSERT INTO " + name + " (" + names + ") VALUES (" + values + ")";
    if (sqlite3_prepare_v2(db, sql.c_str(), -1, &insert_, nullptr) != SQLITE_OK) Fail(db, path);
  }
  ~Table() { sqlite3_finalize(insert_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  // Values in the order of the constructor's columns: integers, texts, or kUnknown.
  template <typename... Values>
  void Insert(const Values&... values) {
    if (!insert_) return;
    size_t column = 0;
    (Bind(parameters_[column++], values), ...);
    if (sqlite3_step(insert_) != SQLITE_DONE) Fail(db_, path_);
    sqlite3_reset(insert_);
  }

  bool HasColumn(size_t column) const { return parameters_[column].index > 0; }

 private:
  struct Parameter {
    int index = 0;  // of the statement; 0 where the schema lacks the column
    bool is_text = false, is_required = false;
  };

  void Bind(const Parameter& p, int64_t value) {
    if (p.index > 0) sqlite3_bind_int64(insert_, p.index, value);
  }
  void Bind(const Parameter& p, std::string_view text) {
    if (p.index > 0)
      sqlite3_bind_text(insert_, p.index, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
  }
  void Bind(const Parameter& p, std::nullopt_t) {
    if (p.index <= 0) return;
    if (!p.is_required)
      sqlite3_bind_null(insert_, p.index);
    else if (p.is_text)
      Bind(p, std::string_view());
    else
      Bind(p, int64_t{0});
  }

  sqlite3* db_;
  const fs::path& path_;
  std::vector<Parameter> parameters_;
  sqlite3_stmt* insert_ = nullptr;
};

std::vector<std::string_view> GpuColumns(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> columns = {"start",    "end",           "deviceId", "contextId",
                                           "streamId", "correlationId", "globalPid"};
  columns.insert(columns.end(), own);
  return columns;
}

template <typename... Own>
void InsertGpu(Table& table, const GpuRow& row, const Own&... own) {
  table.Insert(row.start, row.end, row.device, row.context, row.stream, row.correlation, GlobalPid(row.pid),
               own...);
}

std::string Utc(int64_t ns) {
  return fmt::format("{:%FT%T}", fmt::gmtime(static_cast<std::time_t>(ns / 1'000'000'000)));
}

// Releases until 2022 write 460.73.01 as 4607301.
std::string Digits(std::string text) {
  std::erase(text, '.');
  return text;
}

// "11.2" -> "11020".
std::string CudaNumber(const std::string& version) {
  const size_t dot = version.find('.');
  if (version.empty() || dot == std::string::npos) return version;
  return std::to_string(std::stoi(version) * 1000 + std::stoi(version.substr(dot + 1)) * 10);
}

}  // namespace

struct NsysWriter::Tables {
  Tables(sqlite3* db, const fs::path& path)
      : strings(db, path, "StringIds", {"id", "value"}),
        kernels(db, path, "CUPTI_ACTIVITY_KIND_KERNEL",
                GpuColumns({"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
                            "blockZ", "registersPerThread", "dynamicSharedMemory", "gridId"})),
        copies(db, path, "CUPTI_ACTIVITY_KIND_MEMCPY",
               GpuColumns({"bytes", "copyKind", "srcKind", "dstKind", "copyCount"})),
        sets(db, path, "CUPTI_ACTIVITY_KIND_MEMSET", GpuColumns({"bytes", "memKind"})),
        syncs(db, path, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", GpuColumns({"syncType", "eventId"})),
        api_calls(db, path, "CUPTI_ACTIVITY_KIND_RUNTIME",
                  {"start", "end", "globalTid", "correlationId", "nameId", "eventClass"}),
        ranges(db, path, "NVTX_EVENTS",
               {"start", "end", "eventType", "globalTid", "domainId", "text", "textId"}),
        os_calls(db, path, "OSRT_API", {"start", "end", "globalTid", "nameId", "eventClass"}),
        memory(db, path, "CUDA_GPU_MEMORY_USAGE_EVENTS",
               {"start", "globalPid", "deviceId", "contextId", "correlationId", "address", "bytes", "memKind",
                "memoryOperationType"}),
        gpus(db, path, "TARGET_INFO_GPU",
             {"vmId", "id", "deviceId", "cuDevice", "name", "chipName", "busLocation", "uuid", "isDiscrete",
              "totalMemory", "memoryBandwidth", "l2CacheSize", "clockRate", "smCount", "computeMajor",
              "computeMinor", "smMajor", "smMinor", "threadsPerWarp"}),
        cuda_gpus(db, path, "TARGET_INFO_CUDA_GPU",
                  {"vmId", "deviceId", "name", "pciBusId", "globalMemorySize", "globalMemoryBandwidth",
                   "l2CacheSize", "coreClockRate", "numMultiprocessors", "computeCapabilityMajor",
                   "computeCapabilityMinor", "numThreadsPerWarp"}),
        processes(db, path, "PROCESSES", {"globalPid", "pid", "name"}),
        threads(db, path, "ThreadNames", {"nameId", "priority", "globalTid"}),
        environment(db, path, "TARGET_INFO_SYSTEM_ENV",
                    {"globalVid", "devStateName", "name", "nameEnum", "value"}),
        dlprof(db, path, "SystemInfo",
               {"gpuCount", "driverVersion", "cudaVersion", "cudnnVersion", "framework", "nsysVersion",
                "cpuModel"}),
        session_start(db, path, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs", "utcTime", "localTime"}),
        session(db, path, "ANALYSIS_DETAILS", {"globalVid", "duration", "startTime", "stopTime"}),
        old_versions(db, path, "EXPORT_META_DATA", {"name", "value"}),
        versions(db, path, "META_DATA_EXPORT", {"name", "value"}) {}

  Table strings, kernels, copies, sets, syncs, api_calls, ranges, os_calls, memory, gpus, cuda_gpus,
      processes, threads, environment, dlprof, session_start, session, old_versions, versions;
};

int64_t GlobalPid(int64_t pid) { return kVm + (pid << 24); }
int64_t GlobalTid(int64_t pid, int64_t tid) { return GlobalPid(pid) + tid; }

void NsysWriter::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

NsysWriter::NsysWriter(fs::path path, const NsysSchema& schema)
    : path_(std::move(path)), partial_(path_.string() + ".partial"), schema_(schema) {
  std::error_code none;
  fs::remove(partial_, none);
  sqlite3* db = nullptr;
  const int opened =
      sqlite3_open_v2(partial_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  db_.reset(db);
  if (opened != SQLITE_OK) example::Fail(db, path_);
  try {
    // Nobody reads the file before it is whole, so there is nothing to roll back.
    Run("PRAGMA journal_mode = OFF");
    Run("PRAGMA synchronous = OFF");
    Run("PRAGMA locking_mode = EXCLUSIVE");
    Run("BEGIN");
    for (const std::string& table : schema.tables) Run(table);
    tables_ = std::make_unique<Tables>(db, path_);
  } catch (...) {
    db_.reset();
    fs::remove(partial_, none);
    throw;
  }
}

NsysWriter::~NsysWriter() {
  tables_.reset();
  if (!db_) return;
  db_.reset();
  std::error_code none;
  fs::remove(partial_, none);
}

void NsysWriter::Run(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    example::Fail(db_.get(), path_);
}

StringId NsysWriter::Intern(std::string_view text) {
  if (const auto known = strings_.find(text); known != strings_.end()) return known->second;
  const auto id = static_cast<StringId>(strings_.size());
  strings_.emplace(text, id);
  tables_->strings.Insert(id, text);
  return id;
}

void NsysWriter::Add(const KernelRow& row) {
  constexpr int64_t kOne = 1;
  InsertGpu(tables_->kernels, row, row.name, row.short_name, row.grid, kOne, kOne, row.block, kOne, kOne,
            row.registers, row.shared_bytes, ++grids_);
}

void NsysWriter::Add(const CopyRow& row) {
  InsertGpu(tables_->copies, row, row.bytes, static_cast<int64_t>(row.kind), static_cast<int64_t>(row.source),
            static_cast<int64_t>(row.destination), int64_t{1});
}

void NsysWriter::Add(const SetRow& row) {
  InsertGpu(tables_->sets, row, row.bytes, static_cast<int64_t>(MemoryKind::kDevice));
}

void NsysWriter::Add(const SyncRow& row) {
  InsertGpu(tables_->syncs, row, static_cast<int64_t>(row.kind), kNoEvent);
}

void NsysWriter::Add(const ApiRow& row) {
  tables_->api_calls.Insert(row.start, row.end, GlobalTid(row.pid, row.tid), row.correlation, row.name,
                            int64_t{0});
}

void NsysWriter::Add(const RangeRow& row) {
  constexpr size_t kText = 5, kTextId = 6;
  Table& table = tables_->ranges;
  const int64_t tid = GlobalTid(row.pid, row.tid), default_domain = 0;
  const bool by_id = !table.HasColumn(kText) || (row.registered && table.HasColumn(kTextId));
  if (by_id)
    table.Insert(row.start, row.end, kPushPop, tid, default_domain, kUnknown, Intern(row.text));
  else
    table.Insert(row.start, row.end, kPushPop, tid, default_domain, row.text, kUnknown);
}

void NsysWriter::Add(const OsCallRow& row) {
  tables_->os_calls.Insert(row.start, row.end, GlobalTid(row.pid, row.tid), row.name, int64_t{0});
}

void NsysWriter::Add(const MemoryRow& row) {
  tables_->memory.Insert(row.time, GlobalPid(row.pid), row.device, int64_t{1}, row.correlation, row.address,
                         row.bytes, static_cast<int64_t>(MemoryKind::kDevice), int64_t{row.is_free});
}

void NsysWriter::Add(const GpuInfo& gpu) {
  constexpr int64_t kWarp = 32;
  tables_->gpus.Insert(kVm, gpu.device, gpu.device, gpu.device, gpu.name, gpu.chip, gpu.bus, gpu.uuid,
                       int64_t{1}, gpu.memory_bytes, gpu.memory_bandwidth, gpu.l2_bytes, gpu.clock_hz,
                       gpu.sm_count, gpu.compute_major, gpu.compute_minor, gpu.compute_major,
                       gpu.compute_minor, kWarp);
  // That table is in kB/s and kHz.
  tables_->cuda_gpus.Insert(kVm, gpu.device, gpu.name, gpu.bus, gpu.memory_bytes, gpu.memory_bandwidth / 1000,
                            gpu.l2_bytes, gpu.clock_hz / 1000, gpu.sm_count, gpu.compute_major,
                            gpu.compute_minor, kWarp);
}

void NsysWriter::AddProcess(int64_t pid, std::string_view name) {
  tables_->processes.Insert(GlobalPid(pid), pid, name);
}

void NsysWriter::AddThread(int64_t pid, int64_t tid, std::string_view name) {
  constexpr int64_t kPriority = 20;
  tables_->threads.Insert(Intern(name), kPriority, GlobalTid(pid, tid));
}

void NsysWriter::AddSystem(const SystemInfo& system) {
  start_utc_ns_ = system.start_utc_ns;
  std::string environment;
  for (const auto& [name, value] : system.environment)
    environment += (environment.empty() ? "" : std::string(1, '\0')) + name + '=' + value;
  const auto add = [&](int64_t code, std::string_view name, std::string_view value) {
    if (!value.empty()) tables_->environment.Insert(kVm, "Local (CLI)", name, code, value);
  };
  add(1, "CpuCores", std::to_string(system.cpu_cores));
  add(13, "CpuDescription", system.cpu_model);
  add(205, "NvDriverVersion", Digits(system.driver_version));
  add(605, "OsDescription", system.os);
  add(610, "DeviceEnvironment", environment);
  add(611, "CudaDriverVersion", CudaNumber(system.cuda_version));
  add(619, "Hostname", system.host);
  tables_->dlprof.Insert(std::to_string(system.gpu_count), system.driver_version, system.cuda_version, "",
                         system.framework, schema_.product_version, system.cpu_model);
}

void NsysWriter::AddVersions() {
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    tables_->old_versions.Insert(name, value);
    tables_->versions.Insert(name, value);
  };
  add("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems");
  add("EXPORT_PRODUCT_VERSION", schema_.product_version);
  add("EXPORT_SCHEMA_VERSION", schema_.schema_version);
}

void NsysWriter::Finish(int64_t stop) {
  AddVersions();
  if (start_utc_ns_ > 0) tables_->session_start.Insert(start_utc_ns_, Utc(start_utc_ns_), Utc(start_utc_ns_));
  tables_->session.Insert(kVm, stop, int64_t{0}, stop);
  tables_.reset();
  for (const std::string& index : schema_.indexes) Run(index);
  Run("COMMIT");
  db_.reset();
  std::error_code failed;
  fs::rename(partial_, path_, failed);
  if (failed) {
    std::error_code none;
    fs::remove(partial_, none);
    throw Error(path_.string(), "cannot be written: " + failed.message());
  }
}

}  // namespace dladvisor::example
