// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvprof/nvprof_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>

#include "engine/base/demangle.h"
#include "src/importers/gpu_rows/cupti_kinds.h"
#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/nvprof/call_names.h"
#include "src/trace/event_tables.h"

namespace dladvisor::nvprof {
namespace {

using sqlite::Rows;

constexpr std::string_view kPrefix = "CUPTI_ACTIVITY_KIND_";
constexpr std::string_view kConcurrent = "CONCURRENT_KERNEL";
constexpr int64_t kLastDevice = 4095;
constexpr Ns kLastTime = 4'000'000'000'000'000'000;   // 126 years: differences of two times fit
constexpr Ns kMostTotal = 1'000'000'000'000'000'000;  // sums of tables fit
constexpr size_t kLongestName = size_t{64} << 10;

std::string TableName(std::string_view kind) { return std::string(kPrefix) + std::string(kind); }

// The columns that tables of GPU work share come first.
enum SharedColumn : size_t { kStart, kEnd, kDevice, kStream, kCorrelation, kRuntimeCall, kOwn };
std::vector<std::string_view> SharedAnd(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> columns = {"start",    "end",           "deviceId",
                                           "streamId", "correlationId", "runtimeCorrelationId"};
  columns.insert(columns.end(), own);
  return columns;
}

std::optional<int64_t> Positive(const Rows& rows, size_t column, int64_t factor = 1) {
  const auto value = rows.Integer(column);
  constexpr int64_t kMost = int64_t{1} << 50;
  return value && *value > 0 && *value < kMost / factor ? std::optional(*value * factor) : std::nullopt;
}

int64_t PerBlock(const Rows& rows, size_t column) {
  return std::clamp<int64_t>(rows.Integer(column, 0), 0, gpu_rows::kMostPerBlock);
}

// CUpti_ActivityMemoryKind.
MemoryKind MemoryOf(int64_t kind) {
  constexpr std::array kKinds = {MemoryKind::kUnknown, MemoryKind::kPageable, MemoryKind::kPinned,
                                 MemoryKind::kDevice,  MemoryKind::kArray,    MemoryKind::kManaged,
                                 MemoryKind::kDevice,  MemoryKind::kManaged};
  return kind < 0 || kind >= static_cast<int64_t>(kKinds.size()) ? MemoryKind::kUnknown
                                                                 : kKinds[static_cast<size_t>(kind)];
}

// CUpti_ActivityObjectKindId begins with the process and the thread.
std::pair<int64_t, int64_t> ProcessAndThread(std::string_view id) {
  uint32_t pid = 0, tid = 0;
  if (id.size() >= sizeof(pid)) std::memcpy(&pid, id.data(), sizeof(pid));
  if (id.size() >= sizeof(pid) + sizeof(tid)) std::memcpy(&tid, id.data() + sizeof(pid), sizeof(tid));
  return {pid, tid};
}

bool HasRows(const sqlite::Database& database, std::string_view kind) {
  return Rows(database, TableName(kind), {"_id_"}).Next();
}

}  // namespace

bool IsNvprof(const sqlite::Database& database) {
  if (!database.Has("StringTable") || database.Has("StringIds")) return false;
  return std::ranges::any_of(database.tables(),
                             [](const auto& table) { return table.first.starts_with(kPrefix); });
}

bool HoldsCountersOnly(const sqlite::Database& database) {
  constexpr auto kMeasured =
      std::to_array<std::string_view>({"EVENT", "EVENT_INSTANCE", "METRIC", "METRIC_INSTANCE"});
  return !HasRows(database, kConcurrent) &&
         std::ranges::any_of(kMeasured, [&](std::string_view kind) { return HasRows(database, kind); });
}

Reader::Reader(const sqlite::Database& db) : db_(db), tables_(trace_) {
  trace_.format = "nvprof";
  trace_.facts["profiler"] = "nvprof";
  trace_.facts["vendor"] = "NVIDIA";
}

Trace Reader::Read() {
  Rows version(db_, "Version", {"version"});
  if (version.Next()) trace_.schema_version = std::to_string(version.Integer(0, 0));
  ReadStrings();
  ReadDevices();
  ReadContexts();
  ReadCalls();
  ReadProgram();
  ReadKernels(HasRows(db_, kConcurrent) ? kConcurrent : "KERNEL");
  ReadCopies("MEMCPY", false);
  ReadCopies("MEMCPY2", true);
  ReadSets();
  ReadManagedMemory();
  ReadSyncs();
  ReadOverheads();
  ReadMarkers();
  for (Device& device : trace_.devices)
    if (const auto known = described_.find(device.ordinal); known != described_.end()) device = known->second;
  SortByStart(trace_.kernels);
  SortByStart(trace_.copies);
  SortByStart(trace_.sets);
  SortByStart(trace_.syncs);
  SortByStart(trace_.overheads);
  SortByStartLongestFirst(trace_.api_calls);
  SortByStartLongestFirst(trace_.ranges);
  SortDevices(trace_);
  if (const auto first = FirstTime(trace_)) SetOrigin(trace_, *first);
  return std::move(trace_);
}

void Reader::ReadStrings() {
  Rows rows(db_, "StringTable", {"_id_", "value"});
  while (rows.Next())
    if (const auto id = rows.Integer(0)) strings_[*id] = rows.Text(1).substr(0, kLongestName);
}

std::string_view Reader::String(int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view() : std::string_view(found->second);
}

const Reader::Text& Reader::KernelName(int64_t id) {
  const auto [text, is_new] = kernel_names_.try_emplace(id);
  if (is_new) {
    const std::string name = Demangled(String(id));
    text->second.name = trace_.names.Intern(name.empty() ? "[unnamed]" : name);
    text->second.short_name =
        trace_.names.Intern(gpu_rows::ShortNameOf(trace_.names.View(text->second.name)));
  }
  return text->second;
}

void Reader::ReadDevices() {
  enum : size_t { kId, kName, kUnits, kMemory, kBandwidth, kCache, kClock, kMajor, kMinor };
  Rows rows(db_, TableName("DEVICE"),
            {"id", "name", "numMultiprocessors", "globalMemorySize", "globalMemoryBandwidth", "l2CacheSize",
             "coreClockRate", "computeCapabilityMajor", "computeCapabilityMinor"});
  constexpr int64_t kKilo = 1000;  // rates are in kB/s and kHz
  while (rows.Next()) {
    const auto id = rows.Integer(kId);
    if (!id || *id < 0 || *id > kLastDevice) continue;
    Device device;
    device.ordinal = *id;
    device.name = String(rows.Integer(kName, -1));
    device.sm_count = Positive(rows, kUnits);
    device.memory_bytes = Positive(rows, kMemory);
    device.memory_bandwidth = Positive(rows, kBandwidth, kKilo);
    device.l2_bytes = Positive(rows, kCache);
    device.clock_hz = Positive(rows, kClock, kKilo);
    device.compute_major = Positive(rows, kMajor);
    if (const auto minor = rows.Integer(kMinor); minor && *minor >= 0 && *minor < kKilo)
      device.compute_minor = minor;
    described_[*id] = std::move(device);
  }
  if (!described_.empty()) trace_.facts["listed_gpus"] = std::to_string(described_.size());
}

void Reader::ReadContexts() {
  Rows rows(db_, TableName("CONTEXT"), {"contextId", "deviceId"});
  while (rows.Next())
    if (const auto id = rows.Integer(0)) device_of_context_[*id] = rows.Integer(1, -1);
}

// The command line is the name of the process.
void Reader::ReadProgram() {
  constexpr int64_t kProcess = 1;
  Rows rows(db_, TableName("NAME"), {"objectKind", "name"});
  while (rows.Next())
    if (rows.Integer(0, 0) == kProcess && trace_.command.empty())
      if (const std::string_view name = String(rows.Integer(1, -1)); !name.empty())
        trace_.command = {std::string(name)};
}

bool Reader::Use(Table& table, const Rows& rows) {
  ++trace_.health.rows_read[table.name];
  const auto start = rows.Integer(kStart), end = rows.Integer(kEnd);
  // A record that was not completed has 0 for its times.
  const bool is_usable =
      start && end && *start > 0 && *start <= kLastTime && *end >= *start && *end <= kLastTime;
  if (!is_usable || *end - *start > kMostTotal - table.total) {
    Skip(table);
    trace_.health.negative_durations += start && end && *end < *start;
    return false;
  }
  table.total += *end - *start;
  return true;
}

bool Reader::UseBytes(Table& table, int64_t bytes) {
  if (bytes < 0 || bytes > gpu_rows::kMostBytes || bytes > gpu_rows::kMostTotalBytes - table.bytes) {
    Skip(table);
    return false;
  }
  table.bytes += bytes;
  return true;
}

void Reader::ReadCalls() {
  enum : size_t { kNumber = 2, kPid, kTid, kId, kResult };
  ApiCalls& a = trace_.api_calls;
  for (const bool runtime : {true, false}) {
    Table table{TableName(runtime ? "RUNTIME" : "DRIVER")};
    Rows rows(db_, table.name,
              {"start", "end", "cbid", "processId", "threadId", "correlationId", "returnValue"});
    while (rows.Next()) {
      if (!Use(table, rows)) continue;
      const int64_t pid = rows.Integer(kPid, 0), number = rows.Integer(kNumber, -1);
      ++calls_of_pid_[pid];
      std::string_view name = runtime ? RuntimeCallName(number) : DriverCallName(number);
      const std::string unknown =
          name.empty() ? (runtime ? "runtime function " : "driver function ") + std::to_string(number) : "";
      if (name.empty()) name = unknown;
      a.start.push_back(*rows.Integer(kStart));
      a.end.push_back(*rows.Integer(kEnd));
      a.thread.push_back(tables_.Thread(pid, rows.Integer(kTid, pid)));
      a.correlation.push_back(rows.Integer(kId, kNoCorrelation));
      a.name.push_back(trace_.names.Intern(name));
      a.result.push_back(rows.Integer(kResult, 0));
    }
  }
}

// That of most calls.
uint32_t Reader::Process() {
  int64_t pid = 0, most = 0;
  for (const auto& [of, calls] : calls_of_pid_)
    if (calls > most) {
      pid = of;
      most = calls;
    }
  return trace_.threads[tables_.Thread(pid, pid)].process;
}

bool Reader::AddWork(Table& table, GpuOperations& ops, const Rows& rows) {
  const int64_t device = rows.Integer(kDevice, -1);
  if (device < 0 || device > kLastDevice) {
    Skip(table);
    return false;
  }
  // Until CUDA 5 a row has numbers of the driver's call and of the runtime's around it.
  const int64_t of_runtime = rows.Integer(kRuntimeCall, 0);
  const int64_t correlation = of_runtime > 0 ? of_runtime : rows.Integer(kCorrelation, kNoCorrelation);
  ops.start.push_back(*rows.Integer(kStart));
  ops.end.push_back(*rows.Integer(kEnd));
  ops.process.push_back(Process());
  ops.device.push_back(tables_.Device(device));
  ops.stream.push_back(rows.Integer(kStream, 0));
  ops.correlation.push_back(calls_of_pid_.size() > 1 ? kNoCorrelation : correlation);
  ops.graph_node.push_back(0);
  return true;
}

void Reader::ReadKernels(std::string_view kind) {
  enum : size_t {
    kName = kOwn,
    kGrid,
    kBlock = kGrid + 3,
    kRegisters = kBlock + 3,
    kStatic,
    kDynamic,
    kLocal
  };
  Table table{TableName(kind)};
  Rows rows(db_, table.name,
            SharedAnd({"name", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ", "registersPerThread",
                       "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread"}));
  Kernels& k = trace_.kernels;
  while (rows.Next()) {
    if (!Use(table, rows) || !AddWork(table, k, rows)) continue;
    const auto& [name, short_name] = KernelName(rows.Integer(kName, -1));
    LaunchShape shape;
    constexpr int64_t kMostDimension = int64_t{1} << 40;
    for (size_t i = 0; i < 3; ++i) {
      shape.grid[i] = std::clamp<int64_t>(rows.Integer(kGrid + i, 1), 1, kMostDimension);
      shape.block[i] = std::clamp<int64_t>(rows.Integer(kBlock + i, 1), 1, kMostDimension);
    }
    k.name.push_back(name);
    k.short_name.push_back(short_name);
    k.grid.push_back(gpu_rows::Product(shape.grid));
    k.block.push_back(gpu_rows::Product(shape.block));
    k.registers.push_back(PerBlock(rows, kRegisters));
    k.shared_bytes.push_back(PerBlock(rows, kStatic) + PerBlock(rows, kDynamic));
    k.local_bytes.push_back(rows.HasColumn(kLocal) ? PerBlock(rows, kLocal) : -1);
    k.shape.push_back(tables_.Shape(shape));
  }
}

void Reader::ReadCopies(std::string_view kind, bool between_devices) {
  enum : size_t { kBytes = kOwn, kKind, kSource, kDestination };
  Table table{TableName(kind)};
  Rows rows(db_, table.name, SharedAnd({"bytes", "copyKind", "srcKind", "dstKind"}));
  Copies& c = trace_.copies;
  while (rows.Next()) {
    const int64_t bytes = rows.Integer(kBytes, 0);
    if (!Use(table, rows) || !UseBytes(table, bytes) || !AddWork(table, c, rows)) continue;
    const CopyDirection direction = gpu_rows::CopyDirectionOf(rows.Integer(kKind, 0));
    c.bytes.push_back(bytes);
    c.direction.push_back(between_devices && direction != CopyDirection::kDeviceToDevice
                              ? CopyDirection::kPeerToPeer
                              : direction);
    c.source.push_back(MemoryOf(rows.Integer(kSource, 0)));
    c.destination.push_back(MemoryOf(rows.Integer(kDestination, 0)));
  }
}

void Reader::ReadSets() {
  enum : size_t { kBytes = kOwn, kKind };
  Table table{TableName("MEMSET")};
  Rows rows(db_, table.name, SharedAnd({"bytes", "memoryKind"}));
  Sets& s = trace_.sets;
  while (rows.Next()) {
    const int64_t bytes = rows.Integer(kBytes, 0);
    if (!Use(table, rows) || !UseBytes(table, bytes) || !AddWork(table, s, rows)) continue;
    s.bytes.push_back(bytes);
    s.memory.push_back(MemoryOf(rows.Integer(kKind, 0)));
  }
}

// Pages that move are copies, faults are counted.
void Reader::ReadManagedMemory() {
  enum : size_t { kKind = 2, kValue, kSource, kDestination };
  enum : int64_t { kToDevice = 1, kToHost, kHostFault, kDeviceFault, kBetweenDevices = 8 };
  Table table{TableName("UNIFIED_MEMORY_COUNTER")};
  Rows rows(db_, table.name, {"start", "end", "counterKind", "value", "srcId", "dstId"});
  Copies& c = trace_.copies;
  PageFaults& f = trace_.page_faults;
  while (rows.Next()) {
    if (!Use(table, rows)) continue;
    const int64_t kind = rows.Integer(kKind, 0), value = rows.Integer(kValue, 0);
    if (kind == kHostFault || kind == kDeviceFault) {
      const int64_t device = rows.Integer(kSource, -1);
      const bool of_device = kind == kDeviceFault && device >= 0 && device <= kLastDevice;
      if (kind == kDeviceFault && !of_device) {
        Skip(table);
        continue;
      }
      f.start.push_back(*rows.Integer(kStart));
      f.end.push_back(*rows.Integer(kEnd));
      f.process.push_back(Process());
      f.device.push_back(of_device ? tables_.Device(device) : kNoIndex);
      // Of a fault of the host, the value is its address.
      f.faults.push_back(of_device ? std::clamp<int64_t>(value, 1, int64_t{1} << 30) : 1);
      continue;
    }
    if (kind != kToDevice && kind != kToHost && kind != kBetweenDevices) {
      Skip(table);
      continue;
    }
    const int64_t device = rows.Integer(kind == kToHost ? kSource : kDestination, -1);
    if (device < 0 || device > kLastDevice) {
      Skip(table);
      continue;
    }
    if (!UseBytes(table, value)) continue;
    c.start.push_back(*rows.Integer(kStart));
    c.end.push_back(*rows.Integer(kEnd));
    c.process.push_back(Process());
    c.device.push_back(tables_.Device(device));
    c.stream.push_back(0);
    c.correlation.push_back(kNoCorrelation);
    c.graph_node.push_back(0);
    c.bytes.push_back(value);
    c.direction.push_back(kind == kToDevice ? CopyDirection::kUnifiedHostToDevice
                          : kind == kToHost ? CopyDirection::kUnifiedDeviceToHost
                                            : CopyDirection::kUnifiedDeviceToDevice);
    c.source.push_back(MemoryKind::kManaged);
    c.destination.push_back(MemoryKind::kManaged);
  }
  SortByStart(f);
}

void Reader::ReadSyncs() {
  enum : size_t { kType = 2, kContext, kStreamId, kId };
  Table table{TableName("SYNCHRONIZATION")};
  Rows rows(db_, table.name, {"start", "end", "type", "contextId", "streamId", "correlationId"});
  Syncs& s = trace_.syncs;
  while (rows.Next()) {
    if (!Use(table, rows)) continue;
    const auto device = device_of_context_.find(rows.Integer(kContext, -1));
    const bool is_known =
        device != device_of_context_.end() && device->second >= 0 && device->second <= kLastDevice;
    s.start.push_back(*rows.Integer(kStart));
    s.end.push_back(*rows.Integer(kEnd));
    s.process.push_back(Process());
    s.device.push_back(is_known ? tables_.Device(device->second) : kNoIndex);
    s.stream.push_back(rows.Integer(kStreamId, 0));
    s.correlation.push_back(calls_of_pid_.size() > 1 ? kNoCorrelation : rows.Integer(kId, kNoCorrelation));
    s.kind.push_back(gpu_rows::SyncKindOf(rows.Integer(kType, 0)));
  }
}

uint32_t Reader::ThreadOf(std::string_view object_id) {
  const auto [pid, tid] = ProcessAndThread(object_id);
  return tables_.Thread(pid, tid == 0 ? pid : tid);
}

void Reader::ReadOverheads() {
  enum : size_t { kKind = 2, kObject };
  Table table{TableName("OVERHEAD")};
  Rows rows(db_, table.name, {"start", "end", "overheadKind", "objectId"});
  Overheads& o = trace_.overheads;
  while (rows.Next()) {
    if (!Use(table, rows)) continue;
    constexpr int64_t kShift = 16, kFlush = 1, kInstrumentation = 2, kResource = 3;
    const int64_t kind = rows.Integer(kKind, 0) >> kShift;  // below it the driver's own, as compiling
    if (kind != kFlush && kind != kInstrumentation && kind != kResource) continue;
    o.start.push_back(*rows.Integer(kStart));
    o.end.push_back(*rows.Integer(kEnd));
    o.thread.push_back(ThreadOf(rows.Text(kObject)));
    o.name.push_back(trace_.names.Intern(kind == kFlush             ? "Buffer flush"
                                         : kind == kInstrumentation ? "Instrumentation"
                                                                    : "Resource"));
  }
}

// A range is two rows of one id, its name that of the first.
void Reader::ReadMarkers() {
  enum : size_t { kFlags, kTime, kId, kObject, kName };
  enum : int64_t { kInstantaneous = 1, kBegins = 2, kEnds = 4 };
  const std::string table = TableName("MARKER");
  Rows rows(db_, table, {"flags", "timestamp", "id", "objectId", "name"});
  struct Open {
    Ns start;
    uint32_t thread;
    NameId name;
  };
  std::unordered_map<int64_t, Open> open;
  std::unordered_map<uint32_t, std::vector<int64_t>> stacks;  // by thread
  Ranges& r = trace_.ranges;
  const auto add = [&](const Open& range, Ns end, RangeKind kind) {
    r.start.push_back(range.start);
    r.end.push_back(end);
    r.thread.push_back(range.thread);
    r.name.push_back(range.name);
    r.domain.push_back(kNoName);
    r.kind.push_back(kind);
    r.open.push_back(0);
  };
  while (rows.Next()) {
    ++trace_.health.rows_read[table];
    const auto time = rows.Integer(kTime), id = rows.Integer(kId);
    const int64_t flags = rows.Integer(kFlags, 0);
    if (!time || *time <= 0 || *time > kLastTime || !id) {
      ++trace_.health.rows_skipped[table];
      continue;
    }
    if (flags & (kInstantaneous | kBegins)) {
      const std::string_view text = String(rows.Integer(kName, -1));
      const Open range{*time, ThreadOf(rows.Text(kObject)),
                       text.empty() ? kNoName : trace_.names.Intern(text)};
      if (flags & kInstantaneous) {
        add(range, *time, RangeKind::kMark);
      } else {
        open.insert_or_assign(*id, range);
        stacks[range.thread].push_back(*id);
      }
      continue;
    }
    const auto begun = open.find(*id);
    if (!(flags & kEnds) || begun == open.end() || *time < begun->second.start) {
      ++trace_.health.rows_skipped[table];
      continue;
    }
    std::vector<int64_t>& stack = stacks[begun->second.thread];
    const bool is_innermost = !stack.empty() && stack.back() == *id;
    add(begun->second, *time, is_innermost ? RangeKind::kPushPop : RangeKind::kStartEnd);
    if (is_innermost)
      stack.pop_back();
    else
      std::erase(stack, *id);
    open.erase(begun);
  }
}

}  // namespace dladvisor::nvprof
