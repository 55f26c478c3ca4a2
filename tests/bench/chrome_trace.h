// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler, as large as one likes, with the mix of events, arguments and lengths of names
// that real ones of training runs have.
#pragma once

#include <cstdint>
#include <filesystem>

namespace dladvisor {

// A trace of about `events` events in steps of some 400 kernels. Same arguments, same bytes.
void WriteChromeTrace(const std::filesystem::path& path, int64_t events);

}  // namespace dladvisor
