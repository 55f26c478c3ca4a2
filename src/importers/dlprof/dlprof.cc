// SPDX-License-Identifier: Apache-2.0
#include "src/importers/dlprof/dlprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/dlprof/dlprof_marker.h"
#include "src/importers/gpu_rows/cupti_kinds.h"
#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/sqlite/sqlite_reader.h"
#include "src/trace/event_tables.h"
#include "src/trace/launch_shapes.h"

namespace dladvisor {
namespace {
using sqlite::Database;
using sqlite::Rows;

// Tables of events, each of which another DLProf may lack.
constexpr std::string_view kOps = "read_only_ops", kOpInstances = "read_only_op_instances",
                           kKernels = "read_only_kernels", kCopies = "read_only_memcpys",
                           kSets = "read_only_memsets", kSyncs = "read_only_cuda_syncs",
                           kCalls = "read_only_cuda_calls";

// Four and a half years: sums of times of all rows of a file stay within 64 bits.
constexpr Ns kLastTime = Ns{1} << 57;
constexpr int64_t kMostTotal = std::numeric_limits<int64_t>::max() / 4;

// The wait that a function is; nothing for those that wait for nothing, as cudaEventQuery.
std::optional<SyncKind> SyncKindOf(std::string_view function) {
  const auto has = [&](std::string_view part) { return function.find(part) != std::string_view::npos; };
  if (has("StreamWaitEvent")) return SyncKind::kStreamWaitEvent;
  if (has("StreamSynchronize")) return SyncKind::kStream;
  if (has("EventSynchronize")) return SyncKind::kEvent;
  if (has("DeviceSynchronize") || has("CtxSynchronize") || has("ThreadSynchronize"))
    return SyncKind::kContext;
  return std::nullopt;
}

class DatabaseReader {
 public:
  DatabaseReader(const Database& db, Trace& trace) : db_(db), trace_(trace) {}

  void Read() {
    ReadDictionary();
    ReadSystem();
    ReadDevices();
    ReadOps();
    ReadKernels();
    ReadCopies();
    ReadSets();
    ReadSyncs();
    ReadCalls();
    ReadIterations();
    Sort();
  }

 private:
  struct Op {
    std::string name, type, dtype, stack;
  };

  // The rows of a table of events. What cannot be used is counted in the trace's health.
  class Events {
   public:
    // `columns` begins with the names of start and stop.
    Events(DatabaseReader& reader, std::string_view table, const std::vector<std::string_view>& columns)
        : reader_(reader), table_(table), rows_(reader.db_, table, columns) {}
    ~Events() {
      if (!reader_.db_.Has(table_)) return;
      CaptureHealth& health = reader_.trace_.health;
      health.rows_read[table_] += rows_.count();
      if (skipped_ > 0) health.rows_skipped[table_] += skipped_;
    }
    Events(const Events&) = delete;
    Events& operator=(const Events&) = delete;

    bool Next() {
      while (rows_.Next()) {
        if (const auto time = reader_.Time(rows_, 0)) {
          time_ = *time;
          return true;
        }
        Skip();
      }
      return false;
    }
    void Skip() { ++skipped_; }
    std::pair<Ns, Ns> time() const { return time_; }
    const Rows& rows() const { return rows_; }

   private:
    DatabaseReader& reader_;
    std::string table_;
    Rows rows_;
    std::pair<Ns, Ns> time_;
    int64_t skipped_ = 0;
  };

  // Start and stop in two columns; nothing where they are none.
  std::optional<std::pair<Ns, Ns>> Time(const Rows& rows, size_t column) {
    const auto start = rows.Integer(column), stop = rows.Integer(column + 1);
    if (!start || !stop || *start < -kLastTime || *stop > kLastTime) return std::nullopt;
    if (*stop < *start) {
      ++trace_.health.negative_durations;
      return std::nullopt;
    }
    if (*stop - *start > kMostTotal - total_) return std::nullopt;
    total_ += *stop - *start;
    return std::pair(*start, *stop);
  }

  const std::string& Text(const Rows& rows, size_t column) const {
    static const std::string none;
    const auto id = rows.Integer(column);
    const auto found = id ? dictionary_.find(*id) : dictionary_.end();
    return found == dictionary_.end() ? none : found->second;
  }

  void ReadDictionary() {
    Rows rows(db_, "dictionary", {"id", "string"});
    while (rows.Next())
      if (const auto id = rows.Integer(0)) dictionary_[*id] = rows.Text(1);
  }

  void ReadSystem() {
    Rows versions(db_, "db_version", {"current_version"});
    if (versions.Next()) trace_.schema_version = versions.Text(0);
    constexpr const char* kFacts[] = {"cpu_model", "driver_version", "cuda_version", "cudnn_version",
                                      "framework"};
    Rows rows(db_, "read_only_system_config",
              {"cpu_model", "driver_version", "cuda_version", "cudnn_version", "framework", "nsys_version",
               "dlprof_version", "original_command"});
    if (!rows.Next()) return;
    for (size_t i = 0; i < std::size(kFacts); ++i)
      if (const std::string_view value = rows.Text(i); !value.empty()) trace_.facts[kFacts[i]] = value;
    trace_.producer_version = rows.Text(5);
    const std::string version(rows.Text(6));
    trace_.facts["profiler"] = version.empty() ? "DLProf" : "DLProf " + version;
    if (const std::string_view command = rows.Text(7); !command.empty()) trace_.command.emplace_back(command);
  }

  void ReadDevices() {
    Rows rows(db_, "read_only_gpu_infos",
              {"device_id", "gpu_name", "compute_capability_major", "compute_capability_minor", "sm_count"});
    while (rows.Next()) {
      const auto ordinal = rows.Integer(0);
      if (!ordinal) continue;
      Device& device = trace_.devices[DeviceAt(*ordinal)];
      device.name = rows.Text(1);
      device.compute_major = rows.Integer(2);
      device.compute_minor = rows.Integer(3);
      device.sm_count = rows.Integer(4);
    }
    Rows memory(db_, "gpu_memories", {"total"});  // does not say of which GPU
    if (memory.Next() && trace_.devices.size() == 1 && memory.Integer(0, 0) > 0)
      trace_.devices[0].memory_bytes = memory.Integer(0);
  }

  uint32_t DeviceAt(int64_t ordinal) {
    const auto [entry, is_new] = devices_.try_emplace(ordinal, static_cast<uint32_t>(trace_.devices.size()));
    if (is_new) trace_.devices.emplace_back().ordinal = ordinal;
    return entry->second;
  }

  uint32_t ProcessAt(int64_t pid) {
    const auto [entry, is_new] = processes_.try_emplace(pid, static_cast<uint32_t>(trace_.processes.size()));
    if (is_new) trace_.processes.push_back({pid, ""});
    return entry->second;
  }

  uint32_t ThreadAt(int64_t pid, int64_t tid) {
    const auto [entry, is_new] =
        threads_.try_emplace({pid, tid}, static_cast<uint32_t>(trace_.threads.size()));
    if (is_new) trace_.threads.push_back({ProcessAt(pid), tid, ""});
    return entry->second;
  }

  void AddRange(std::pair<Ns, Ns> time, uint32_t thread, std::string_view name, RangeKind kind) {
    Ranges& r = trace_.ranges;
    r.start.push_back(time.first);
    r.end.push_back(time.second);
    r.thread.push_back(thread);
    r.name.push_back(trace_.names.Intern(name));
    r.domain.push_back(kNoName);
    r.kind.push_back(kind);
    r.open.push_back(0);
  }

  // Calls of ops as the two nested markers that DLProf's plugin writes: the path, then the op itself.
  void ReadOps() {
    std::unordered_map<int64_t, Op> ops;
    Rows rows(db_, kOps, {"id", "op_name", "op_type_id", "data_type_id", "stack_trace"});
    while (rows.Next())
      if (const auto id = rows.Integer(0))
        ops[*id] = {std::string(rows.Text(1)), Text(rows, 2), Text(rows, 3), std::string(rows.Text(4))};
    Events events(
        *this, kOpInstances,
        {"cpu_start", "cpu_stop", "read_only_ops_id", "process_id", "thread_id", "input_shapes_id"});
    while (events.Next()) {
      const auto op = ops.find(events.rows().Integer(2, -1));
      const auto pid = events.rows().Integer(3), tid = events.rows().Integer(4);
      if (op == ops.end() || !pid || !tid) {
        events.Skip();
        continue;
      }
      // CUDA calls outside all ops: they are among the calls.
      if (op->second.name.starts_with("unassociated_")) continue;
      const uint32_t thread = ThreadAt(*pid, *tid);
      AddRange(events.time(), thread, PathMarker(op->second.stack, op->second.name), RangeKind::kPushPop);
      AddRange(events.time(), thread, OpMarker(op->second.type, Text(events.rows(), 5), op->second.dtype),
               RangeKind::kPushPop);
    }
  }

  // An API call; its number joins it with what it launched.
  int64_t AddCall(std::pair<Ns, Ns> time, uint32_t thread, std::string_view name) {
    ApiCalls& calls = trace_.api_calls;
    const auto correlation = static_cast<int64_t>(calls.size()) + 1;
    calls.start.push_back(time.first);
    calls.end.push_back(time.second);
    calls.thread.push_back(thread);
    calls.correlation.push_back(correlation);
    calls.name.push_back(trace_.names.Intern(name));
    calls.result.push_back(0);
    return correlation;
  }

  enum : size_t { kGpuStart = 2, kGpuStop, kDevice, kProcess, kThread, kName, kOwn };
  static std::vector<std::string_view> GpuColumns(std::initializer_list<std::string_view> own) {
    std::vector<std::string_view> columns = {"api_start", "api_stop",   "gpu_start", "gpu_stop",
                                             "device_id", "process_id", "thread_id", "name_id"};
    columns.insert(columns.end(), own);
    return columns;
  }

  // Adds what all GPU work shares and the call that launched it; false, and counted, where a time, the device
  // or the thread is missing.
  bool Append(Events& events, GpuOperations& ops, std::string_view function) {
    const Rows& rows = events.rows();
    const auto gpu = Time(rows, kGpuStart);
    const auto device = rows.Integer(kDevice), pid = rows.Integer(kProcess), tid = rows.Integer(kThread);
    if (!gpu || !device || *device < 0 || !pid || !tid) {
      events.Skip();
      return false;
    }
    ops.start.push_back(gpu->first);
    ops.end.push_back(gpu->second);
    ops.process.push_back(ProcessAt(*pid));
    ops.device.push_back(DeviceAt(*device));
    ops.stream.push_back(0);
    ops.correlation.push_back(AddCall(events.time(), ThreadAt(*pid, *tid), function));
    ops.graph_node.push_back(0);
    return true;
  }

  void ReadKernels() {
    std::unordered_map<int64_t, std::array<int64_t, 3>> dimensions;
    {
      Rows rows(db_, "read_only_grid_block", {"id", "x", "y", "z"});
      while (rows.Next())
        if (const auto id = rows.Integer(0))
          dimensions[*id] = {rows.Integer(1, 1), rows.Integer(2, 1), rows.Integer(3, 1)};
    }
    const auto at = [&](const Rows& rows, size_t column) -> std::array<int64_t, 3> {
      const auto found = dimensions.find(rows.Integer(column, -1));
      return found == dimensions.end() ? std::array<int64_t, 3>{1, 1, 1} : found->second;
    };
    Events events(*this, kKernels, GpuColumns({"long_name_id", "grid_id", "block_id"}));
    Kernels& k = trace_.kernels;
    LaunchShapes shapes(k.shapes);
    while (events.Next()) {
      const Rows& rows = events.rows();
      if (!Append(events, k, "cudaLaunchKernel")) continue;
      const std::string &name = Text(rows, kName), &long_name = Text(rows, kOwn);
      k.short_name.push_back(trace_.names.Intern(name.empty() ? long_name : name));
      k.name.push_back(trace_.names.Intern(long_name.empty() ? name : long_name));
      const LaunchShape shape{at(rows, kOwn + 1), at(rows, kOwn + 2)};
      k.grid.push_back(gpu_rows::Product(shape.grid));
      k.block.push_back(gpu_rows::Product(shape.block));
      k.shape.push_back(shapes.IndexOf(shape));
      k.registers.push_back(0);
      k.shared_bytes.push_back(0);
    }
  }

  std::optional<int64_t> Bytes(const Rows& rows, size_t column) {
    const auto bytes = rows.Integer(column);
    if (!bytes || *bytes < 0 || *bytes > kMostTotal - total_bytes_) return std::nullopt;
    total_bytes_ += *bytes;
    return bytes;
  }

  void ReadCopies() {
    Events events(*this, kCopies, GpuColumns({"num_bytes", "copy_kind"}));
    Copies& c = trace_.copies;
    while (events.Next()) {
      const auto bytes = Bytes(events.rows(), kOwn);
      if (!bytes) {
        events.Skip();
        continue;
      }
      if (!Append(events, c, Text(events.rows(), kName))) continue;
      const CopyDirection direction = gpu_rows::CopyDirectionOf(events.rows().Integer(kOwn + 1, 0));
      const bool between =
          direction == CopyDirection::kDeviceToDevice || direction == CopyDirection::kPeerToPeer;
      c.bytes.push_back(*bytes);
      c.direction.push_back(direction);
      c.source.push_back(between || direction == CopyDirection::kDeviceToHost ? MemoryKind::kDevice
                                                                              : MemoryKind::kUnknown);
      c.destination.push_back(between || direction == CopyDirection::kHostToDevice ? MemoryKind::kDevice
                                                                                   : MemoryKind::kUnknown);
    }
  }

  void ReadSets() {
    Events events(*this, kSets, GpuColumns({"num_bytes"}));
    while (events.Next()) {
      const auto bytes = Bytes(events.rows(), kOwn);
      if (!bytes) {
        events.Skip();
        continue;
      }
      if (!Append(events, trace_.sets, Text(events.rows(), kName))) continue;
      trace_.sets.bytes.push_back(*bytes);
      trace_.sets.memory.push_back(MemoryKind::kUnknown);
    }
  }

  void ReadSyncs() {
    Events events(*this, kSyncs,
                  {"api_start", "api_stop", "device_id", "process_id", "thread_id", "name_id"});
    Syncs& s = trace_.syncs;
    while (events.Next()) {
      const Rows& rows = events.rows();
      const auto device = rows.Integer(2), pid = rows.Integer(3), tid = rows.Integer(4);
      if (!pid || !tid) {
        events.Skip();
        continue;
      }
      const std::string& name = Text(rows, 5);
      const int64_t correlation = AddCall(events.time(), ThreadAt(*pid, *tid), name);
      const auto kind = SyncKindOf(name);
      if (!kind || !device || *device < 0) continue;
      s.start.push_back(events.time().first);
      s.end.push_back(events.time().second);
      s.process.push_back(ProcessAt(*pid));
      s.device.push_back(DeviceAt(*device));
      s.stream.push_back(0);
      s.correlation.push_back(correlation);
      s.kind.push_back(*kind);
    }
  }

  void ReadCalls() {
    Events events(*this, kCalls, {"api_start", "api_stop", "process_id", "thread_id", "name_id"});
    while (events.Next()) {
      const auto pid = events.rows().Integer(2), tid = events.rows().Integer(3);
      if (pid && tid)
        AddCall(events.time(), ThreadAt(*pid, *tid), Text(events.rows(), 4));
      else
        events.Skip();
    }
  }

  // One iteration is the whole profile, which DLProf could not split. Iterations are of no thread; they
  // become ranges of the first one.
  void ReadIterations() {
    std::map<int64_t, std::pair<Ns, Ns>> iterations;
    {
      Events events(*this, "iteration_list", {"start_time", "stop_time", "iter_value"});
      while (events.Next())
        if (const auto number = events.rows().Integer(2))
          iterations.emplace(*number, events.time());
        else
          events.Skip();
    }
    if (iterations.size() < 2 || trace_.threads.empty()) return;
    for (const auto& [number, time] : iterations)
      AddRange(time, 0, fmt::format("iteration {}", number), RangeKind::kStartEnd);
  }

  // By start, as a Trace has them; of ranges that start together the outer marker stays first.
  void Sort() {
    SortByStart(trace_.kernels);
    SortByStart(trace_.copies);
    SortByStart(trace_.sets);
    SortByStart(trace_.api_calls);
    SortByStart(trace_.syncs);
    SortByStartLongestFirst(trace_.ranges);
    SortDevices(trace_);
  }

  const Database& db_;
  Trace& trace_;
  std::unordered_map<int64_t, std::string> dictionary_;
  std::map<int64_t, uint32_t> devices_, processes_;
  std::map<std::pair<int64_t, int64_t>, uint32_t> threads_;
  int64_t total_ = 0, total_bytes_ = 0;
};

Trace ReadDatabase(const Database& db) {
  Trace trace;
  trace.path = db.path();
  trace.format = "dlprof";
  for (const std::string_view table : {kKernels, kCopies, kSets, kSyncs, kCalls, kOpInstances})
    if (!db.Has(table)) trace.health.missing_tables.emplace_back(table);
  trace.health.notes.push_back(
      "DLProf's database has no streams, registers, shared memory or kinds of host memory, and does not "
      "record which function launched a kernel: cudaLaunchKernel stands for all.");
  DatabaseReader(db, trace).Read();
  return trace;
}

Importer::Fit DatabaseFits(const Input& input) {
  const Database* db = input.database();
  return db && db->Has(kOps) && (db->Has(kKernels) || db->Has(kOpInstances)) ? Importer::Fit::kYes
                                                                             : Importer::Fit::kNo;
}

}  // namespace

constinit const Importer kDlprofImporter = {
    .in_list = "DLProf database",
    .extensions = "",
    .more_extensions = "",
    .fits = DatabaseFits,
    .read = [](Input& input) { return std::optional(ReadDatabase(*input.database())); },
};

}  // namespace dladvisor
