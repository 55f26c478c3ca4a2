// What a statement may use and has used: VM steps, to which functions and storage add their own work, and
// bytes of temporary storage and result. Counts depend on the input alone, so that same input is stopped
// alike.
#pragma once

#include <cstdint>

namespace dladvisor {

struct Meter {
  static constexpr int64_t kBytesPerStep = 16;

  int64_t steps = 0, max_steps = 500'000'000;
  int64_t stored_bytes = 0, result_bytes = 0, max_bytes = int64_t{512} << 20;

  bool OutOfSteps() const { return steps > max_steps; }
  bool OutOfMemory() const { return stored_bytes + result_bytes > max_bytes; }
  // Adds the work of going through so many bytes; false where the budget is used up.
  bool Work(int64_t bytes) {
    steps += 1 + bytes / kBytesPerStep;
    return !OutOfSteps();
  }
  // How many bytes may still be gone through.
  int64_t WorkLeft() const { return OutOfSteps() ? 0 : (max_steps - steps) * kBytesPerStep; }
};

}  // namespace dladvisor
