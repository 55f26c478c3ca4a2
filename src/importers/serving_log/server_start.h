// SPDX-License-Identifier: Apache-2.0
// How long servers take until they answer: from the first line of a start to the one that says that it is
// ready, and of that the fetching and reading of the weights, and what it compiles.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/serving_progress.h"

namespace dladvisor::serving_log {

class ServerStartReader {
 public:
  // `time` is that of the line, which is asked for within a start alone.
  void Line(std::string_view line, const std::function<std::optional<int64_t>()>& time);
  // When the start began that goes on, and when the last one was ready.
  const std::optional<int64_t>& began() const { return began_; }
  const std::optional<int64_t>& ready() const { return ready_; }
  // Adds what is known.
  void Finish(ServingLog& log) const;

 private:
  void End();

  std::optional<int64_t> began_, last_,
      ready_;               // of the start that goes on; of its last line that has a time
  int64_t lines_ = 0;       // of it
  std::string_view stage_;  // of it, that a line says has begun and none that has ended
  double weights_ns_ = 0, download_ns_ = 0, compile_ns_ = 0, capture_ns_ = 0,
         engine_begins_ns_ = 0;  // of it, the most of its ranks
  double weights_bytes_ = 0;
  double all_weights_ns_ = 0, all_download_ns_ = 0, all_compile_ns_ = 0, all_capture_ns_ = 0,
         all_engine_begins_ns_ = 0, start_ns_ = 0;
  int64_t starts_ = 0;
};

}  // namespace dladvisor::serving_log
