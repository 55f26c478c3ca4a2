// SPDX-License-Identifier: Apache-2.0
// What benchmarks measured: collectives over the links between GPUs, a server under requests, how fast a
// model reads and generates, the parts of a simulation, and tables of one's own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor {

// A table of nccl-tests or rccl-tests, or what a script measured of one collective.
struct TransferTest {
  std::string collective;       // "all_reduce_perf"; "" where the output does not say
  std::string gpu;              // of all of them; "" where they differ or are not named
  int64_t gpus = 0, hosts = 0;  // that it lists; 0 hosts where it counts ranks alone
  int64_t sizes = 0;            // rows of the table
  int64_t wrong_values = 0;     // that it counts, of all sizes
  double least_bytes = 0, most_bytes = 0;
  std::optional<double> least_ns;   // that the least takes
  double bus_bytes_per_s = 0;       // of the most, the better of out of place and in place
  std::optional<int64_t> channels;  // as NCCL's own lines tell, where it writes them
  std::string over;      // "P2P", "SHM", "NET/Socket", "NET/IB": the slowest that these name; "" for none
  std::string settings;  // that limit NCCL: "NCCL_P2P_DISABLE=1, ..."; "" for none
};

// A result of vLLM's or SGLang's bench_serving, of GenAI-Perf or AIPerf; of a program that sends requests
// over HTTP to whatever answers them; or of an engine of language models that has all requests from the
// start. Times are of one request.
struct RequestBenchmark {
  // Of requests of several kinds, what the kind that waits longest in all is.
  struct Kind {
    std::string name;  // "POST /api/chat"
    int64_t requests = 0;
    double share = 0;  // of all waiting
    double mean_ns = 0;
    std::optional<double> longest_ns;
  };

  std::string program;   // whose result it is; "" for a client of a server of language models
  bool served = true;    // a client asks a server
  int64_t requests = 0;  // 0 where it does not count them
  std::optional<int64_t> failed;
  std::optional<double> limit;  // of requests at once that the client sets
  std::optional<double>
      request_rate;  // that it sends in a second; unknown where as fast as it can, or not said
  std::optional<double> duration_ns;
  std::optional<double> input_tokens, output_tokens;  // of all requests, of one where they are not counted
  std::optional<double> answered_per_s;               // requests
  std::optional<double> output_tokens_per_s;
  std::optional<double> first_mean_ns, first_median_ns, first_p99_ns;        // until the first token
  std::optional<double> token_mean_ns, token_median_ns;                      // for each further token
  std::optional<double> latency_mean_ns, latency_median_ns, latency_p99_ns;  // of the whole
  std::optional<Kind> waits_most;
};

// A row of llama-bench: a model reads a prompt, generates tokens one after the other, or both.
struct GenerationTest {
  std::string test;      // as it names it: "pp512", "tg128", "tg128 @ d4096", "pp512+tg128"
  std::string model;     // "qwen2 7B Q4_K - Medium"
  std::string backend;   // "CUDA"; "" where not said
  std::string gpu;       // "" where none or several are named
  std::string settings;  // that its table has columns of, "ngl=99, fa=1"; "" for none
  int64_t prompt_tokens = 0, generated_tokens = 0;
  double model_bytes = 0;  // 0 where not said
  double tokens_per_s = 0;
};

// A performance summary of TensorRT's trtexec. Times are means of one inference.
struct EngineTest {
  double queries_per_s = 0;
  int64_t batch = 0;          // samples of a query; 0 where not said
  std::string precision;      // "FP32+FP16"; "" where not said
  std::optional<bool> graph;  // whether it runs as a CUDA graph
  std::optional<double> latency_ns, enqueue_ns, upload_ns, compute_ns, download_ns;
  std::optional<double> wall_ns, all_compute_ns;  // of all of them
};

// A measurement of Triton's perf_analyzer. Times are of one request: the client's median, and of the server
// means.
struct LoadTest {
  int64_t concurrency = 0;  // requests that it has open
  double infer_per_s = 0;
  int64_t inferences = 0, executions = 0;  // of the server; 0 where not said
  std::optional<double> latency_ns, server_ns, queue_ns, compute_ns, copy_ns;
};

// A part of a simulation's time, by its own clock.
struct SimulationPart {
  std::string name;
  double ns = 0;                            // on average over its processes
  std::optional<double> least_ns, most_ns;  // of one of them
};

// What a program of molecular dynamics counts of its own time at the end of a run: LAMMPS' table of MPI
// tasks, GROMACS' of cycles.
struct SimulationRun {
  std::string program;
  double ns = 0;
  int64_t steps = 0;                     // 0 where not said
  int64_t tasks = 0, threads = 0;        // processes, and threads of each; 0 where not said
  std::optional<double> busy;            // of the time of all these threads, what they computed
  bool on_gpu = false;                   // that it says that it uses one
  std::optional<double> imbalance;       // of the time, what goes to waiting for the task with most to do
  std::optional<double> mesh_imbalance;  // the same between tasks for the mesh and those for the rest
  std::vector<SimulationPart> parts;
};

// What another value of a setting changes.
enum class SettingKind : uint8_t {
  kGiven,    // what is computed, or on what: a model, a length, a GPU
  kChoice,   // how it is computed: a type, a backend, workers
  kLoad,     // how much at once: a batch, requests
  kDevices,  // on how many GPUs
};

struct ResultRow {
  std::vector<std::string> values;  // of the settings
  double result = 0;                // 0 where it has none
  double pace = 0;                  // work done in a time, all devices together; 0 where not known
  bool failed = false;
  bool out_of_memory = false;  // that is why it failed
};

// A column of a table of results that says how many times as fast each is as a reference.
struct ResultSpeedup {
  std::string name;
  int64_t rows = 0, below = 0;  // with a value, and of these below 1 by 5 % or more
  double least = 0, median = 0, most = 0;
  std::string setting,
      from;  // of numbers, from whose value on it is 1 or more, below which less; "" for none
};

// A table of results that a benchmark of one's own wrote.
struct ResultTable {
  std::string measure;                // the column of the results
  bool rate = false;                  // that more of it is better
  std::vector<std::string> settings;  // their columns; "" where each value has a column of results
  std::vector<ResultRow> rows;
  int64_t failed = 0;              // of these the ones that did not succeed
  std::vector<SettingKind> kinds;  // of the settings
  std::string pace_measure;        // what a row's pace is taken from, "" for nothing
  std::vector<ResultSpeedup> speedups = {};
};

}  // namespace dladvisor
