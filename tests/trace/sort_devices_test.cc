// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "src/trace/trace.h"

namespace dladvisor {
namespace {

TEST(SortDevices, IsByOrdinal) {
  Trace trace;
  trace.devices.resize(2);
  trace.devices[0].ordinal = 3;
  trace.devices[1].ordinal = 1;
  SortDevices(trace);
  EXPECT_EQ(trace.devices[0].ordinal, 1);
  EXPECT_EQ(trace.devices[1].ordinal, 3);
}

TEST(SortDevices, ForgetsFiguresThatNoGpuCanHave) {
  const auto kept = [](std::optional<int64_t> Device::*figure, int64_t value) {
    Trace trace;
    trace.devices.resize(1);
    trace.devices[0].*figure = value;
    SortDevices(trace);
    return (trace.devices[0].*figure).has_value();
  };
  EXPECT_TRUE(kept(&Device::sm_count, 132));
  EXPECT_TRUE(kept(&Device::memory_bytes, int64_t{80} << 30));
  EXPECT_TRUE(kept(&Device::compute_minor, 0));
  EXPECT_FALSE(kept(&Device::sm_count, int64_t{1} << 62));
  EXPECT_FALSE(kept(&Device::sm_count, 0));
  EXPECT_FALSE(kept(&Device::memory_bytes, -1));
  EXPECT_FALSE(kept(&Device::clock_hz, INT64_MAX));
  EXPECT_FALSE(kept(&Device::compute_major, INT64_MIN));
}

}  // namespace
}  // namespace dladvisor
