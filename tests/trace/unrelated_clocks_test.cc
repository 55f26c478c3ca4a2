// SPDX-License-Identifier: Apache-2.0
#include "src/trace/unrelated_clocks.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

constexpr Ns kSecond = 1'000'000'000;

// Calls from `calls` on for a second, the first of which launches the one kernel.
Trace LaunchAt(Ns calls, Ns kernel, int64_t launched_by = 1) {
  Trace t;
  t.processes.resize(1);
  t.threads.resize(1);
  t.threads[0].process = 0;
  t.devices.resize(1);
  for (const int64_t i : {0, 1}) {
    t.api_calls.start.push_back(calls + i * (kSecond - 10));
    t.api_calls.end.push_back(t.api_calls.start.back() + 10);
    t.api_calls.thread.push_back(0);
    t.api_calls.correlation.push_back(i + 1);
    t.api_calls.name.push_back(t.names.Intern("cudaLaunchKernel"));
    t.api_calls.result.push_back(0);
  }
  t.kernels.start.push_back(kernel);
  t.kernels.end.push_back(kernel + kSecond);
  t.kernels.process.push_back(0);
  t.kernels.correlation.push_back(launched_by);
  DropHostOfUnrelatedClock(t);
  return t;
}

TEST(UnrelatedClocks, LeaveOutTheHost) {
  for (const Ns offset : {-100'000 * kSecond, -3 * kSecond, 100 * kSecond, 400'000 * kSecond}) {
    const Trace t = LaunchAt(500'000 * kSecond, 500'000 * kSecond + offset);
    EXPECT_EQ(t.api_calls.size(), 0u) << offset;
    ASSERT_EQ(t.kernels.size(), 1u);
    EXPECT_EQ(t.kernels.start[0], 0);
    EXPECT_EQ(t.kernels.end[0], kSecond);
    EXPECT_EQ(t.health.notes.size(), 1u);
  }
}

// Behind the last call, in a queue or by a jitter of the clocks.
TEST(UnrelatedClocks, AreNotThoseOfWorkThatWaits) {
  for (const Ns offset : {-kSecond - 5'000, Ns{0}, kSecond / 2, kSecond + 100, 50 * kSecond}) {
    const Trace t = LaunchAt(5'000 * kSecond, 5'000 * kSecond + offset);
    EXPECT_EQ(t.api_calls.size(), 2u) << offset;
    EXPECT_EQ(t.kernels.start[0], 5'000 * kSecond + offset);
    EXPECT_TRUE(t.health.notes.empty());
  }
}

TEST(UnrelatedClocks, AreNotKnownOfWorkThatOtherCallsLaunched) {
  EXPECT_EQ(LaunchAt(5'000 * kSecond, 9'000 * kSecond, 77).api_calls.size(), 2u);
  EXPECT_EQ(LaunchAt(5'000 * kSecond, 9'000 * kSecond, kNoCorrelation).api_calls.size(), 2u);
}

TEST(UnrelatedClocks, NeedBothSides) {
  Trace empty;
  DropHostOfUnrelatedClock(empty);
  EXPECT_TRUE(empty.health.notes.empty());
}

}  // namespace
}  // namespace dladvisor
