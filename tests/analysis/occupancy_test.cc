// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/occupancy.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

Device A100() {
  Device device;
  device.compute_major = 8;
  device.compute_minor = 0;
  device.sm_count = 108;
  return device;
}

// Values of NVIDIA's occupancy calculator.
TEST(Occupancy, BlocksPerMultiprocessor) {
  using enum OccupancyLimit;
  EXPECT_EQ(BlocksPerSm(A100(), 256, 32, 0), BlockFit(8, kBlockSize)) << "2048 threads";
  EXPECT_EQ(BlocksPerSm(A100(), 256, 64, 0), BlockFit(4, kRegisters)) << "65536 registers";
  EXPECT_EQ(BlocksPerSm(A100(), 32, 16, 0), BlockFit(32, kBlockSize));
  EXPECT_EQ(BlocksPerSm(A100(), 128, 32, 48 * 1024), BlockFit(3, kSharedMemory))
      << "164 KiB, 1 KiB of each block is the system's";
  EXPECT_EQ(BlocksPerSm(A100(), 1024, 32, 0), BlockFit(2, kBlockSize));
  EXPECT_EQ(BlocksPerSm(A100(), 100, 33, 0), BlockFit(12, kRegisters)) << "4 warps of 1280 registers each";
  Device turing = A100();
  turing.compute_major = 7;
  turing.compute_minor = 5;
  EXPECT_EQ(BlocksPerSm(turing, 256, 32, 0), BlockFit(4, kBlockSize));
  Device gfx90a = A100();
  gfx90a.name = "AMD Instinct MI250X";
  EXPECT_FALSE(BlocksPerSm(gfx90a, 256, 32, 0).has_value());
  EXPECT_FALSE(BlocksPerSm(Device{}, 256, 32, 0).has_value());
  EXPECT_FALSE(BlocksPerSm(A100(), 0, 32, 0).has_value());
  EXPECT_FALSE(BlocksPerSm(A100(), 256, 32, int64_t{1} << 40).has_value()) << "not this device's limits";
}

TEST(Occupancy, LimitsThatTheDeviceStatesGoBeforeThoseOfItsCapability) {
  using enum OccupancyLimit;
  Device device = A100();
  device.shared_bytes_per_sm = 64 * 1024;
  device.threads_per_sm = 1024;
  device.blocks_per_sm = 8;
  EXPECT_EQ(BlocksPerSm(device, 128, 32, 40 * 1024), BlockFit(1, kSharedMemory));
  EXPECT_EQ(BlocksPerSm(device, 256, 32, 0), BlockFit(4, kBlockSize));
  EXPECT_EQ(BlocksPerSm(device, 32, 16, 0), BlockFit(8, kBlockSize));
}

TEST(Occupancy, AmdsArchitecturesAreNoCapabilities) {
  Device gfx1100 = A100();
  gfx1100.compute_major = 11;
  gfx1100.name = "Radeon RX 7900 GRE";
  EXPECT_FALSE(BlocksPerSm(gfx1100, 32, 32, 44032).has_value());
  gfx1100.name = "";
  gfx1100.amd = true;
  EXPECT_FALSE(BlocksPerSm(gfx1100, 32, 32, 44032).has_value());
}

TEST(Occupancy, TheTailIsTheEmptyPartOfTheLastWave) {
  EXPECT_EQ(TailNs(A100(), 108 * 4, 1000, 4), 0);
  EXPECT_EQ(TailNs(A100(), 108 * 4 + 108, 1000, 4), 375);  // 5 of 8 quarter waves
  EXPECT_EQ(TailNs(A100(), 10, 1000, 4), 0) << "a small grid has no tail";
  EXPECT_FALSE(TailNs(Device{}, 500, 1000, 4).has_value());
}

}  // namespace
}  // namespace dladvisor
