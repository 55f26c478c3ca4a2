// Work on several threads. What is computed must not depend on how many there are.
#pragma once

#include <cstddef>
#include <functional>

namespace dladvisor {

// How many threads this process is worth: one per core that it may run on.
size_t ThreadCount();

// Calls work(0) to work(count - 1) on up to ThreadCount() threads, in no order. Throws what the lowest index
// threw.
void ParallelFor(size_t count, const std::function<void(size_t)>& work);

}  // namespace dladvisor
