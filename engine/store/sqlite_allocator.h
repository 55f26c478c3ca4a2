// SPDX-License-Identifier: Apache-2.0
// Memory from SQLite's heap, which counts as memory of the statement at hand (heap_budget.h).
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <new>

namespace dladvisor {

template <class T>
struct SqliteAllocator {
  using value_type = T;

  SqliteAllocator() = default;
  template <class Other>
  SqliteAllocator(const SqliteAllocator<Other>&) {}

  T* allocate(size_t count) {
    void* memory = sqlite3_malloc64(count * sizeof(T));
    if (!memory) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t) { sqlite3_free(memory); }

  bool operator==(const SqliteAllocator&) const = default;
};

}  // namespace dladvisor
