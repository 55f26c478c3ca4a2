// SPDX-License-Identifier: Apache-2.0
#include "engine/store/statement_budget.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>

#include "engine/base/cancellation.h"

namespace dladvisor {
namespace {

// Often, because one step can take long, e.g. joining texts of many bytes.
constexpr int kStepsPerCheck = 100;

std::chrono::nanoseconds TimeOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// In steps of some milliseconds, which costs next to nothing.
std::chrono::nanoseconds PassedTime() { return TimeOf(CLOCK_MONOTONIC_COARSE); }

}  // namespace

void StatementBudget::Watch(sqlite3* db) {
  sqlite3_progress_handler(
      db, kStepsPerCheck, [](void* self) { return static_cast<StatementBudget*>(self)->IsSpent() ? 1 : 0; },
      this);
}

void StatementBudget::Begin() {
  if (shared_) return;
  steps_ = 0;
  too_long_ = false;
  deadline_ = Now() + max_time;
  next_look_ = {};
}

std::chrono::nanoseconds StatementBudget::Now() { return TimeOf(CLOCK_THREAD_CPUTIME_ID); }

void StatementBudget::ScaleTo(size_t rows) {
  constexpr size_t kFew = 100'000;
  constexpr std::chrono::nanoseconds kForFew = kSlowdown * std::chrono::seconds(4),
                                     kForEachMore{kSlowdown * 40'000}, kMost = std::chrono::minutes(2);
  const size_t more = std::min<size_t>(rows - std::min(rows, kFew), 1'000'000'000);
  max_time = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::min(kMost, kForFew + static_cast<int64_t>(more) * kForEachMore));
}

bool StatementBudget::IsSpent() {
  if (IsCancelled()) return true;
  steps_ += kStepsPerCheck;
  // A thread takes no more processor time than passes: before what is left has passed, the clock of the
  // processor, a call of the system, need not be asked.
  if (const auto time = PassedTime(); time >= next_look_) {
    const auto left = deadline_ - Now();
    too_long_ |= left.count() < 0;
    next_look_ = time + left;
  }
  return too_long_ || steps_ > max_steps;
}

std::optional<std::string> StatementBudget::WhyUsedUp() {
  if (!shared_ || !IsSpent()) return std::nullopt;
  return WhyStopped(SQLITE_INTERRUPT);
}

std::optional<std::string> StatementBudget::WhyStopped(int rc) const {
  if (rc == SQLITE_NOMEM)
    return fmt::format("was stopped: it needs more than {} MiB of memory", max_bytes >> 20);
  if (rc != SQLITE_INTERRUPT) return std::nullopt;
  ThrowIfCancelled();
  if (too_long_)
    return fmt::format("was stopped after {} s: it takes too long",
                       std::chrono::duration<double>(max_time).count());
  return fmt::format("was stopped after {} million steps: it does too much", max_steps / 1'000'000);
}

}  // namespace dladvisor
