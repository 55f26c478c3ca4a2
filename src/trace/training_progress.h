// SPDX-License-Identifier: Apache-2.0
// What a training program printed of its own progress: iterations, timers, memory. A log has few rows, so
// that they are structs and not columns. What a line does not contain is nullopt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/trace/memory_taken.h"

namespace dladvisor {

// One printed line. Times are means and counts are sums over the iterations since the line before, of which
// `iteration` is the last.
struct TrainingIteration {
  int64_t attempt = 0;  // start of the training, of which a log may hold several
  int64_t iteration = 0;
  std::optional<int64_t> planned;  // iterations of the whole training
  std::optional<int64_t> covers;
  std::optional<double> elapsed_ns;  // of one iteration
  std::optional<int64_t> consumed_samples,
      global_batch;  // samples since the training's start; of one iteration
  // As printed: of all GPUs, of one, as a share of the peak that the program takes for its GPU.
  std::optional<double> samples_per_second, tokens_per_second, tflops_per_gpu, mfu;
  std::optional<double> loss, loss_scale, grad_norm, learning_rate;
  std::optional<int64_t> skipped, nan;  // iterations without an update; with a loss that is not a number
  std::optional<int64_t> time_ns;       // when it was printed, since 1970 in the log's own time zone
  int64_t line = 0;                     // of the log; 0 where it is not known
};

struct TrainingTimer {
  size_t row = 0;  // of the iterations
  std::string name;
  std::optional<int64_t> rank;           // nullopt where it is of the rank that prints, or of all
  std::optional<double> ns;              // of one iteration
  std::optional<double> min_ns, max_ns;  // across ranks
};

// Memory of PyTorch's allocator, in bytes.
struct TrainingMemory {
  std::optional<int64_t> rank;
  int64_t iteration = 0;
  std::optional<int64_t> allocated, max_allocated, reserved, max_reserved;
};

// What the program did between two lines of iterations, and only then.
enum class TrainingEventKind : uint8_t { kCheckpoint, kEvaluation, kGarbageCollection, kEpochEnd };

struct TrainingEvent {
  size_t before = 0;  // row of the iterations in whose time it falls; their count after the last
  TrainingEventKind kind = TrainingEventKind::kCheckpoint;
  std::optional<double> ns{};  // what it took, where dates of lines tell it
};

// Of one metric the ranks where it is least and most, as Megatron-LM's StragglerDetector prints them.
struct TrainingExtreme {
  size_t row = 0;      // of the iterations
  std::string metric;  // "Rtt", "Pwr", "Tmp", "Utl", "Clk", "DRtt", "Etpt"
  std::string unit;    // as printed
  double min = 0, max = 0;
  int64_t min_rank = 0, max_rank = 0;
};

struct TrainingLog {
  std::string program;  // "Megatron-LM", "DeepSpeed", "Hugging Face Trainer", ...; "" for no log
  std::vector<TrainingIteration> iterations;
  bool of_epochs = false;  // that each of these is an epoch, as nothing smaller is timed
  std::vector<TrainingTimer> timers;
  std::vector<TrainingMemory> memory;
  std::vector<TrainingEvent> events;
  std::vector<TrainingExtreme> extremes;
  std::map<std::string, std::string> settings;  // arguments that are known to matter, as printed
  // Of the whole training, as printed at its end.
  std::optional<double> runtime_ns, samples_per_second;
  // Evaluations between the iterations, where the log prints how long each takes: how many, and their time.
  int64_t evaluations = 0;
  double evaluation_ns = 0;
  // Of each end of an epoch whose lines print both when they were written and what their iterations took: the
  // time in between that is of no iteration.
  std::vector<double> between_epochs_ns;
  // Iterations before which PyTorch's allocator gave its cached memory back, for want of free memory.
  int64_t flushed_iterations = 0;
  // Lines of other trainings in the log, which are left out.
  int64_t other_lines = 0;
  // Of a GPU's memory the least that was free, where lines tell that and not what is held.
  std::optional<double> least_free_bytes;
  // Lines with losses of a log that counts no step beside a time, and timed steps of one that has no others
  // than the first, which start it.
  int64_t loss_lines = 0, first_steps = 0;
  std::string error;                        // the first exception that the program died of, "" for none
  std::optional<MemoryTaken> memory_taken;  // where that found no memory and says who holds it

  bool empty() const { return program.empty(); }
};

}  // namespace dladvisor
