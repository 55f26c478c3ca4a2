// SPDX-License-Identifier: Apache-2.0
// Columns of a table of telemetry that a server of language models tells: requests that run and wait, use of
// its KV cache, tokens and preemptions until then, as vLLM's /metrics names them or a script does.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "src/importers/nvidia_smi/log_cell.h"
#include "src/trace/serving_progress.h"

namespace dladvisor::nvidia_smi {

class ServingColumns {
 public:
  explicit ServingColumns(const std::vector<std::string_view>& names);
  // Whether they tell of requests: one column alone may be of anything.
  bool any() const { return running_ && (waiting_ || cache_); }
  void Row(const std::vector<std::string_view>& cells, const std::optional<Time>& time);
  ServingLog Finish();

 private:
  std::optional<size_t> running_, waiting_, cache_, generated_, preemptions_;
  bool percent_ = false;
  std::optional<Ns> last_ns_;
  std::optional<double> last_tokens_, last_preemptions_;
  ServingLog log_;
};

}  // namespace dladvisor::nvidia_smi
