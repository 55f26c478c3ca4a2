// SPDX-License-Identifier: Apache-2.0
#include "src/trace/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace dladvisor {
namespace {

TEST(ParallelFor, NestedWorkTakesNoMoreThreadsThanThereAreCores) {
  std::atomic<size_t> running{0}, most{0};
  ParallelFor(8, [&](size_t) {
    ParallelFor(8, [&](size_t) {
      const size_t now = ++running;
      for (size_t seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      --running;
    });
  });
  EXPECT_LE(most, ThreadCount());
}

TEST(ParallelFor, DoesAllWorkAndThrowsWhatTheLowestIndexThrew) {
  std::vector<int> done(1000, 0);
  try {
    ParallelFor(done.size(), [&](size_t i) {
      ++done[i];
      if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
    });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "37");
  }
  EXPECT_EQ(done, std::vector<int>(1000, 1));
  ParallelFor(0, [](size_t) { FAIL() << "there is nothing to do"; });
}

// Work that holds a lock would wait for itself if its thread took up other work that needs the lock.
TEST(ParallelFor, AWaitingThreadTakesUpNoOtherWork) {
  static thread_local bool is_at_work = false;
  std::atomic<int> mixed{0};
  ParallelFor(64, [&](size_t) {
    mixed += is_at_work;
    is_at_work = true;
    ParallelFor(4, [&](size_t i) { std::this_thread::sleep_for(std::chrono::microseconds(200 * i)); });
    is_at_work = false;
  });
  EXPECT_EQ(mixed, 0);
}

TEST(ParallelFor, MayBeCalledWithALockHeld) {
  std::once_flag once;
  std::atomic<int> computed{0};
  ParallelFor(64, [&](size_t) {
    std::call_once(once, [&] { ParallelFor(64, [&](size_t) { ++computed; }); });
    EXPECT_EQ(computed, 64);
  });
}

TEST(ParallelInOrder, InputsComeFirst) {
  constexpr size_t kTasks = 300;
  std::vector<std::vector<size_t>> inputs(kTasks);
  for (size_t i = 1; i < kTasks; ++i)
    inputs[i] = i % 7 == 0 ? std::vector<size_t>() : std::vector{i / 2, i - 1};
  std::vector<std::atomic<int>> calls(kTasks);
  std::atomic<size_t> early = 0;
  ParallelInOrder(inputs, [&](size_t i) {
    for (const size_t input : inputs[i]) early += calls[input] == 0;
    ParallelFor(3, [](size_t) {});
    ++calls[i];
  });
  EXPECT_EQ(early, 0u);
  for (size_t i = 0; i < kTasks; ++i) EXPECT_EQ(calls[i], 1) << i;
}

TEST(ParallelInOrder, WhatDependsOnAFailureIsNotDone) {
  std::vector<std::atomic<int>> calls(5);
  try {
    ParallelInOrder({{}, {0}, {1}, {0}, {}}, [&](size_t i) {
      ++calls[i];
      if (i == 1 || i == 4) throw std::runtime_error(std::to_string(i));
    });
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "1");
  }
  EXPECT_EQ(calls[2], 0);
  EXPECT_EQ(calls[3], 1);
}

TEST(ParallelPipeline, TakesItemsInTheOrderOfReading) {
  std::vector<int> slots(3), taken;
  int read = 0;
  ParallelPipeline(
      slots.size(),
      [&](size_t slot) {
        slots[slot] = read;
        return read++ < 500;
      },
      [&](size_t slot) {
        if (slots[slot] % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        slots[slot] *= 2;
      },
      [&](size_t slot) { taken.push_back(slots[slot]); });
  std::vector<int> expected;
  for (int i = 0; i < 500; ++i) expected.push_back(2 * i);
  EXPECT_EQ(taken, expected);
}

TEST(ParallelPipeline, ThrowsWhatTheFirstItemThrewAfterTakingThoseBefore) {
  for (const std::string failing : {"read", "work", "take"}) {
    std::vector<int> slots(4), taken;
    int read = 0;
    const auto fail = [&](const char* stage, int item) {
      if (stage == failing && item >= 20) throw std::runtime_error(std::to_string(item));
    };
    try {
      ParallelPipeline(
          slots.size(),
          [&](size_t slot) {
            slots[slot] = read++;
            fail("read", slots[slot]);
            return read < 100;
          },
          [&](size_t slot) {
            if (slots[slot] == 20) std::this_thread::sleep_for(std::chrono::milliseconds(5));
            fail("work", slots[slot]);
          },
          [&](size_t slot) {
            fail("take", slots[slot]);
            taken.push_back(slots[slot]);
          });
      ADD_FAILURE() << "nothing was thrown by " << failing;
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "20") << failing;
    }
    EXPECT_EQ(taken.size(), 20u) << failing;
  }
}

}  // namespace
}  // namespace dladvisor
