// SPDX-License-Identifier: Apache-2.0
// What both floors (floor.h) do once they have columns.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tests/bench/floor.h"

namespace dladvisor {

// Events of one process. `correlation` is that of calls and kernels; of ranges it is 1 for steps, else 0.
struct FloorEvents {
  std::vector<int64_t> start, end, thread, correlation;

  void Add(int64_t from, int64_t to, int64_t on, int64_t id) {
    start.push_back(from);
    end.push_back(to);
    thread.push_back(on);
    correlation.push_back(id);
  }
  void Append(const FloorEvents& other);
  size_t size() const { return start.size(); }
};

struct FloorProcess {
  FloorEvents kernels, calls, ranges;
};

// By process.
using FloorProcesses = std::unordered_map<int64_t, FloorProcess>;

// Puts together what threads read, in order, and works on each process on a thread.
FloorResult WorkOn(std::span<FloorProcesses> parts);

}  // namespace dladvisor
