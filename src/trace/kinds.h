// SPDX-License-Identifier: Apache-2.0
// What kinds of things events are of and between, and the names of the kinds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dladvisor {

enum class MemoryKind : uint8_t { kUnknown, kPageable, kPinned, kDevice, kArray, kManaged };
enum class CopyDirection : uint8_t {
  kUnknown,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice,
  kPeerToPeer,
  kHostToHost,
  kUnifiedHostToDevice,
  kUnifiedDeviceToHost,
  kUnifiedDeviceToDevice,
};
enum class SyncKind : uint8_t { kUnknown, kEvent, kStreamWaitEvent, kStream, kContext };
enum class RangeKind : uint8_t { kPushPop, kStartEnd, kMark };
enum class StreamKind : uint8_t { kUnknown, kDefault, kBlocking, kNonBlocking };
std::string_view MemoryKindName(MemoryKind k);        // "pageable", "pinned", "device", ...
std::string_view CopyDirectionName(CopyDirection d);  // "host-to-device", ...
std::string_view SyncKindName(SyncKind k);            // "event", "stream-wait-event", "stream", "context"
std::string_view RangeKindName(RangeKind k);          // "PushPop", "StartEnd", "Mark"
std::string_view StreamKindName(StreamKind k);        // "default", "blocking", "non-blocking", "unknown"

// What nvidia-smi reports about a GPU, in base units: shares as ratios, bytes, watts, degrees Celsius, hertz.
enum class TelemetryMetric : uint8_t {
  kGpuUtilization,     // share of the sampling time with a kernel running
  kMemoryUtilization,  // share of it with device memory being read or written
  kMemoryUsed,
  kMemoryTotal,
  kPower,
  kPowerLimit,
  kTemperature,
  kMemoryTemperature,
  kSmClock,
  kSmClockLimit,  // highest that the GPU has
  kMemoryClock,
  kThrottledByHeat,   // share of the sampling time; 0 or 1 where only its end is looked at
  kThrottledByPower,  // as by heat
  kSmActive,          // share of cycles with a warp on a multiprocessor, mean of all (DCGM_FI_PROF_SM_ACTIVE)
  kTensorActive,      // share of cycles with the tensor cores at work (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE)
  kDramActive,        // share of cycles with device memory moving data (DCGM_FI_PROF_DRAM_ACTIVE)
};
inline constexpr size_t kTelemetryMetrics = 16;
std::string_view TelemetryMetricName(TelemetryMetric m);  // "gpu_utilization", "memory_used_bytes", ...

}  // namespace dladvisor
