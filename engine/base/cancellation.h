// SPDX-License-Identifier: Apache-2.0
// The work at hand may be cancelled by another thread of the process. Work that takes long asks now and then,
// on whatever thread it runs: each part of a parallel loop, each page of a file, each hundred steps of SQL.
#pragma once

#include <atomic>

namespace dladvisor {

// No std::exception: what may fail alone, a rule or one of several files, must not take it for its own
// failure.
struct Cancelled {};

namespace cancellation {
inline std::atomic<bool> is_asked_for = false;
}  // namespace cancellation

// Until AllowWork(): the process has one piece of work at a time. From any thread.
inline void CancelWork() { cancellation::is_asked_for = true; }
inline void AllowWork() { cancellation::is_asked_for = false; }

inline bool IsCancelled() { return cancellation::is_asked_for.load(std::memory_order_relaxed); }
inline void ThrowIfCancelled() {
  if (IsCancelled()) throw Cancelled();
}

}  // namespace dladvisor
