// SPDX-License-Identifier: Apache-2.0
// What lines and configurations say of a model's size and of the activations that it computes again or keeps
// elsewhere, by the words of several frameworks, as settings: "model_parameters", "adapter" where only a part
// of the model is trained, "experts" where a token does not go through all of it, "checkpoint_activations",
// "activations_on_host", "partition_activations", "checkpoint_synchronizes".
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

class ModelLinesReader {
 public:
  void Line(std::string_view line, std::map<std::string, std::string>& settings);

 private:
  void TakeParameters(std::string_view line, std::map<std::string, std::string>& settings);

  std::set<std::string> ranks_;  // of tensor and pipeline parallelism, whose parameters are known
  double of_ranks_ = 0;
};

}  // namespace dladvisor::training_log
