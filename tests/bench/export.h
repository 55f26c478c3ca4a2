// SPDX-License-Identifier: Apache-2.0
// Exports as large as real training gives, for measuring: drawn at random, always the same. What real
// programs differ in, and what readers are easily slow at, is a shape each.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace dladvisor {

// How an export differs from the plain one: four processes with a GPU each, a main thread with nested ranges,
// an autograd thread with ranges of its own, kernels on a compute and a collectives stream, copies, sets,
// waits for the GPU, OS calls of the data loader. Per kernel 1.2 API calls and 0.5 ranges, whose names
// repeat. The rows of one process follow those of another, as exporters write them.
struct ExportShape {
  std::string_view name;
  std::string_view step = "iteration {}";  // name of a step's range
  int64_t steps = 0;                       // of each process; 0: as many as have 1,000 kernels
  bool numbered_ops = false;               // "aten::linear, seq = 71, op_id = 7": hardly a text occurs twice
  int64_t batches = 0;                     // operators have sizes, of so many different batches; 0: none
  int64_t depth = 0;                       // modules, one in another, around each layer
  bool own_texts = false;                  // modules say which sample they work on: no text occurs twice
  int64_t launch_shapes = 120;             // different grids and blocks
  int64_t kernel_names = 60;               // without the collective
  int64_t threads = 2;                     // that launch, of each process; 1: also the backward pass is there
  int64_t streams = 1;                     // that compute
  bool shuffled = false;                   // rows in no order
  bool graphs = false;                     // forward and backward are each one launch of a CUDA graph
};

// The plain shape first.
std::span<const ExportShape> ExportShapes();

// Without indexes, as exports are. `kernels` in all, about.
void WriteExport(const std::filesystem::path& path, int64_t kernels, const ExportShape& shape = {});

}  // namespace dladvisor
