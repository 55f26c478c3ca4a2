// SPDX-License-Identifier: Apache-2.0
#include "src/trace/kinds.h"

#include <array>
#include <string_view>

namespace dladvisor {

std::string_view MemoryKindName(MemoryKind k) {
  switch (k) {
    case MemoryKind::kPageable:
      return "pageable";
    case MemoryKind::kPinned:
      return "pinned";
    case MemoryKind::kDevice:
      return "device";
    case MemoryKind::kArray:
      return "array";
    case MemoryKind::kManaged:
      return "managed";
    case MemoryKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view CopyDirectionName(CopyDirection d) {
  switch (d) {
    case CopyDirection::kHostToDevice:
      return "host-to-device";
    case CopyDirection::kDeviceToHost:
      return "device-to-host";
    case CopyDirection::kDeviceToDevice:
      return "device-to-device";
    case CopyDirection::kPeerToPeer:
      return "peer-to-peer";
    case CopyDirection::kHostToHost:
      return "host-to-host";
    case CopyDirection::kUnifiedHostToDevice:
      return "unified host-to-device";
    case CopyDirection::kUnifiedDeviceToHost:
      return "unified device-to-host";
    case CopyDirection::kUnifiedDeviceToDevice:
      return "unified device-to-device";
    case CopyDirection::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view SyncKindName(SyncKind k) {
  switch (k) {
    case SyncKind::kEvent:
      return "event";
    case SyncKind::kStreamWaitEvent:
      return "stream-wait-event";
    case SyncKind::kStream:
      return "stream";
    case SyncKind::kContext:
      return "context";
    case SyncKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view RangeKindName(RangeKind k) {
  switch (k) {
    case RangeKind::kPushPop:
      return "PushPop";
    case RangeKind::kStartEnd:
      return "StartEnd";
    case RangeKind::kMark:
      break;
  }
  return "Mark";
}

std::string_view StreamKindName(StreamKind k) {
  switch (k) {
    case StreamKind::kDefault:
      return "default";
    case StreamKind::kBlocking:
      return "blocking";
    case StreamKind::kNonBlocking:
      return "non-blocking";
    case StreamKind::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view TelemetryMetricName(TelemetryMetric m) {
  static constexpr std::array<std::string_view, kTelemetryMetrics> names = {"gpu_utilization",
                                                                            "memory_utilization",
                                                                            "memory_used_bytes",
                                                                            "memory_total_bytes",
                                                                            "power_w",
                                                                            "power_limit_w",
                                                                            "temperature_c",
                                                                            "memory_temperature_c",
                                                                            "sm_clock_hz",
                                                                            "sm_clock_limit_hz",
                                                                            "memory_clock_hz",
                                                                            "throttled_by_heat",
                                                                            "throttled_by_power",
                                                                            "sm_active",
                                                                            "tensor_active",
                                                                            "dram_active"};
  return names[static_cast<size_t>(m)];
}

}  // namespace dladvisor
