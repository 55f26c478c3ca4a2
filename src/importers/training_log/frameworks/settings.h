// SPDX-License-Identifier: Apache-2.0
// Arguments of a training as its log prints them: parallel sizes, batch sizes, precision, recomputation.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// Takes what the line has: a row of Megatron-LM's dump ("  micro_batch_size ......... 4") or of DeepSpeed's
// configuration, Megatron-LM's line of sizes, or what Hugging Face's Trainer says of batches. Later lines
// count. Only known arguments are kept: a dump holds paths and keys that no report may repeat.
class SettingsReader {
 public:
  void Line(std::string_view line, std::map<std::string, std::string>& settings);

 private:
  void TakeGpuMemory(std::string_view line, std::map<std::string, std::string>& settings);

  std::string section_;  // of DeepSpeed's configuration, where it is one to offload
  bool half_ = false;    // half precision is named
  int64_t empty_ = 0;    // lines of steps by which a GPU's memory is empty
  bool filled_ = false;  // that one has a GPU's memory in use
};

// That TensorFlow finds no CUDA tells of the training's device only where TensorFlow `trains`, and no line
// names a GPU: other programs import it as well.
void KeepGpuOfTensorFlow(bool trains, std::map<std::string, std::string>& settings);

}  // namespace dladvisor::training_log
