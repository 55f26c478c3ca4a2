// SPDX-License-Identifier: Apache-2.0
#include "engine/base/freed_memory.h"

#include <malloc.h>

#include <cstddef>
#include <limits>

namespace dladvisor {
namespace {

// Sanitizers have a heap of their own: glibc's was never set up there, and trimming it from several threads
// at once crashes.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHeapOfGlibc = false;
#elif defined(__has_feature)
constexpr bool kHeapOfGlibc = !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
constexpr bool kHeapOfGlibc = true;
#endif

// Less is had anew, page by page, in longer than it takes to compute on it.
constexpr size_t kWorthGivingBack = size_t{256} << 20;

}  // namespace

void ReuseFreedMemory() {
  if constexpr (kHeapOfGlibc) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  }
}

void GiveBackFreedMemory() {
  if constexpr (kHeapOfGlibc)
    if (mallinfo2().fordblks >= kWorthGivingBack) malloc_trim(0);
}

}  // namespace dladvisor
