// A Trace: what one profile file recorded, normalised. Importers fill it, analyses read it; nothing else
// knows a profiler's format.
//
// Shapes and units: events are structs of arrays, one row per event, sorted by start; times are int64
// nanoseconds on one clock per profile (the profiler's own session clock); names are ids into `names`.
// Rows refer to processes, threads and devices by index into the vectors of this struct. Correlation ids are
// only unique within a process: join on (process, correlation).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/int_column.h"
#include "src/trace/string_pool.h"
#include "src/trace/training_log.h"

namespace dladvisor {

using Ns = int64_t;
inline constexpr uint32_t kNoIndex = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kNoCorrelation = -1;

struct Process {
  int64_t pid = 0;
  std::string name;  // "" where unknown
};

struct Thread {
  uint32_t process = kNoIndex;
  int64_t tid = 0;
  std::string name;
};

// A CUDA device as the profiled processes number it. Unknown numbers are nullopt.
struct Device {
  int64_t ordinal = 0;  // the device id in kernel and copy rows
  std::string name;     // "" where the profile does not tell
  std::optional<int64_t> sm_count, memory_bytes, memory_bandwidth, l2_bytes, clock_hz;  // bandwidth: bytes/s
  std::optional<int64_t> compute_major, compute_minor;
  std::string bus, uuid;
};

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
std::string_view StreamKindName(StreamKind k);        // "default", "blocking", "non-blocking", "unknown"

// What all operations on a GPU share. `correlation` joins with ApiCalls of the same process.
struct GpuOps {
  std::vector<Ns> start, end;
  std::vector<uint32_t> process, device;  // indices
  IntColumn stream, correlation;
  IntColumn graph_node;  // CUDA graph node id, 0 where launched directly
  size_t size() const { return start.size(); }
};

// Dimensions x, y, z of a kernel's grid, in blocks, and of its blocks, in threads.
struct LaunchShape {
  std::array<int64_t, 3> grid{}, block{};
  auto operator<=>(const LaunchShape&) const = default;
};

struct Kernels : GpuOps {
  std::vector<NameId> name;         // demangled, with template arguments
  std::vector<NameId> short_name;   // base name
  IntColumn grid, block;            // number of blocks; threads per block
  IntColumn registers;              // per thread
  IntColumn shared_bytes;           // static plus dynamic, per block
  IntColumn shape;                  // index into `shapes`; empty where the source tells no dimensions
  std::vector<LaunchShape> shapes;  // each once
  // As PyTorch's profiler estimates them, -1 where it does not; empty where the source has none.
  std::vector<float> blocks_per_sm, occupancy;  // blocks by SMs; percent of the SM's warps
  IntColumn collective;                         // index into Trace::collectives; empty as above, 0 for none
};

struct Copies : GpuOps {
  std::vector<int64_t> bytes;
  std::vector<CopyDirection> direction;
  std::vector<MemoryKind> source, destination;
  // Bytes per second as PyTorch's profiler tells them, of exact times where those of the trace are rounded;
  // -1 where it does not, empty where the source has none.
  std::vector<float> bandwidth;
};

struct Sets : GpuOps {
  std::vector<int64_t> bytes;
  std::vector<MemoryKind> memory;
  std::vector<float> bandwidth;  // as of copies
};

// A CUDA graph launch traced as a whole (graph mode hides its kernels).
struct GraphLaunches : GpuOps {
  std::vector<int64_t> graph;  // graph exec id
};

// CUDA runtime and driver calls.
struct ApiCalls {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  IntColumn correlation;
  std::vector<NameId> name;  // as recorded, e.g. "cudaLaunchKernel_v7000"
  IntColumn result;
  size_t size() const { return start.size(); }
};

// Synchronisation activities as CUPTI records them: the host waits from start to end.
struct Syncs {
  std::vector<Ns> start, end;
  std::vector<uint32_t> process, device;
  IntColumn stream, correlation;
  std::vector<SyncKind> kind;
  size_t size() const { return start.size(); }
};

// Annotations of the host program: NVTX ranges and marks, framework operators. PyTorch's profiler tells
// which they are by `domain`: "cpu_op", "user_annotation" and "nn.Module", a module's call.
struct Ranges {
  std::vector<Ns> start, end;  // a range never popped ends with the last event of its thread; `open` marks it
  std::vector<uint32_t> thread, end_thread;
  std::vector<NameId> name, domain;
  std::vector<RangeKind> kind;
  std::vector<uint8_t> open;
  // Of operators, empty where the source has none: an index into Trace::op_arguments, 0 for none; autograd's
  // number that a forward operator and its backward share, -1 for none; the thread of the forward operator as
  // autograd numbers them, 0 but for backward operators.
  IntColumn arguments, sequence, forward_thread;
  size_t size() const { return start.size(); }
};

// What an operator was called with, as PyTorch's profiler records it, in JSON; kNoName where it did not.
struct OpArguments {
  NameId shapes = kNoName;   // "[[32, 3, 224, 224], [64, 3, 7, 7], [], ...]", one per argument
  NameId types = kNoName;    // `["float", "float", "", "Scalar", ...]`
  NameId strides = kNoName;  // as shapes
  NameId values = kNoName;   // of scalars: `["", "", "[2, 2]", "True", ...]`
  NameId stack = kNoName;    // Python lines, innermost first, separated by ';'
  NameId module = kNoName;   // path of modules
  uint32_t collective = 0;   // index into Trace::collectives, 0 for none
  auto operator<=>(const OpArguments&) const = default;
};

// A collective as the framework describes it. Sizes are -1 and names kNoName where it does not.
struct Collective {
  NameId name = kNoName;                          // "allreduce", "all_to_allv", ...
  NameId dtype = kNoName;                         // "Float", "BFloat16", ...
  NameId group = kNoName, group_ranks = kNoName;  // name of the process group; "[0, 1, 2]"
  int64_t group_size = -1;
  int64_t in_elements = -1, out_elements = -1;  // of this rank
  auto operator<=>(const Collective&) const = default;
};

// Python functions on the stack, where they were traced. Calls of modules are ranges, not frames.
struct Frames {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;  // "train.py(123): step"
  size_t size() const { return start.size(); }
};

// Functions on a thread's stack, innermost first.
using CallChains = std::vector<std::vector<NameId>>;

// Operating-system calls, each with its call chain where one was recorded (index into `chains`, or kNoIndex).
struct OsCalls {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;
  std::vector<uint32_t> chain;
  CallChains chains;
  size_t size() const { return start.size(); }
};

// Periodic samples of what a thread executed; `chain` as in OsCalls.
struct CpuSamples {
  std::vector<Ns> time;
  std::vector<uint32_t> thread, chain;
  CallChains chains;
  size_t size() const { return time.size(); }
};

// Times in which a thread was on a CPU (context switches). In order of start; of one thread they do not
// overlap.
struct CpuRuns {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<int32_t> cpu;
  size_t size() const { return start.size(); }
};

// Calls of communication libraries on the host: MPI, UCX, OpenSHMEM.
struct MpiCalls {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;
  std::vector<int64_t> bytes;  // -1 where not recorded
  size_t size() const { return start.size(); }
};

// Page faults of unified memory.
struct PageFaults {
  std::vector<Ns> start, end;             // the end is the start where it is not recorded
  std::vector<uint32_t> process, device;  // device kNoIndex for faults of the CPU
  std::vector<int64_t> faults;
  size_t size() const { return start.size(); }
};

// Samples of network counters, one row per sample, adapter and metric.
struct NetworkMetrics {
  std::vector<Ns> time;
  std::vector<NameId> adapter, metric;
  std::vector<double> value;
  size_t size() const { return time.size(); }
};

// CUDA streams whose kind the profile tells. The default stream waits for blocking ones, and they for it.
struct Streams {
  std::vector<uint32_t> process;
  std::vector<int64_t> stream;
  std::vector<StreamKind> kind;
  size_t size() const { return stream.size(); }
};

// Time that the profiler itself took on a thread.
struct Overheads {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;
  size_t size() const { return start.size(); }
};

// CUDA event records: when an event was recorded on a stream.
struct CudaEvents {
  std::vector<uint32_t> process, device;
  IntColumn stream, correlation, event;
  std::vector<Ns> time;  // -1 where the profile does not tell
  size_t size() const { return process.size(); }
};

// Allocations (positive bytes) and frees (negative) of device memory.
struct MemoryEvents {
  std::vector<Ns> time;
  std::vector<uint32_t> process, device;
  std::vector<int64_t> bytes;
  std::vector<int64_t> address;
  std::vector<MemoryKind> memory;
  // Of PyTorch's allocator after the event, on that device; empty where the source has none. Such events are
  // of tensors, not of the driver's memory; device kNoIndex for those on the host.
  std::vector<int64_t> allocated, reserved;
  std::vector<uint32_t> thread;  // that it was recorded on; empty where the source has none
  size_t size() const { return time.size(); }
};

// Samples of hardware counters (nsys --gpu-metrics), one row per sample and metric.
struct GpuMetrics {
  std::vector<Ns> time;
  std::vector<uint32_t> device;
  std::vector<NameId> metric;
  std::vector<double> value;
  size_t size() const { return time.size(); }
};

// What nvidia-smi tells of a GPU, in base units: shares as ratios, bytes, watts, degrees Celsius, hertz.
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
};
inline constexpr size_t kTelemetryMetrics = 13;
std::string_view TelemetryMetricName(TelemetryMetric m);  // "gpu_utilization", "memory_used_bytes", ...

// One row per sample and metric, in order of time.
struct Telemetry {
  std::vector<Ns> time;          // -1 where the source tells none
  std::vector<uint32_t> sample;  // metrics that were read together share it
  std::vector<uint32_t> device;
  std::vector<TelemetryMetric> metric;
  std::vector<double> value;
  size_t size() const { return time.size(); }
};

struct Diagnostic {
  Ns time = 0;
  int severity = 0;  // as recorded; nsys: 1 information, 2 warning, 3 error
  std::string text;
};

// How well the profile was recorded and read.
struct CaptureHealth {
  std::map<std::string, int64_t> rows_read, rows_skipped;  // by table of the source
  std::vector<std::string> missing_tables;                 // of those that hold GPU or host activity
  std::vector<std::string> notes;                          // one sentence each, for the reader
  bool truncated = false;                                  // the file's end is missing
  int64_t out_of_order = 0, negative_durations = 0;
  std::vector<Diagnostic> diagnostics;
};

struct Trace {
  // Source.
  std::string path;              // as given by the user
  std::string format;            // "nsys", "kineto", "nvidia-smi", "training log", ...
  std::string producer_version;  // of the profiler, "" where unknown
  std::string schema_version;
  std::optional<int64_t> clock_origin_utc_ns;  // UTC of time 0
  std::optional<Ns> session_duration_ns;       // length of the capture

  // System. `facts` holds what the profile says of the host: cpu, driver, cuda, framework, hostname, os, ...
  std::map<std::string, std::string> facts;
  std::map<std::string, std::string> environment;  // variables of the profiled process
  std::vector<std::string> command;                // program and arguments, empty where unknown
  std::map<std::string, std::string> capture_options;
  std::optional<int64_t> rank, world_size;  // of the distributed job, where the profile tells

  StringPool names;
  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;

  Kernels kernels;
  Copies copies;
  Sets sets;
  GraphLaunches graph_launches;
  ApiCalls api_calls;
  Syncs syncs;
  Ranges ranges;
  std::vector<OpArguments> op_arguments;  // each once; the first is that of none
  std::vector<Collective> collectives;    // each once; the first is none
  Frames frames;
  OsCalls os_calls;
  CpuSamples cpu_samples;
  CpuRuns cpu_runs;
  MpiCalls mpi_calls;
  PageFaults page_faults;
  NetworkMetrics network_metrics;
  Streams streams;
  Overheads overheads;
  CudaEvents cuda_events;
  MemoryEvents memory_events;
  GpuMetrics gpu_metrics;
  Telemetry telemetry;
  TrainingLog training_log;

  CaptureHealth health;
};

}  // namespace dladvisor
