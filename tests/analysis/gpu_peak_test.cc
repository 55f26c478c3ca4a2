// SPDX-License-Identifier: Apache-2.0
// Peaks of the GPUs of a profile, and what becomes of them where it contradicts the model.
#include "src/analysis/hardware/gpu_peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "src/analysis/summary/profile.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGibi = int64_t{1} << 30;

TraceBuilder OnGpu(const std::string& name, std::optional<int64_t> multiprocessors = std::nullopt,
                   std::optional<int64_t> memory_bytes = std::nullopt,
                   std::optional<int64_t> bandwidth = std::nullopt) {
  TraceBuilder b;
  Device& device = b.trace.devices[0];
  device.name = name;
  device.sm_count = multiprocessors;
  device.memory_bytes = memory_bytes;
  device.memory_bandwidth = bandwidth;
  b.Kernel(0, 1'700, "short", 1);
  b.Kernel(2'000, 90'000, "long", 2);
  return b;
}

GpuPeaks PeaksOf(const TraceBuilder& b, const AnalysisOptions& options = {}) {
  return ComputeGpuPeaks(MakeContext(b.trace, options)).at(0);
}

double Bf16(const GpuPeaks& peaks) {
  return peaks.Peak(Precision::kBf16, ComputeUnit::kMatrix).value_or(0) / 1e12;
}

TEST(GpuPeak, AWholeGpuHasThePeaksOfItsModel) {
  const GpuPeaks peaks = PeaksOf(OnGpu("NVIDIA A100-SXM4-80GB", 108, 85'095'874'560, 2'039'040'000'000));
  EXPECT_EQ(peaks.model, "A100 SXM4 80 GB");
  EXPECT_FALSE(peaks.declared);
  EXPECT_DOUBLE_EQ(Bf16(peaks), 312);
  EXPECT_DOUBLE_EQ(*peaks.Achievable(Precision::kBf16, ComputeUnit::kMatrix), 271.2e12);
  EXPECT_FALSE(peaks.Peak(Precision::kFp8, ComputeUnit::kMatrix).has_value());
  EXPECT_DOUBLE_EQ(*peaks.memory_bytes_per_s, 2039e9);
  EXPECT_DOUBLE_EQ(*peaks.link_bytes_per_s, 300e9);
  EXPECT_EQ(peaks.launch_floor_ns, 1'700);
}

TEST(GpuPeak, WithoutAShortKernelTheFloorIsUnknown) {
  TraceBuilder b = OnGpu("NVIDIA L4");
  b.trace.kernels.end[0] = 6'000;
  EXPECT_FALSE(PeaksOf(b).launch_floor_ns.has_value());
  b.trace.kernels.end[0] = 100;
  EXPECT_FALSE(PeaksOf(b).launch_floor_ns.has_value()) << "no kernel takes so little";
}

TEST(GpuPeak, ASliceHasItsShareOfComputeAndUnknownBandwidth) {
  const GpuPeaks peaks = PeaksOf(OnGpu("NVIDIA A100-SXM4-80GB MIG 3g.40gb", 42, 40 * kGibi));
  EXPECT_DOUBLE_EQ(peaks.multiprocessor_share, 42.0 / 108);
  EXPECT_DOUBLE_EQ(Bf16(peaks), 312.0 * 42 / 108);
  EXPECT_FALSE(peaks.memory_bytes_per_s.has_value());
  EXPECT_FALSE(peaks.link_bytes_per_s.has_value());
}

TEST(GpuPeak, MoreMultiprocessorsThanTheModelHasAreAnotherModel) {
  EXPECT_FALSE(PeaksOf(OnGpu("NVIDIA H100 PCIe", 132)).is_known());
  EXPECT_TRUE(PeaksOf(OnGpu("NVIDIA H100 PCIe", 114)).is_known());
}

TEST(GpuPeak, ContradictedBandwidthIsTheRecordedOneOrUnknown) {
  const auto bandwidth = [](std::optional<int64_t> memory, std::optional<int64_t> recorded) {
    return PeaksOf(OnGpu("NVIDIA GeForce RTX 3060", 28, memory, recorded)).memory_bytes_per_s.value_or(0) /
           1e9;
  };
  EXPECT_DOUBLE_EQ(bandwidth(12 * kGibi, 360'048'000'000), 360);
  EXPECT_DOUBLE_EQ(bandwidth(8 * kGibi, 240'000'000'000), 240) << "the variant of 8 GB";
  EXPECT_DOUBLE_EQ(bandwidth(8 * kGibi, std::nullopt), 0);
  EXPECT_DOUBLE_EQ(bandwidth(12 * kGibi, 720'000'000'000), 0);
  EXPECT_DOUBLE_EQ(*PeaksOf(OnGpu("NVIDIA GB10", 48, 128'453'668'864, 546'112'000'000)).memory_bytes_per_s,
                   273e9)
      << "CUDA counts its bus twice";
}

TEST(GpuPeak, AnUnknownGpuHasNoPeaks) {
  const TraceBuilder b = OnGpu("NVIDIA Mystery");
  const Context context = test::ContextOf(b.trace);
  const std::vector<GpuPeaks> peaks = ComputeGpuPeaks(context);
  EXPECT_FALSE(peaks.at(0).is_known());
  EXPECT_THAT(ComputeGpuPeakRows(context, peaks), IsEmpty());
  EXPECT_FALSE(peaks.at(0).memory_bytes_per_s.has_value());
}

TEST(GpuPeak, AnUnknownGpuHasTheBandwidthThatTheProfileRecords) {
  const GpuPeaks peaks = PeaksOf(OnGpu("NVIDIA Mystery", 40, 8 * kGibi, 384'064'000'000));
  EXPECT_FALSE(peaks.is_known());
  EXPECT_DOUBLE_EQ(peaks.memory_bytes_per_s.value_or(0), 384'064'000'000);
}

TEST(GpuPeak, WhatAProjectDeclaresComesFirst) {
  auto declared = std::make_shared<Hardware>();
  GpuModel& ours = declared->models.emplace_back();
  ours.model = "Ours";
  ours.names = {"NVIDIA L4"};
  ours.peaks = {{Precision::kBf16, ComputeUnit::kMatrix, 90e12}};
  ours.source = "measured";
  AnalysisOptions options;
  options.hardware = declared;
  const TraceBuilder b = OnGpu("NVIDIA L4", 58);
  const Context context = MakeContext(b.trace, options);
  const std::vector<GpuPeakRow> rows = ComputeGpuPeakRows(context, ComputeGpuPeaks(context));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].model, "Ours");
  EXPECT_EQ(rows[0].known_by, "declared");
  EXPECT_DOUBLE_EQ(rows[0].flops_per_s, 90e12);
  EXPECT_FALSE(rows[0].memory_bytes_per_s.has_value());
  EXPECT_FALSE(PeaksOf(OnGpu("NVIDIA A10"), options).declared);
}

}  // namespace
}  // namespace dladvisor
