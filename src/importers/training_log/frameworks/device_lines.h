// SPDX-License-Identifier: Apache-2.0
// The GPUs that a program names with their memory before it trains: "CUDA:0 (Tesla T4, 15110MiB)" of YOLO,
// "rank   0: capabilities =  7.0  ; total memory = 31.749 GB ; name = Tesla V100-SXM2-32GB" of fairseq,
// "[rank0]: CUDA capacity: NVIDIA H100 with 94.99GiB memory" of torchtitan, "NVIDIA L4. Num GPUs = 1. Max
// memory: 22.161 GB." of Unsloth.
#pragma once

#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor::training_log {

// Adds or replaces the device of the line, where it names one.
void TakeNamedDevice(std::string_view line, std::vector<Device>& devices);

// What is held of GPUs that are alike follows from what is free.
void GiveMemoryOfFree(const std::vector<Device>& devices, TrainingLog& log);

}  // namespace dladvisor::training_log
