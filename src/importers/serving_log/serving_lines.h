// SPDX-License-Identifier: Apache-2.0
// Lines of servers of language models: vLLM's statistics ("Avg prompt throughput: ..., Running: 3 reqs,
// ..."), SGLang's batches ("Decode batch. #running-req: 3, ..."), TensorRT-LLM's iterations ("iter = 198, ...
// num_scheduled_requests: 10, ..."), llama.cpp's times of each request, and what they print of cache and
// arguments.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "src/importers/serving_log/idle_times.h"
#include "src/importers/serving_log/server_start.h"
#include "src/importers/serving_log/slot_requests.h"
#include "src/trace/serving_progress.h"

namespace dladvisor::serving_log {

class ServingLinesReader {
 public:
  // Whether the line reports its load.
  bool Line(std::string_view line);
  ServingLog Finish();
  // Whether the line is the first of a server.
  static bool Starts(std::string_view line);
  // Of which server there are lines at all, such as of its start; "" for none.
  std::string_view server() const { return server_; }
  // Whether one was started to serve, and not its engine by another program.
  bool serves() const { return serves_; }
  // Whether a line tells that its engine died.
  bool engine_failed() const { return engine_failed_; }

 private:
  void Statistics(std::string_view line);
  void Batch(std::string_view line);
  void Iteration(std::string_view line);
  void Drafts(std::string_view line);
  bool Request(std::string_view line);  // whether it tells what one took
  void Settings(std::string_view line);
  // What tells when it has requests and when it has none.
  void Clock(std::string_view line, bool loaded);

  ServingLog log_;
  ServerStartReader start_;
  IdleTimesReader idle_;
  bool alone_ = false, reads_long_ = false;  // of a batch of SGLang that reads prompts
  bool answers_ = false;                     // requests over the network
  std::string_view server_;
  bool serves_ = false, engine_failed_ = false;
  std::set<std::pair<std::string, std::string>> untuned_;  // columns and depth of weights
  std::map<std::string, double, std::less<>> builds_;      // of kernels, by their module, in seconds
  // llama.cpp's, and of the one whose times are being printed its slot and those of its prompt.
  SlotRequests requests_;
  std::optional<int64_t> timed_slot_;
  double prompt_ms_ = 0, prompt_tokens_ = 0;
};

}  // namespace dladvisor::serving_log
