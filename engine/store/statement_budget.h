// SPDX-License-Identifier: Apache-2.0
// What a statement, or several together, may take: VM steps, time and memory.
#pragma once

#include <sqlite3.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dladvisor {

// How many times longer a sanitizer makes a program take, at most.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int kSlowdown = 10;
#else
inline constexpr int kSlowdown = 1;
#endif

class StatementBudget {
 public:
  int64_t max_steps = 500'000'000;
  int64_t max_bytes = int64_t{320} << 20;
  std::chrono::milliseconds max_time =
      kSlowdown * std::chrono::seconds(4);  // of the processor, of this thread

  // Counts the steps of the connection, which it must outlive, and stops its statements.
  void Watch(sqlite3* db);

  // Each statement begins anew, unless it shares the budget of the one before.
  void Begin();
  // Of how many rows statements may be, where more rows may take longer.
  void ScaleTo(size_t rows);
  void Share(bool shared) { shared_ = shared; }
  // Time that is not the statement's own.
  void Extend(std::chrono::nanoseconds time) { deadline_ += time; }
  // The processor time that this thread has taken.
  static std::chrono::nanoseconds Now();

  // Why no further statement may begin: those before have used up what they share. Short ones are too short
  // to be stopped while they run.
  std::optional<std::string> WhyUsedUp();
  // Why a statement ended with `rc`, where it was for what it takes. Throws Cancelled where that is why.
  std::optional<std::string> WhyStopped(int rc) const;

 private:
  bool IsSpent();

  int64_t steps_ = 0;
  std::chrono::nanoseconds deadline_{};   // of processor time
  std::chrono::nanoseconds next_look_{};  // when it is next compared with that, of the time that passes
  bool too_long_ = false, shared_ = false;
};

}  // namespace dladvisor
