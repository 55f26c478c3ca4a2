// SPDX-License-Identifier: Apache-2.0
// Draws small traces by hand. One process (pid 42) with a main thread (tid 42) and one device unless stated
// otherwise; rows must be added in order of start where an analysis relies on it.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/analysis/analysis.h"
#include "src/analysis/context/attribution.h"
#include "src/analysis/context/launch_join.h"
#include "src/analysis/context/op_path.h"
#include "src/analysis/context/rank_assignment.h"
#include "src/analysis/context/step_detection.h"
#include "src/analysis/context/tensor_core.h"
#include "src/analysis/ops/op.h"
#include "src/trace/trace.h"

namespace dladvisor::test {

// A kernel that uses tensor cores.
inline constexpr const char* kGemm = "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn";

class TraceBuilder {
 public:
  Trace trace;

  TraceBuilder() {
    trace.path = "drawn.sqlite";
    trace.format = "drawn";
    AddProcess(42);
    AddDevice(0);
  }

  uint32_t AddProcess(int64_t pid) {
    trace.processes.push_back({pid, "python"});
    AddThread(static_cast<uint32_t>(trace.processes.size()) - 1, pid);
    return static_cast<uint32_t>(trace.processes.size()) - 1;
  }
  uint32_t AddThread(uint32_t process, int64_t tid) {
    trace.threads.push_back({process, tid, ""});
    return static_cast<uint32_t>(trace.threads.size()) - 1;
  }
  uint32_t AddDevice(int64_t ordinal) {
    Device device;
    device.ordinal = ordinal;
    device.name = "GPU";
    device.memory_bytes = 1000;
    device.compute_major = 8;
    device.compute_minor = 0;
    trace.devices.push_back(device);
    return static_cast<uint32_t>(trace.devices.size()) - 1;
  }

  void Api(Ns start, Ns end, std::string_view name, int64_t correlation, uint32_t thread = 0) {
    ApiCalls& a = trace.api_calls;
    a.start.push_back(start);
    a.end.push_back(end);
    a.thread.push_back(thread);
    a.correlation.push_back(correlation);
    a.name.push_back(trace.names.Intern(name));
    a.result.push_back(0);
  }
  void Kernel(Ns start, Ns end, std::string_view name, int64_t correlation, uint32_t process = 0,
              uint32_t device = 0) {
    Kernels& k = trace.kernels;
    AddOperation(k, start, end, correlation, process, device);
    k.name.push_back(trace.names.Intern(name));
    k.short_name.push_back(k.name.back());
    k.grid.push_back(1);
    k.block.push_back(32);
    k.registers.push_back(16);
    k.shared_bytes.push_back(0);
  }
  // A kernel with the call that launches it.
  void Launch(Ns call, Ns start, Ns end, std::string_view name, uint32_t thread = 0, uint32_t process = 0,
              uint32_t device = 0) {
    Api(call, call + 2, "cudaLaunchKernel", ++correlation_, thread);
    Kernel(start, end, name, correlation_, process, device);
  }
  void Copy(Ns start, Ns end, int64_t bytes, CopyDirection direction, MemoryKind source,
            MemoryKind destination, int64_t correlation, uint32_t device = 0) {
    Copies& c = trace.copies;
    AddOperation(c, start, end, correlation, 0, device);
    c.bytes.push_back(bytes);
    c.direction.push_back(direction);
    c.source.push_back(source);
    c.destination.push_back(destination);
  }
  void Set(Ns start, Ns end, int64_t correlation) {
    AddOperation(trace.sets, start, end, correlation, 0, 0);
    trace.sets.bytes.push_back(1);
    trace.sets.memory.push_back(MemoryKind::kDevice);
  }
  // A graph that is traced as a whole.
  void Graph(Ns start, Ns end, int64_t graph, int64_t correlation) {
    AddOperation(trace.graph_launches, start, end, correlation, 0, 0);
    trace.graph_launches.graph.push_back(graph);
  }
  void Range(Ns start, Ns end, std::string_view name, uint32_t thread = 0, bool open = false) {
    Ranges& r = trace.ranges;
    r.start.push_back(start);
    r.end.push_back(end);
    r.thread.push_back(thread);
    r.name.push_back(trace.names.Intern(name));
    r.domain.push_back(kNoName);
    r.kind.push_back(RangeKind::kPushPop);
    r.open.push_back(open);
  }
  void Frame(Ns start, Ns end, std::string_view name, uint32_t thread = 0) {
    Frames& f = trace.frames;
    f.start.push_back(start);
    f.end.push_back(end);
    f.thread.push_back(thread);
    f.name.push_back(trace.names.Intern(name));
  }
  void Os(Ns start, Ns end, std::string_view name, uint32_t thread = 0) {
    OsCalls& o = trace.os_calls;
    o.start.push_back(start);
    o.end.push_back(end);
    o.thread.push_back(thread);
    o.name.push_back(trace.names.Intern(name));
    o.chain.push_back(kNoIndex);
  }
  void Mpi(Ns start, Ns end, std::string_view name, uint32_t thread = 0) {
    MpiCalls& m = trace.mpi_calls;
    m.start.push_back(start);
    m.end.push_back(end);
    m.thread.push_back(thread);
    m.name.push_back(trace.names.Intern(name));
    m.bytes.push_back(-1);
  }
  void Run(Ns start, Ns end, int cpu, uint32_t thread = 0) {
    CpuRuns& r = trace.cpu_runs;
    r.start.push_back(start);
    r.end.push_back(end);
    r.thread.push_back(thread);
    r.cpu.push_back(cpu);
  }
  void Sample(Ns time, std::string_view function, std::string_view caller, uint32_t thread = 0) {
    CpuSamples& s = trace.cpu_samples;
    s.time.push_back(time);
    s.thread.push_back(thread);
    s.chain.push_back(static_cast<uint32_t>(s.chains.size()));
    s.chains.push_back({trace.names.Intern(function), trace.names.Intern(caller)});
  }
  void Overhead(Ns start, Ns end, std::string_view name, uint32_t thread = 0) {
    Overheads& o = trace.overheads;
    o.start.push_back(start);
    o.end.push_back(end);
    o.thread.push_back(thread);
    o.name.push_back(trace.names.Intern(name));
  }
  void Memory(Ns time, int64_t bytes) {
    MemoryEvents& m = trace.memory_events;
    m.time.push_back(time);
    m.process.push_back(0);
    m.device.push_back(0);
    m.bytes.push_back(bytes);
    m.address.push_back(0);
    m.memory.push_back(MemoryKind::kDevice);
  }
  // What PyTorch's allocator gives a tensor or takes back; `allocated` and `reserved` -1 where unknown.
  void Tensor(Ns time, int64_t bytes, int64_t allocated = -1, int64_t reserved = -1, uint32_t thread = 0) {
    Memory(time, bytes);
    trace.memory_events.allocated.push_back(allocated);
    trace.memory_events.reserved.push_back(reserved);
    trace.memory_events.thread.push_back(thread);
  }

 private:
  static void AddOperation(GpuOperations& ops, Ns start, Ns end, int64_t correlation, uint32_t process,
                           uint32_t device) {
    ops.start.push_back(start);
    ops.end.push_back(end);
    ops.process.push_back(process);
    ops.device.push_back(device);
    ops.stream.push_back(7);
    ops.correlation.push_back(correlation);
    ops.graph_node.push_back(0);
  }

  int64_t correlation_ = 1000;
};

// The context of a drawn trace, which must outlive it.
inline Context ContextOf(const Trace& trace, const AnalysisOptions& options = {}) {
  static const AnalysisOptions defaults;
  const AnalysisOptions& chosen = options.step_range.empty() && options.pipeline.empty() && !options.steps &&
                                          !options.rank && !options.whole
                                      ? defaults
                                      : options;
  return MakeContext(trace, chosen);
}

// A range of a domain, "cpu_op" of an operator.
inline void AddRange(TraceBuilder& b, Ns start, Ns end, std::string_view name,
                     std::string_view domain = "cpu_op", uint32_t thread = 0) {
  b.Range(start, end, name, thread);
  b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern(domain));
}

}  // namespace dladvisor::test
