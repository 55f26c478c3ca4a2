// SPDX-License-Identifier: Apache-2.0
// Work on several threads of one pool for the whole process (oneTBB): nested calls start no more threads.
// What is computed must not depend on how many there are.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace dladvisor {

// How many threads this process is worth: one per core that it may run on.
size_t ThreadCount();

// Calls work(0) to work(count - 1) on up to ThreadCount() threads, in no order. Throws what the lowest index
// threw. While it waits for other threads, the calling one runs nothing but this work: locks may be held.
void ParallelFor(size_t count, const std::function<void(size_t)>& work);

// Calls work(i) once for each i, after work was called for all of inputs[i], which are less than i. Throws
// what the lowest index threw, after all that do not depend on it were called. Waits as ParallelFor does.
void ParallelInOrder(const std::vector<std::vector<size_t>>& inputs, const std::function<void(size_t)>& work);

// Passes items through three stages; an item lies in one of `slots` slots, which are used in turn. read(slot)
// makes the next item, one at a time, and returns false where there is none; work(slot) runs for several
// items at a time; take(slot) gets them one at a time in the order of reading. Throws what the first item
// that failed threw, after all before it were taken.
void ParallelPipeline(size_t slots, const std::function<bool(size_t)>& read,
                      const std::function<void(size_t)>& work, const std::function<void(size_t)>& take);

}  // namespace dladvisor
