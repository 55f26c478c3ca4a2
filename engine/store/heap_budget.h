// SPDX-License-Identifier: Apache-2.0
// A limit on what SQLite allocates while statements of strangers are prepared and run: in the thread that
// does so and for as long as it lasts. SQLite's own heap limit is the whole process's, its importers and
// digests included.
#pragma once

#include <cstdint>

namespace dladvisor {

class HeapBudget {
 public:
  // From here on SQLite gets no more than so many bytes in this thread, until the budget is destroyed; beyond
  // it SQLite answers SQLITE_NOMEM.
  explicit HeapBudget(int64_t bytes);
  ~HeapBudget();
  HeapBudget(const HeapBudget&) = delete;
  HeapBudget& operator=(const HeapBudget&) = delete;

  int64_t used() const { return used_; }

  // What SQLite's allocator calls: whether `bytes` more fit, which are then used.
  bool Take(int64_t bytes);
  void Give(int64_t bytes) { used_ -= bytes; }

 private:
  const int64_t limit_;
  int64_t used_ = 0;
  HeapBudget* const outer_;
};

}  // namespace dladvisor
