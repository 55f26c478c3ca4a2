// SPDX-License-Identifier: Apache-2.0
#include "engine/store/heap_budget.h"

#include <sqlite3.h>

#include <stdexcept>

namespace dladvisor {
namespace {

thread_local HeapBudget* budget = nullptr;

sqlite3_mem_methods heap;  // SQLite's own

// What malloc and SQLite keep beside each piece of memory: as much as the piece itself where statements sort
// millions of numbers.
constexpr int kBesideEach = 24;

int64_t Taken(void* memory) { return int64_t{heap.xSize(memory)} + kBesideEach; }

void* Allocate(int bytes) {
  void* memory = heap.xMalloc(bytes);
  if (!budget || !memory || budget->Take(Taken(memory))) return memory;
  heap.xFree(memory);
  return nullptr;
}

void Free(void* memory) {
  if (budget) budget->Give(Taken(memory));
  heap.xFree(memory);
}

void* Reallocate(void* memory, int bytes) {
  if (!budget) return heap.xRealloc(memory, bytes);
  const int before = heap.xSize(memory);
  if (!budget->Take(bytes - before)) return nullptr;
  void* moved = heap.xRealloc(memory, bytes);
  budget->Give(moved ? bytes - heap.xSize(moved) : bytes - before);
  return moved;
}

// SQLite takes another allocator only before it is first used.
const bool installed = [] {
  if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &heap) != SQLITE_OK) return false;
  sqlite3_mem_methods methods = heap;
  methods.xMalloc = Allocate;
  methods.xFree = Free;
  methods.xRealloc = Reallocate;
  // SQLite's own count of its memory, which nobody reads, takes a lock at each allocation.
  if (sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) != SQLITE_OK) return false;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
}();

}  // namespace

HeapBudget::HeapBudget(int64_t bytes) : limit_(bytes), outer_(budget) {
  if (!installed) throw std::logic_error("SQLite was used before its allocator was set");
  budget = this;
}

HeapBudget::~HeapBudget() { budget = outer_; }

bool HeapBudget::Take(int64_t bytes) {
  if (bytes > 0 && used_ + bytes > limit_) return false;
  used_ += bytes;
  return true;
}

}  // namespace dladvisor
