// SPDX-License-Identifier: Apache-2.0
// Reads the table of GPU models: rules/hardware.yaml, and the section `hardware` of dladvisor.yaml.
//
//   gpus:
//     - model: A100 SXM 80 GB
//       names: [NVIDIA A100-SXM4-80GB]    # as profilers print it
//       shared_names: [...]               # of several models; multiprocessors and memory decide
//       architecture: sm80                # peaks are checked against it, or derived where left out
//       multiprocessors: 108
//       boost_clock_mhz: 1410
//       matrix_clock_mhz: 1410            # of the stated matrix peaks, where it is another
//       vector_tflops: {fp64: 9.7, fp32: 19.5}
//       matrix_tflops: {tf32: 156, bf16: 312}   # dense, never the figure with sparsity
//       memory_gib: 80
//       memory_gb_per_s: 2039
//       recorded_memory_gb_per_s: 2039    # that CUDA states, where it is another
//       link_gb_per_s: 300                # all NVLink or xGMI links, in one direction
//       host_gb_per_s: 32                 # in one direction
//       achievable:
//         matrix_tflops: {bf16: 267}
//         memory_gb_per_s: 1800
//         source: where it was measured
//       source: where the figures are from
//   unnamed: A100 SXM 80 GB               # of GPUs that a profile does not name: a model that is known
//   architectures:
//     sm80:                               # operations per clock and multiprocessor
//       vector: {fp32: 128}
//       matrix: {bf16: 2048}
//       source: ...
#pragma once

#include "engine/rules/yaml_reader.h"
#include "src/hardware/hardware.h"

namespace dladvisor {

// Of a mapping with these keys; `known` has architectures that models may name beside their own. Every
// problem is added with its place.
Hardware ReadHardware(const YamlFile& yaml, const YAML::Node& node, const Hardware& known,
                      Problems& problems);

}  // namespace dladvisor
