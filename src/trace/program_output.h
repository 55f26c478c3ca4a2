// SPDX-License-Identifier: Apache-2.0
// What the output of a program that is neither a training nor a server shows of its time: its progress bars,
// and its lines with dates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/benchmarks.h"
#include "src/trace/memory_taken.h"

namespace dladvisor {

enum class ProgramPartKind : uint8_t {
  kBars,     // progress bars of one title
  kLines,    // lines that are alike but for their numbers: what passes after each, until the next with a date
  kSection,  // the same, until the next line without a date that announces what begins
  kFunction,  // calls of a function, by a profiler of code
};

struct ProgramPart {
  ProgramPartKind kind = ProgramPartKind::kLines;
  // The bar's title, "" without one; or the line, of several with # for their numbers; or the function.
  std::string name;
  int64_t count = 0;  // bars, lines or calls
  std::optional<int64_t>
      batches;       // of lines that have one time; of a bar what takes all its time, see each_ns
  int64_t done = 0;  // what they count, of `total` where they say so
  int64_t total = 0;
  double ns = 0, longest_ns = 0;  // the longest of a function is not known: 0
  int64_t longest_line = 0;       // of the log, after which that begins
  std::optional<double> each_ns;  // of what is counted, since `since` of it was done
  int64_t since = 0;
  std::optional<double> tokens_per_second;  // that a bar names
};

// A time that lines print as a part of another one.
struct ProgramWait {
  int64_t lines = 0;
  double part = 0, whole = 0;
};

// That a server's log lists when they are answered, as Ollama's does.
struct ProgramRequests {
  int64_t requests = 0;
  double ns = 0;                 // that all of them took
  std::optional<int64_t> slots;  // that the server works on at once
  std::optional<int64_t> gpus;   // that it lists
  // From the first of them to the last answer, and of that while one at the least is worked on.
  std::optional<double> span_ns, busy_ns;
  // Of a model that did not fit the layers that were on the GPU, and the requests that came then.
  std::optional<int64_t> layers, gpu_layers;
  int64_t partial_requests = 0;
  double partial_ns = 0;
};

// A time in ns, or a rate, that lines name.
struct ProgramFigure {
  std::string name, unit;  // of a rate, as "tokens/s"; "" of a time
  int64_t count = 0;       // that are printed
  double sum = 0, least = 0, most = 0;
};

// A rate that a program prints for few and for many things that it works on at once.
struct ProgramScaling {
  std::string name, unit;
  int64_t few = 0, many = 0;
  double slow = 0, fast = 0;
};

struct ProgramOutput {
  std::string program;                // where it is known, "" else
  std::optional<double> duration_ns;  // that passes between lines with dates, but behind errors and pauses
  double pause_ns = 0;                // between two of these, in which the machine or the process slept
  std::vector<ProgramPart> parts;     // the longest first
  ProgramWait data, communication;
  ProgramWait queue;              // of requests before a server works on them, in ns
  ProgramWait collection;         // of garbage, as Julia's @time prints
  bool collects_for_gpu = false;  // whether most of that is allocating the GPU's memory
  ProgramRequests requests;
  std::vector<ProgramFigure> figures;  // rates first, then times, the greatest sum first
  std::optional<ProgramScaling> scaling;
  // Where its whole output is of these, nothing else is read of it.
  std::vector<TransferTest> transfers;
  std::vector<RequestBenchmark> benchmarks;
  std::vector<GenerationTest> generations;
  std::vector<EngineTest> engines;
  std::vector<LoadTest> loads;  // of fewer requests at once first
  std::optional<SimulationRun> simulation;
  std::optional<ResultTable> results;
  bool on_host = false;         // that it says that it computes on the CPU, beside these
  int64_t skipped_batches = 0;  // for want of memory
  int64_t full_memories = 0;    // lines that tell of a GPU without room
  std::string error;            // that ended it, "" for none
  std::optional<MemoryTaken> memory_taken;

  // Whether it tells where time goes.
  bool timed() const {
    return !parts.empty() || data.lines > 0 || communication.lines > 0 || queue.lines > 0 ||
           collection.lines > 0;
  }
  bool measured() const {
    return !transfers.empty() || !benchmarks.empty() || !generations.empty() || !engines.empty() ||
           !loads.empty() || simulation || results;
  }
  bool empty() const {
    return !timed() && !measured() && figures.empty() && skipped_batches == 0 && error.empty();
  }
};

}  // namespace dladvisor
