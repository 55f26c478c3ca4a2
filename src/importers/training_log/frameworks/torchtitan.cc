// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/torchtitan.h"

#include <re2/re2.h>

namespace dladvisor::training_log {

void TakeTorchtitanSizes(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 mesh(R"(device mesh with parallelism: pp=(\d+), .*\btp=(\d+))"),
      sizes(
          R"(with local batch size (\d+), global batch size (\d+),(?: gradient accumulation steps (\d+),)? sequence length (\d+))");
  std::string pipeline, tensor, local, global, accumulated, length;
  if (line.find("device mesh with parallelism") != std::string_view::npos &&
      RE2::PartialMatch(line, mesh, &pipeline, &tensor)) {
    settings["pipeline_model_parallel_size"] = pipeline;
    settings["tensor_model_parallel_size"] = tensor;
  }
  if (line.find("with local batch size") == std::string_view::npos ||
      !RE2::PartialMatch(line, sizes, &local, &global, &accumulated, &length))
    return;
  settings["global_batch_size"] = global;
  settings["seq_length"] = length;
  if (!accumulated.empty()) settings["gradient_accumulation_steps"] = accumulated;
  const auto stages = settings.find("pipeline_model_parallel_size");
  if (stages != settings.end() && stages->second == "1") settings["train_micro_batch_size_per_gpu"] = local;
}

}  // namespace dladvisor::training_log
