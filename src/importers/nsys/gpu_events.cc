// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/gpu_events.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/gpu_rows/cupti_kinds.h"
#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/parts.h"

namespace dladvisor::nsys {

namespace {

// The columns that all GPU tables share come first, in this order.
enum SharedColumn : size_t { kStart, kEnd, kDevice, kStream, kCorrelation, kProcess, kNode, kOwn };

std::vector<std::string_view> SharedAnd(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> columns = {"start",         "end",       "deviceId",   "streamId",
                                           "correlationId", "globalPid", "graphNodeId"};
  columns.insert(columns.end(), own);
  return columns;
}

// Appends the shared columns of the current row; false, and counted, where it names no device.
bool Append(Context& in, Activity& activity, GpuOperations& ops) {
  const Rows& rows = activity.rows();
  const int64_t global_pid = rows.Integer(kProcess, 0);
  const auto device = in.devices.OfEvent(global_pid, rows.Integer(kDevice));
  if (!device) {
    activity.Skip();
    return false;
  }
  ops.start.push_back(activity.start());
  ops.end.push_back(activity.end());
  ops.process.push_back(in.hosts.Process(global_pid));
  ops.device.push_back(*device);
  ops.stream.push_back(rows.Integer(kStream, 0));
  ops.correlation.push_back(rows.Integer(kCorrelation, kNoCorrelation));
  ops.graph_node.push_back(rows.Integer(kNode, 0));
  return true;
}

LaunchShape ShapeOf(const Rows& rows, size_t grid, size_t block) {
  LaunchShape shape;
  for (size_t i = 0; i < 3; ++i) {
    shape.grid[i] = rows.Integer(grid + i, 1);  // an absent dimension is 1
    shape.block[i] = rows.Integer(block + i, 1);
  }
  return shape;
}

// The bytes of the current row; nothing, and counted, where the sum over the table would no longer fit.
std::optional<int64_t> Bytes(Activity& activity, size_t column, int64_t& total) {
  const int64_t bytes = activity.rows().Integer(column, 0);
  if (bytes < 0 || bytes > gpu_rows::kMostBytes || bytes > gpu_rows::kMostTotalBytes - total) {
    activity.Skip();
    return std::nullopt;
  }
  total += bytes;
  return bytes;
}

constexpr std::string_view kKernelTable = "CUPTI_ACTIVITY_KIND_KERNEL";

void ReadKernelRows(Context& in) {
  enum : size_t {
    kName = kOwn,
    kShort,
    kGrid,
    kBlock = kGrid + 3,
    kRegisters = kBlock + 3,
    kStatic,
    kDynamic,
    kMangled,
    kLocal
  };
  Activity activity(in, kKernelTable,
                    SharedAnd({"demangledName", "shortName", "gridX", "gridY", "gridZ", "blockX", "blockY",
                               "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory",
                               "mangledName", "localMemoryPerThread"}));
  const Rows& rows = activity.rows();
  Kernels& k = in.trace.kernels;
  if (k.size() == 0) Reserve(k, rows.SizeHint());
  const bool has_shapes = rows.HasColumn(kGrid) && rows.HasColumn(kBlock);
  constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();
  activity.ForEach([&] {
    if (!Append(in, activity, k)) return;
    NameId name = in.names.Of(rows, kName);
    NameId short_name = in.names.Of(rows, kShort);
    if (name == kNoName) name = short_name;
    if (name == kNoName) name = in.names.Of(rows, kMangled);
    if (short_name == kNoName) short_name = name;
    const LaunchShape shape = ShapeOf(rows, kGrid, kBlock);
    k.name.push_back(name);
    k.short_name.push_back(short_name);
    k.grid.push_back(has_shapes ? gpu_rows::Product(shape.grid) : 0);
    k.block.push_back(has_shapes ? gpu_rows::Product(shape.block) : 0);
    k.registers.push_back(Count(rows, kRegisters, kMost32));
    k.shared_bytes.push_back(Count(rows, kStatic, kMost32) + Count(rows, kDynamic, kMost32));
    if (rows.HasColumn(kLocal)) k.local_bytes.push_back(Count(rows, kLocal, kMost32));
    if (has_shapes) k.shape.push_back(in.shapes.IndexOf(shape));
  });
}

void ReadKernels(Context& in) {
  Kernels& k = in.trace.kernels;
  Reserve(k, static_cast<size_t>(in.db.LastRow(kKernelTable)));
  in.parts->Read(in, kKernelTable, ReadKernelRows);
}

void ReadCopies(Context& in) {
  enum : size_t { kBytes = kOwn, kKind, kSource, kDestination };
  Activity activity(in, "CUPTI_ACTIVITY_KIND_MEMCPY", SharedAnd({"bytes", "copyKind", "srcKind", "dstKind"}));
  const Rows& rows = activity.rows();
  Copies& c = in.trace.copies;
  Reserve(c, rows.SizeHint());
  int64_t total = 0;
  while (activity.Next()) {
    const auto bytes = Bytes(activity, kBytes, total);
    if (!bytes) continue;
    if (!Append(in, activity, c)) continue;
    c.bytes.push_back(*bytes);
    c.direction.push_back(gpu_rows::CopyDirectionOf(rows.Integer(kKind, 0)));
    c.source.push_back(MemoryKindOf(rows.Integer(kSource)));
    c.destination.push_back(MemoryKindOf(rows.Integer(kDestination)));
  }
  SortByStart(c);
}

void ReadSets(Context& in) {
  enum : size_t { kBytes = kOwn, kKind };
  Activity activity(in, "CUPTI_ACTIVITY_KIND_MEMSET", SharedAnd({"bytes", "memKind"}));
  const Rows& rows = activity.rows();
  Sets& s = in.trace.sets;
  Reserve(s, rows.SizeHint());
  int64_t total = 0;
  while (activity.Next()) {
    const auto bytes = Bytes(activity, kBytes, total);
    if (!bytes) continue;
    if (!Append(in, activity, s)) continue;
    s.bytes.push_back(*bytes);
    s.memory.push_back(MemoryKindOf(rows.Integer(kKind)));
  }
  SortByStart(s);
}

void ReadGraphLaunches(Context& in) {
  enum : size_t { kExec = kOwn, kGraph };
  Activity activity(in, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", SharedAnd({"graphExecId", "graphId"}));
  const Rows& rows = activity.rows();
  GraphLaunches& g = in.trace.graph_launches;
  Reserve(g, rows.SizeHint());
  while (activity.Next()) {
    if (!Append(in, activity, g)) continue;
    g.graph.push_back(rows.Integer(kExec, rows.Integer(kGraph, 0)));
  }
  SortByStart(g);
}

void ReadSyncs(Context& in) {
  enum : size_t { kDeviceId = 2, kStreamId, kCorrelationId, kGlobalPid, kType };
  Activity activity(in, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                    {"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType"});
  const Rows& rows = activity.rows();
  Syncs& s = in.trace.syncs;
  while (activity.Next()) {
    const int64_t global_pid = rows.Integer(kGlobalPid, 0);
    s.start.push_back(activity.start());
    s.end.push_back(activity.end());
    s.process.push_back(in.hosts.Process(global_pid));
    s.device.push_back(in.devices.OfEvent(global_pid, rows.Integer(kDeviceId)).value_or(kNoIndex));
    s.stream.push_back(rows.Integer(kStreamId, 0));
    s.correlation.push_back(rows.Integer(kCorrelationId, kNoCorrelation));
    s.kind.push_back(gpu_rows::SyncKindOf(rows.Integer(kType, 0)));
  }
  SortByStart(s);
}

// Event records have a time only where the profiler was asked for it (since 2024).
void ReadEventRecords(Context& in) {
  constexpr std::string_view kTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
  Rows rows(in.db, kTable, {"timestamp", "deviceId", "streamId", "correlationId", "globalPid", "eventId"});
  CudaEvents& e = in.trace.cuda_events;
  while (rows.Next()) {
    const int64_t global_pid = rows.Integer(4, 0);
    const auto device = in.devices.OfEvent(global_pid, rows.Integer(1));
    if (!device) {
      ++in.trace.health.rows_skipped[std::string(kTable)];
      continue;
    }
    const int64_t time = rows.Integer(0, -1);
    e.time.push_back(time > 0 ? time : -1);
    e.device.push_back(*device);
    e.stream.push_back(rows.Integer(2, 0));
    e.correlation.push_back(rows.Integer(3, kNoCorrelation));
    e.process.push_back(in.hosts.Process(global_pid));
    e.event.push_back(rows.Integer(5, 0));
  }
  if (in.db.Has(kTable)) in.trace.health.rows_read[std::string(kTable)] += rows.count();
  SortByStart(e);
}

}  // namespace

void PlanGpuEvents(const Database& db, Parts& parts) { parts.Plan(db, kKernelTable, ReadKernelRows); }

void ReadGpuEvents(Context& context) {
  ReadKernels(context);
  ReadCopies(context);
  ReadSets(context);
  ReadGraphLaunches(context);
  ReadSyncs(context);
  ReadEventRecords(context);
}

// Kinds of streams: CUPTI's create flags, or in older exports the list of default streams.
void ReadStreams(Context& in) {
  Streams& s = in.trace.streams;
  const auto add = [&](std::optional<int64_t> pid, std::optional<int64_t> stream, StreamKind kind) {
    if (!pid || !stream) return;
    // Target info names the process by its plain pid.
    for (uint32_t p = 0; p < in.trace.processes.size(); ++p)
      if (in.trace.processes[p].pid == *pid) {
        s.process.push_back(p);
        s.stream.push_back(*stream);
        s.kind.push_back(kind);
      }
  };
  Rows defaults(in.db, "TARGET_INFO_CUDA_NULL_STREAM", {"processId", "streamId"});
  while (defaults.Next()) add(defaults.Integer(0), defaults.Integer(1), StreamKind::kDefault);
  Rows rows(in.db, "TARGET_INFO_CUDA_STREAM", {"processId", "streamId", "flag"});
  while (rows.Next()) {
    constexpr std::array kinds = {StreamKind::kUnknown, StreamKind::kBlocking, StreamKind::kNonBlocking,
                                  StreamKind::kDefault};
    const int64_t flag = rows.Integer(2, 0);
    if (flag > 0 && flag < static_cast<int64_t>(kinds.size()))
      add(rows.Integer(0), rows.Integer(1), kinds[static_cast<size_t>(flag)]);
  }
}

}  // namespace dladvisor::nsys
