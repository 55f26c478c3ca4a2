// SPDX-License-Identifier: Apache-2.0
// What a server of language models printed of its load: throughput, requests, use of its KV cache. A log has
// few rows, so that they are structs and not columns. What a line does not contain is nullopt.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/trace/memory_taken.h"

namespace dladvisor {

// One printed line. Rates are means since the engine's line before.
struct ServingSample {
  std::string engine;  // as the line names it, "" of a server with one
  std::optional<int64_t>
      time_ns;  // when it was printed, in the log's own time zone; the year may not be known
  std::optional<int64_t> running, waiting, transferring;  // requests
  std::optional<double> prompt_tokens_per_second, generated_tokens_per_second;
  std::optional<double> lasts_ns;         // what the rates are of, where that differs from line to line
  std::optional<double> cache_used;       // share of the KV cache
  std::optional<double> prefix_hits;      // share of prompt tokens that were in the cache
  std::optional<double> accepted;         // share of the drafted tokens
  std::optional<double> accepted_length;  // tokens of a step, the one that is always right included
  std::optional<bool> graphs;             // whether the batch ran as a graph
};

struct ServingLog {
  std::string program;  // "vLLM", "SGLang"; "" for no log. Without samples it died before it answered
  std::vector<ServingSample> samples;
  bool polled = false;  // whether samples are its counters as someone read them, not lines of batches
  std::optional<int64_t> cache_tokens;          // that the KV cache holds
  int64_t preemptions = 0;                      // lines that report requests thrown out of the cache
  std::map<std::string, std::string> settings;  // arguments that are known to matter, as printed
  // Starts until the server was ready, of which the log has the times: how many, and what they took, of that
  // the reading of the weights, of that their download, compiling and the capture of graphs.
  int64_t starts = 0;
  double start_ns = 0;
  std::optional<double> weights_ns, download_ns, compile_ns, capture_ns;
  std::optional<double> engine_begins_ns;  // of the starts, what passes before the engine begins to start
  // From the first line with a time to the last, starts included; from when it is ready, and of that without
  // a request.
  std::optional<double> span_ns, served_ns, idle_ns;
  std::optional<double> build_ns;  // of kernels that a library compiles meanwhile, as AITER prints
  // What the weights take of a GPU, as it says.
  std::optional<double> weights_bytes;
  std::string last_stage;  // of a start that does not end, the part that it is in, "" where lines do not say
  int64_t untuned_shapes = 0;               // of matrix products for which a library finds no tuned kernel
  std::string error;                        // the exception that the engine died of, "" for none
  std::optional<MemoryTaken> memory_taken;  // where that found no memory and says who holds it

  bool empty() const { return program.empty(); }
};

}  // namespace dladvisor
