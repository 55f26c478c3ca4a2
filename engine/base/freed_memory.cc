// SPDX-License-Identifier: Apache-2.0
#include "engine/base/freed_memory.h"

#include <malloc.h>

namespace dladvisor {

// Sanitizers have a heap of their own: glibc's was never set up there, and trimming it from several threads
// at once crashes.
void GiveBackFreedMemory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#elif defined(__has_feature)
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  malloc_trim(0);
#endif
#else
  malloc_trim(0);
#endif
}

}  // namespace dladvisor
