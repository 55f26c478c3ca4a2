// SPDX-License-Identifier: Apache-2.0
// An export as large as real training gives, for measuring: drawn at random, always the same.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dladvisor {

// Four processes with a GPU each, in numbered steps of 1000 kernels: a main thread with nested ranges, an
// autograd thread with ranges of its own, kernels on a compute and a collectives stream, copies, sets, waits
// for the GPU, OS calls of the data loader. Per kernel 1.2 API calls and 0.5 ranges, whose names repeat. The
// rows of one process follow those of another, as exporters write them. Without indexes, as exports are.
void WriteExport(const std::filesystem::path& path, int64_t kernels);

}  // namespace dladvisor
