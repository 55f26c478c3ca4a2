// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/measurements.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

namespace {

void ReadMemoryEvents(Context& in) {
  enum : size_t { kGlobalPid = 1, kDevice, kBytes, kKind, kOperation, kAddress };
  Activity activity(in, "CUDA_GPU_MEMORY_USAGE_EVENTS",
                    {"start", "globalPid", "deviceId", "bytes", "memKind", "memoryOperationType", "address"},
                    Activity::End::kNone);
  const Rows& rows = activity.rows();
  MemoryEvents& m = in.trace.memory_events;
  while (activity.Next()) {
    const int64_t global_pid = rows.Integer(kGlobalPid, 0);
    const auto device = in.devices.OfEvent(global_pid, rows.Integer(kDevice));
    const int64_t bytes = rows.Integer(kBytes, -1);
    const int64_t operation = rows.Integer(kOperation, -1);  // 0 allocation, 1 deallocation
    if (!device || bytes < 0 || bytes > gpu_rows::kMostBytes || (operation != 0 && operation != 1)) {
      activity.Skip();
      continue;
    }
    m.time.push_back(activity.start());
    m.process.push_back(in.hosts.Process(global_pid));
    m.device.push_back(*device);
    m.bytes.push_back(operation == 0 ? bytes : -bytes);
    m.address.push_back(rows.Integer(kAddress, 0));
    m.memory.push_back(MemoryKindOf(rows.Integer(kKind)));
  }
  SortByStart(m);
}

void ReadPageFaults(Context& in) {
  PageFaults& f = in.trace.page_faults;
  const auto read = [&](std::string_view table, bool on_gpu) {
    enum : size_t { kGlobalPid = 2, kDevice, kFaults };
    Activity activity(in, table, {"start", "end", "globalPid", "deviceId", "numberOfPageFaults"},
                      Activity::End::kOptional);
    const Rows& rows = activity.rows();
    while (activity.Next()) {
      const int64_t global_pid = rows.Integer(kGlobalPid, 0);
      const auto device =
          on_gpu ? in.devices.OfEvent(global_pid, rows.Integer(kDevice)) : std::optional<uint32_t>(kNoIndex);
      if (!device) {
        activity.Skip();
        continue;
      }
      f.start.push_back(activity.start());
      f.end.push_back(activity.end());
      f.process.push_back(in.hosts.Process(global_pid));
      f.device.push_back(*device);
      f.faults.push_back(Count(rows, kFaults, int64_t{1} << 32));
      if (f.faults.back() == 0) f.faults.back() = 1;  // a row is at least one fault
    }
  };
  read("CUDA_UM_GPU_PAGE_FAULT_EVENTS", true);
  read("CUDA_UM_CPU_PAGE_FAULT_EVENTS", false);
  SortByStart(f);
}

void ReadGpuMetrics(Context& in) {
  std::map<std::pair<int64_t, int64_t>, NameId> names;  // (type, metric)
  Rows info(in.db, "TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"});
  while (info.Next()) {
    const auto type = info.Integer(0), metric = info.Integer(1);
    if (type && metric) names[{*type, *metric}] = in.names.Of(info, 2);
  }

  enum : size_t { kType = 1, kMetric, kValue };
  Activity activity(in, "GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, Activity::End::kNone);
  const Rows& rows = activity.rows();
  GpuMetrics& g = in.trace.gpu_metrics;
  Reserve(g, rows.SizeHint());
  while (activity.Next()) {
    const auto type = rows.Integer(kType), metric = rows.Integer(kMetric);
    const auto value = rows.Real(kValue);
    const auto name = type && metric ? names.find({*type, *metric}) : names.end();
    const auto device = type ? in.devices.OfGpu(*type & 0xFF) : std::nullopt;  // the low byte is the GPU's id
    if (name == names.end() || !value || !device) {
      activity.Skip();
      continue;
    }
    g.time.push_back(activity.start());
    g.device.push_back(*device);
    g.metric.push_back(name->second);
    g.value.push_back(*value);
  }
  SortByStart(g);
}

}  // namespace

void ReadMeasurements(Context& context) {
  ReadMemoryEvents(context);
  ReadPageFaults(context);
  ReadGpuMetrics(context);
}

}  // namespace dladvisor::nsys
