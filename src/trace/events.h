// SPDX-License-Identifier: Apache-2.0
// The tables of events, and beside each the list of its columns, from which all that handles columns one by
// one follows (event_column.h). A column that is missing from its list does not compile.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/base/int_column.h"
#include "engine/base/string_pool.h"
#include "src/trace/event_column.h"
#include "src/trace/kinds.h"

namespace dladvisor {

using Ns = int64_t;
inline constexpr uint32_t kNoIndex = std::numeric_limits<uint32_t>::max();
inline constexpr int64_t kNoCorrelation = -1;

// What all operations on a GPU share. `correlation` joins with ApiCalls of the same process.
struct GpuOperations {
  std::vector<Ns> start, end;
  IndexColumn process, device;
  IntColumn stream, correlation;
  IntColumn graph_node;  // CUDA graph node id, 0 where launched directly

  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&GpuOperations::start, StartColumn());
    visit(&GpuOperations::end, EndColumn());
    visit(&GpuOperations::process, ProcessColumn("Process that launched it."));
    visit(&GpuOperations::device, DeviceColumn());
    visit(&GpuOperations::stream, Shown("stream", Unit::kNone, "CUDA stream."));
    visit(&GpuOperations::correlation,
          Shown("correlation", Unit::kNone, "Joins with api_call of the same pid."));
    visit(&GpuOperations::graph_node, Hidden());
  }
  size_t size() const { return start.size(); }
};

// Dimensions x, y, z of a kernel's grid, in blocks, and of its blocks, in threads.
struct LaunchShape {
  std::array<int64_t, 3> grid{}, block{};
  auto operator<=>(const LaunchShape&) const = default;
};

struct Kernels : GpuOperations {
  std::vector<NameId> name;         // demangled, with template arguments
  IndexColumn short_name;           // of names: base name
  IntColumn grid, block;            // number of blocks; threads per block
  IntColumn registers;              // per thread
  IntColumn shared_bytes;           // static plus dynamic, per block
  IntColumn local_bytes;            // of local (scratch) memory per thread, -1 where unknown; empty as below
  IntColumn shape;                  // index into `shapes`; empty where the source has no dimensions
  std::vector<LaunchShape> shapes;  // each once
  // As PyTorch's profiler estimates them, -1 where it does not; empty where the source has none.
  std::vector<float> blocks_per_sm, occupancy;  // blocks by SMs; percent of the SM's warps
  IntColumn collective;                         // index into Trace::collectives; empty as above, 0 for none
  // The same on all ranks of a collective and different for each of a process group, as the framework numbers
  // them; empty as above, 0 where unknown.
  IntColumn collective_number;

  static constexpr EventTable kTable = {"kernel", "One row per kernel execution."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    GpuOperations::ForEachColumn(visit);
    visit(&Kernels::name, NameColumn("name", "Demangled name."));
    visit(&Kernels::short_name, NameColumn("short_name", "Name without template arguments."));
    visit(&Kernels::grid, Shown("grid", Unit::kCount, "Thread blocks."));
    visit(&Kernels::block, Shown("block", Unit::kCount, "Threads per block."));
    visit(&Kernels::registers, Shown("registers", Unit::kCount, "Registers per thread."));
    visit(&Kernels::shared_bytes, Shown("shared_bytes", Unit::kBytes, "Shared memory per block."));
    visit(&Kernels::local_bytes, Hidden().MayBeEmpty());
    visit(&Kernels::shape, Hidden(ColumnKind::kShape).MayBeEmpty());
    visit(&Kernels::blocks_per_sm, Hidden().MayBeEmpty());
    visit(&Kernels::occupancy, Hidden().MayBeEmpty());
    visit(&Kernels::collective, Hidden(ColumnKind::kCollective).MayBeEmpty());
    visit(&Kernels::collective_number, Hidden().MayBeEmpty());
  }
};

// The largest number a tensor holds is a complex double.
inline constexpr int64_t kScalarBytes = 16;
// Whether a copy is of at most so many bytes. One whose size is not recorded, 0, is of none.
constexpr bool IsOfAtMost(int64_t bytes, int64_t most) { return bytes > 0 && bytes <= most; }

struct Copies : GpuOperations {
  std::vector<int64_t> bytes;  // 0 where it is not recorded
  std::vector<CopyDirection> direction;
  std::vector<MemoryKind> source, destination;
  // Bytes per second as recorded by PyTorch's profiler, from exact times where those of the trace are
  // rounded; -1 where it has none, empty where the source has none.
  std::vector<float> bandwidth;

  static constexpr EventTable kTable = {"memcpy", "One row per memory copy."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    GpuOperations::ForEachColumn(visit);
    visit(&Copies::bytes, Shown("bytes", Unit::kBytes, "Bytes copied."));
    visit(&Copies::direction, Shown("direction", Unit::kText, "Direction, e.g. host-to-device."));
    visit(&Copies::source, Shown("source", Unit::kText, "Kind of the source memory."));
    visit(&Copies::destination, Shown("destination", Unit::kText, "Kind of the destination memory."));
    visit(&Copies::bandwidth, Hidden().MayBeEmpty());
  }
};

struct Sets : GpuOperations {
  std::vector<int64_t> bytes;
  std::vector<MemoryKind> memory;
  std::vector<float> bandwidth;  // as of copies

  static constexpr EventTable kTable = {"memset", "One row per memory set."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    GpuOperations::ForEachColumn(visit);
    visit(&Sets::bytes, Shown("bytes", Unit::kBytes, "Bytes set."));
    visit(&Sets::memory, Hidden());
    visit(&Sets::bandwidth, Hidden().MayBeEmpty());
  }
};

// A CUDA graph launch traced as a whole (graph mode hides its kernels).
struct GraphLaunches : GpuOperations {
  std::vector<int64_t> graph;  // graph exec id

  static constexpr EventTable kTable = {"graph_launch", "One row per CUDA graph launch traced as a whole."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    GpuOperations::ForEachColumn(visit);
    visit(&GraphLaunches::graph, Shown("graph", Unit::kNone, "Graph exec id."));
  }
};

// CUDA runtime and driver calls.
struct ApiCalls {
  std::vector<Ns> start, end;
  IndexColumn thread;
  IntColumn correlation;
  std::vector<NameId> name;  // as recorded, e.g. "cudaLaunchKernel_v7000"
  IntColumn result;

  static constexpr EventTable kTable = {"api_call", "One row per CUDA runtime or driver call."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&ApiCalls::start, StartColumn());
    visit(&ApiCalls::end, EndColumn());
    visit(&ApiCalls::thread, ThreadColumn());
    visit(&ApiCalls::name, NameColumn("name", "Function, as recorded."));
    visit(&ApiCalls::correlation, Shown("correlation", Unit::kNone, "Joins with GPU work of the same pid."));
    visit(&ApiCalls::result, Shown("result", Unit::kNone, "CUDA status; 0 is success."));
  }
  size_t size() const { return start.size(); }
};

// Synchronisation activities as CUPTI records them: the host waits from start to end.
struct Syncs {
  std::vector<Ns> start, end;
  IndexColumn process, device;
  IntColumn stream, correlation;
  std::vector<SyncKind> kind;
  // Of the call that recorded the event waited for; 0 where not recorded, empty where the source has none.
  IntColumn record_correlation;

  static constexpr EventTable kTable = {"sync", "One row per synchronisation activity."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&Syncs::start, StartColumn());
    visit(&Syncs::end, EndColumn());
    visit(&Syncs::process, ProcessColumn());
    visit(&Syncs::device, DeviceColumn());
    visit(&Syncs::stream, Shown("stream", Unit::kNone, "CUDA stream."));
    visit(&Syncs::correlation, Hidden());
    visit(&Syncs::kind, Shown("kind", Unit::kText, "event, stream-wait-event, stream or context."));
    visit(&Syncs::record_correlation, Hidden().MayBeEmpty());
  }
  size_t size() const { return start.size(); }
};

// Annotations of the host program: NVTX ranges and marks, framework operators. PyTorch's profiler marks them
// by `domain`: "cpu_op", "user_annotation" and "nn.Module", a module's call.
struct Ranges {
  std::vector<Ns> start, end;  // a range never popped ends with the last event of its thread; `open` marks it
  IndexColumn thread;
  std::vector<NameId> name;
  IndexColumn domain;  // of names
  std::vector<RangeKind> kind;
  IntColumn open;
  // Of operators, empty where the source has none: an index into Trace::operator_arguments, 0 for none;
  // autograd's number that a forward operator and its backward share, -1 for none; the thread of the forward
  // operator as autograd numbers them, 0 but for backward operators.
  IntColumn arguments, sequence, forward_thread;

  static constexpr EventTable kTable = {"range",
                                        "One row per annotation of the program (NVTX, framework operator)."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&Ranges::start, StartColumn());
    visit(&Ranges::end, EndColumn());
    visit(&Ranges::thread, ThreadColumn());
    visit(&Ranges::name, NameColumn("name", "Text of the annotation."));
    visit(&Ranges::domain, DomainColumn("domain", "NVTX domain, empty for the default one."));
    visit(&Ranges::kind, Shown("style", Unit::kText, "PushPop, StartEnd or Mark."));
    visit(&Ranges::open, Shown("open", Unit::kNone, "1 where the range was never closed."));
    visit(&Ranges::arguments, ArgumentsColumn().MayBeEmpty());
    visit(&Ranges::sequence, Shown("sequence", Unit::kNone,
                                   "Autograd's number, which a forward operator and its backward share.")
                                 .UnknownIfNegative()
                                 .MayBeEmpty());
    visit(&Ranges::forward_thread, Hidden().MayBeEmpty());
  }
  size_t size() const { return start.size(); }
};

// What an operator was called with, as PyTorch's profiler records it, in JSON; kNoName where it did not.
struct OperatorArguments {
  NameId shapes = kNoName;   // "[[32, 3, 224, 224], [64, 3, 7, 7], [], ...]", one per argument
  NameId types = kNoName;    // `["float", "float", "", "Scalar", ...]`
  NameId strides = kNoName;  // as shapes
  NameId values = kNoName;   // of scalars: `["", "", "[2, 2]", "True", ...]`
  NameId stack = kNoName;    // Python lines, innermost first, separated by ';'
  NameId module = kNoName;   // path of modules
  uint32_t collective = 0;   // index into Trace::collectives, 0 for none
  auto operator<=>(const OperatorArguments&) const = default;
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
  IndexColumn thread;
  std::vector<NameId> name;  // "train.py(123): step"

  static constexpr EventTable kTable = {"python_frame",
                                        "One row per call of a Python function, where they were traced."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&Frames::start, StartColumn());
    visit(&Frames::end, EndColumn());
    visit(&Frames::thread, ThreadColumn());
    visit(&Frames::name, NameColumn("name", "File, line and function."));
  }
  size_t size() const { return start.size(); }
};

// Functions on a thread's stack, innermost first.
// The frame that stands for the driver's compiler of PTX, whose library has no symbols.
inline constexpr std::string_view kPtxCompiler = "libnvidia-ptxjitcompiler";

using CallChains = std::vector<std::vector<NameId>>;

// Operating-system calls, each with its call chain where one was recorded (index into `chains`, or kNoIndex).
struct OsCalls {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;
  std::vector<uint32_t> chain;
  CallChains chains;

  static constexpr EventTable kTable = {"os_call", "One row per traced operating-system call."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&OsCalls::start, StartColumn());
    visit(&OsCalls::end, EndColumn());
    visit(&OsCalls::thread, ThreadColumn());
    visit(&OsCalls::name, NameColumn("name", "Function."));
    visit(&OsCalls::chain, ChainColumn("What called it, innermost first; unknown for short calls."));
  }
  size_t size() const { return start.size(); }
};

// Periodic samples of what a thread executed; `chain` as in OsCalls.
struct CpuSamples {
  std::vector<Ns> time;
  std::vector<uint32_t> thread, chain;
  CallChains chains;

  static constexpr EventTable kTable = {"cpu_sample", "One row per sample of what a thread executed."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&CpuSamples::time, TimeColumn());
    visit(&CpuSamples::thread, ThreadColumn());
    visit(&CpuSamples::chain, ChainColumn("What called it, innermost first."));
  }
  size_t size() const { return time.size(); }
};

// Times in which a thread was on a CPU (context switches). In order of start; of one thread they do not
// overlap.
struct CpuRuns {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<int32_t> cpu;

  static constexpr EventTable kTable = {"cpu_run", "One row per time that a thread was on a CPU."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&CpuRuns::start, StartColumn());
    visit(&CpuRuns::end, EndColumn());
    visit(&CpuRuns::thread, ThreadColumn());
    visit(&CpuRuns::cpu, Shown("cpu", Unit::kNone, "CPU."));
  }
  size_t size() const { return start.size(); }
};

// Calls of communication libraries on the host: MPI, UCX, OpenSHMEM.
struct MpiCalls {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;
  std::vector<int64_t> bytes;  // -1 where not recorded

  static constexpr EventTable kTable = {"mpi_call", "One row per call of MPI, UCX or OpenSHMEM."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&MpiCalls::start, StartColumn());
    visit(&MpiCalls::end, EndColumn());
    visit(&MpiCalls::thread, ThreadColumn());
    visit(&MpiCalls::name, NameColumn("name", "Function."));
    visit(&MpiCalls::bytes, Shown("bytes", Unit::kBytes, "Size of the message.").UnknownIfNegative());
  }
  size_t size() const { return start.size(); }
};

// Page faults of unified memory.
struct PageFaults {
  std::vector<Ns> start, end;             // the end is the start where it is not recorded
  std::vector<uint32_t> process, device;  // device kNoIndex for faults of the CPU
  std::vector<int64_t> faults;

  static constexpr EventTable kTable = {"page_fault", "One row per page-fault event of unified memory."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&PageFaults::start, StartColumn());
    visit(&PageFaults::end, EndColumn());
    visit(&PageFaults::process, ProcessColumn());
    visit(&PageFaults::device, DeviceColumn("CUDA device ordinal; unknown for faults of the CPU."));
    visit(&PageFaults::faults, Shown("faults", Unit::kCount, "Page faults."));
  }
  size_t size() const { return start.size(); }
};

// Samples of network counters, one row per sample, adapter and metric.
struct NetworkMetrics {
  std::vector<Ns> time;
  std::vector<NameId> adapter, metric;
  std::vector<double> value;

  static constexpr EventTable kTable = {"network_sample",
                                        "One row per sample of a network adapter's counter."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&NetworkMetrics::time, TimeColumn());
    visit(&NetworkMetrics::adapter, NameColumn("adapter", "Network adapter; empty where not known."));
    visit(&NetworkMetrics::metric, NameColumn("metric", "Metric, as the profiler names it."));
    visit(&NetworkMetrics::value, Shown("value", Unit::kNone, "Value, in the metric's own unit."));
  }
  size_t size() const { return time.size(); }
};

// CUDA streams whose kind the profile records. The default stream waits for blocking ones, and they for it.
struct Streams {
  std::vector<uint32_t> process;
  std::vector<int64_t> stream;
  std::vector<StreamKind> kind;

  static constexpr EventTable kTable = {"stream", ""};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&Streams::process, Hidden(ColumnKind::kProcess));
    visit(&Streams::stream, Hidden());
    visit(&Streams::kind, Hidden());
  }
  size_t size() const { return stream.size(); }
};

// Time that the profiler itself took on a thread.
struct Overheads {
  std::vector<Ns> start, end;
  std::vector<uint32_t> thread;
  std::vector<NameId> name;

  static constexpr EventTable kTable = {"overhead", "One row per interval that the profiler itself took."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&Overheads::start, StartColumn());
    visit(&Overheads::end, EndColumn());
    visit(&Overheads::thread, ThreadColumn());
    visit(&Overheads::name, NameColumn("name", "What the profiler did."));
  }
  size_t size() const { return start.size(); }
};

// CUDA event records: when an event was recorded on a stream.
struct CudaEvents {
  IndexColumn process, device;
  IntColumn stream, correlation, event;
  std::vector<Ns> time;  // -1 where the profile does not record it

  static constexpr EventTable kTable = {"cuda_event", ""};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&CudaEvents::time, TimeColumn().UnknownIfNegative());
    visit(&CudaEvents::process, ProcessColumn());
    visit(&CudaEvents::device, DeviceColumn());
    visit(&CudaEvents::stream, Hidden());
    visit(&CudaEvents::correlation, Hidden());
    visit(&CudaEvents::event, Hidden());
  }
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

  static constexpr EventTable kTable = {"memory_event",
                                        "One row per allocation (positive) or free (negative) of memory."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&MemoryEvents::time, TimeColumn());
    visit(&MemoryEvents::process, ProcessColumn());
    visit(&MemoryEvents::thread,
          ThreadColumn("Thread that it was recorded on, where the profiler records it.").MayBeEmpty());
    visit(&MemoryEvents::device, DeviceColumn());
    visit(&MemoryEvents::bytes, Shown("bytes", Unit::kBytes, "Bytes allocated; negative where freed."));
    visit(&MemoryEvents::address, Hidden());
    visit(&MemoryEvents::memory, Shown("memory", Unit::kText, "Kind of memory."));
    visit(&MemoryEvents::allocated,
          Shown("allocated_bytes", Unit::kBytes, "What PyTorch's tensors take on the device then.")
              .UnknownIfNegative()
              .MayBeEmpty());
    visit(&MemoryEvents::reserved,
          Shown("reserved_bytes", Unit::kBytes, "What its allocator has reserved there.")
              .UnknownIfNegative()
              .MayBeEmpty());
  }
  size_t size() const { return time.size(); }
};

// Samples of hardware counters (nsys --gpu-metrics), one row per sample and metric.
struct GpuMetrics {
  std::vector<Ns> time;
  std::vector<uint32_t> device;
  std::vector<NameId> metric;
  std::vector<double> value;

  static constexpr EventTable kTable = {"gpu_sample", "One row per sample of a GPU's hardware counter."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&GpuMetrics::time, TimeColumn());
    visit(&GpuMetrics::device, DeviceColumn());
    visit(&GpuMetrics::metric, NameColumn("metric", "Metric, as the profiler names it."));
    visit(&GpuMetrics::value, Shown("value", Unit::kNone, "Value, in the metric's own unit."));
  }
  size_t size() const { return time.size(); }
};

// One row per sample and metric, in order of time.
struct Telemetry {
  std::vector<Ns> time;          // -1 where the source has none
  std::vector<uint32_t> sample;  // metrics that were read together share it
  std::vector<uint32_t> device;
  std::vector<TelemetryMetric> metric;
  std::vector<double> value;

  static constexpr EventTable kTable = {"telemetry_sample",
                                        "One row per sample that nvidia-smi reported about a GPU."};
  template <class Visit>
  static constexpr void ForEachColumn(Visit visit) {
    visit(&Telemetry::time,
          TimeColumn("Time since the first sample; unknown where the log has no times.").UnknownIfNegative());
    visit(&Telemetry::sample, Shown("sample", Unit::kNone, "Metrics that were read together share it."));
    visit(&Telemetry::device, DeviceColumn("Index of the GPU, as nvidia-smi numbers it."));
    visit(&Telemetry::metric, Shown("metric", Unit::kText, "Metric, as in telemetry."));
    visit(&Telemetry::value, Shown("value", Unit::kNone, "Value, in the metric's base unit."));
  }
  size_t size() const { return time.size(); }
};

}  // namespace dladvisor
