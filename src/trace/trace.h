// SPDX-License-Identifier: Apache-2.0
// A Trace: what one profile file recorded, normalised. Importers fill it, analyses read it; nothing else
// knows a profiler's format. The contract, which CheckTrace() (check_trace.h) checks:
//
// - Events are structs of arrays (events.h), one row per event. All columns of a table have as many rows, but
//   those that may be empty where the source has none.
// - Times are int64 nanoseconds on one clock per profile, the profiler's own session clock. A row ends when
//   it starts or later.
// - Rows are in order of start; ranges that start together begin with the longest, which encloses the others.
// - A time that is not known is -1, in tables that allow it.
// - Names are ids into `names`.
// - Rows refer to processes, threads and devices by index into the vectors of this struct, kNoIndex
//   where that is not known; likewise to shapes, call chains, arguments and collectives.
// - Devices are in order of their ordinals, which differ.
// - Correlation ids are only unique within a process: join on (process, correlation).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/string_pool.h"
#include "src/trace/events.h"
#include "src/trace/program_output.h"
#include "src/trace/program_spans.h"
#include "src/trace/serving_progress.h"
#include "src/trace/summary_table.h"
#include "src/trace/training_progress.h"

namespace dladvisor {

struct Process {
  int64_t pid = 0;
  std::string name;  // "" where unknown
};

struct Thread {
  uint32_t process = kNoIndex;
  int64_t tid = 0;
  std::string name;
  bool is_worker = false;  // of a runtime: it runs what other threads hand to it, and waits in between
};

// A CUDA device as the profiled processes number it. Unknown numbers are nullopt.
struct Device {
  int64_t ordinal = 0;  // the device id in kernel and copy rows
  std::string name;     // "" where the profile does not record it
  std::optional<int64_t> sm_count, memory_bytes, memory_bandwidth, l2_bytes, clock_hz;  // bandwidth: bytes/s
  std::optional<int64_t> compute_major, compute_minor;
  std::string bus, uuid;
  bool amd = false;  // made by AMD, as its runtime or its properties show; false where neither does
  // Of a multiprocessor, as the driver states it.
  std::optional<int64_t> shared_bytes_per_sm = {}, threads_per_sm = {}, blocks_per_sm = {},
                         registers_per_sm = {};
};

struct Diagnostic {
  Ns time = 0;
  int severity = 0;  // as recorded; nsys: 1 information, 2 warning, 3 error
  std::string text;
};

// How well the profile was recorded and read.
struct CaptureHealth {
  std::map<std::string, int64_t> rows_read, rows_skipped;  // by table of the source
  std::map<std::string, int64_t> rows_unknown;             // of those skipped, what is of no known kind
  std::vector<std::string> missing_tables;                 // of those that hold GPU or host activity
  std::vector<std::string> notes;                          // one sentence each, for the reader
  bool truncated = false;                                  // the file's end is missing
  int64_t out_of_order = 0, negative_durations = 0;
  std::vector<Diagnostic> diagnostics;
};

struct Trace {
  // Defined once: each is thousands of instructions.
  Trace();
  Trace(Trace&& other) noexcept;
  Trace& operator=(Trace&& other) noexcept;
  ~Trace();

  // Source.
  std::string path;    // as given by the user
  std::string format;  // "nsys", "kineto", "nvidia-smi", "training log", "serving log", "program log", ...
  std::string producer_version;  // of the profiler, "" where unknown
  std::string schema_version;
  std::optional<int64_t> clock_origin_utc_ns;  // UTC of time 0
  std::optional<Ns> session_duration_ns;       // length of the capture

  // System. `facts` holds what the profile says of the host: cpu, driver, cuda, framework, hostname, os, ...
  std::map<std::string, std::string> facts;
  std::map<std::string, std::string> environment;  // variables of the profiled process
  std::vector<std::string> command;                // program and arguments, empty where unknown
  std::string program_error;  // with which it ended, as it printed it; "" where none is known
  std::string last_printed;   // the last line of its output, where the profile holds that
  std::map<std::string, std::string> capture_options;
  std::optional<int64_t> rank, world_size;  // of the distributed job, where the profile records it

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
  std::vector<OperatorArguments> operator_arguments;  // each once; the first is that of none
  std::vector<Collective> collectives;                // each once; the first is none
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
  // Calls visit(&Trace::TABLE) for each of the tables above, in the order in which `facts` lists them.
  template <class Visit>
  static constexpr void ForEachTable(Visit visit) {
    visit(&Trace::kernels);
    visit(&Trace::copies);
    visit(&Trace::sets);
    visit(&Trace::graph_launches);
    visit(&Trace::api_calls);
    visit(&Trace::syncs);
    visit(&Trace::ranges);
    visit(&Trace::frames);
    visit(&Trace::os_calls);
    visit(&Trace::overheads);
    visit(&Trace::memory_events);
    visit(&Trace::cpu_samples);
    visit(&Trace::cpu_runs);
    visit(&Trace::mpi_calls);
    visit(&Trace::page_faults);
    visit(&Trace::gpu_metrics);
    visit(&Trace::network_metrics);
    visit(&Trace::telemetry);
    visit(&Trace::streams);
    visit(&Trace::cuda_events);
  }

  TrainingLog training_log;
  ServingLog serving_log;
  ProgramOutput program_output;
  ProgramSpans program_spans;
  std::vector<SummaryTable> summary_tables;

  CaptureHealth health;
};

// Moves the times of all events by -`origin`.
void SetOrigin(Trace& trace, Ns origin);
// Where the earliest event starts; nothing where there is none.
std::optional<Ns> FirstTime(const Trace& trace);
// Removes the devices that no event names.
void DropUnusedDevices(Trace& trace);
// By ordinal; a figure that no GPU can have is unknown.
void SortDevices(Trace& trace);

}  // namespace dladvisor
