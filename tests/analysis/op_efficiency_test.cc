// SPDX-License-Identifier: Apache-2.0
// Rates and limits on drawn traces.
#include "src/analysis/efficiency/op_efficiency.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/analysis/operators_builder.h"

namespace dladvisor {
namespace {
using test::kTwoHalves;

constexpr const char* kFloatTypes = R"(["float", "float"])";
// 2 x 1000 x 1000 x 1000 FLOPs: 20 us at the peak.
constexpr const char* kSquare = "[[1000, 1000], [1000, 1000]]";
constexpr int64_t kFlops = 2'000'000'000;

struct Found {
  std::vector<OpEfficiencyRow> rows;
  RunEfficiency run;
};

struct DrawnCalls : test::OperatorsBuilder {
  Found Efficiencies(bool known = true) const {
    static std::vector<std::shared_ptr<Table>> tables;  // whose texts the rows refer to
    const Context context = test::ContextOf(trace);
    const OpEfficiencies of =
        ComputeOpEfficiencies(context, ComputeOperatorWork(context), {known ? Peaks() : GpuPeaks()});
    tables.push_back(of.rows);
    return {OpEfficiencyRelation().ToRows(*of.rows), of.run};
  }
};

TEST(OpEfficiency, OfAProductIsItsShareOfThePeak) {
  DrawnCalls b;
  b.Call("aten::mm", kSquare, kTwoHalves, 40'000);
  b.Call("aten::mm", kSquare, kTwoHalves, 40'000);
  const Found found = b.Efficiencies();
  ASSERT_EQ(found.rows.size(), 1u);
  const OpEfficiencyRow& row = found.rows[0];
  EXPECT_EQ(row.op, "aten::mm");
  EXPECT_EQ(row.kind, "matrix");
  EXPECT_EQ(row.precision, "fp16");
  EXPECT_EQ(row.calls, 2);
  EXPECT_EQ(row.flops, 2.0 * kFlops);
  EXPECT_EQ(row.bytes, 2.0 * 6e6);
  EXPECT_NEAR(*row.flops_per_s, 50e12, 1e6);
  EXPECT_NEAR(*row.compute_share, 0.5, 1e-9);
  EXPECT_NEAR(*row.memory_share, 0.15, 1e-9);
  EXPECT_NEAR(*row.intensity, 2e9 / 6e6, 1e-6);
  EXPECT_EQ(row.output_tiles, 64) << "8 x 8 of 128 x 128, the last ones in part";
  EXPECT_EQ(row.inner, 1000);
  EXPECT_EQ(row.layout, "nt") << "the library's kernel is called tn";
  EXPECT_FALSE(row.expert_rows);
  EXPECT_EQ(row.bound, "compute");
  EXPECT_NEAR(*row.attainable_ns, 40'000, 1e-3);
  EXPECT_NEAR(*row.attained_share, 0.5, 1e-9);
  EXPECT_NEAR(*row.headroom_ns, 40'000, 1e-3);
  EXPECT_FALSE(row.unknown_reason);
  EXPECT_NEAR(*found.run.known_work_share, 1, 1e-9);
  EXPECT_NEAR(*found.run.mfu, 40'000.0 / 80'010, 1e-3);
  EXPECT_EQ(found.run.mfu, found.run.hfu);
  EXPECT_NEAR(*found.run.speed_of_light, 40'000.0 / 80'010, 1e-3);
}

TEST(OpEfficiency, KnowsTheFastestAndTheLongestOfEqualCalls) {
  DrawnCalls b;
  for (const Ns duration : {80'000, 40'000, 200'000}) b.Call("aten::mm", kSquare, kTwoHalves, duration);
  const Found found = b.Efficiencies();
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].fastest_ns, 40'000);
  EXPECT_EQ(found.rows[0].longest_ns, 200'000);
}

TEST(OpEfficiency, ListsLayoutsOnTheirOwn) {
  DrawnCalls b;
  for (const char* strides : {"[[1000, 1], [1000, 1]]", "[[1000, 1], [1000, 1]]", "[[1000, 1], [1, 1000]]"}) {
    b.Call("aten::mm", kSquare, kTwoHalves, 40'000);
    b.trace.operator_arguments.back().strides = b.trace.names.Intern(strides);
  }
  const Found found = b.Efficiencies();
  ASSERT_EQ(found.rows.size(), 2u);
  EXPECT_EQ(found.rows[0].layout, "nn");
  EXPECT_EQ(found.rows[0].calls, 2);
  EXPECT_EQ(found.rows[1].layout, "nt");
  EXPECT_EQ(found.rows[1].calls, 1);
}

// Without strides kernels of libraries show it: cuBLAS computes the transposed product of matrices by
// columns.
TEST(OpEfficiency, OfAProductHasTheLayoutOfItsKernel) {
  const auto layout = [](const char* kernel) {
    DrawnCalls b;
    b.Call("aten::mm", kSquare, kTwoHalves, 40'000, kernel);
    return b.Efficiencies().rows.at(0).layout;
  };
  EXPECT_EQ(layout("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn"), "nn");
  EXPECT_EQ(layout("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nt"), "tn");
  EXPECT_EQ(layout("cutlass_80_tensorop_f16_s16816gemm_relu_f16_256x128_32x3_tn_align8"), "nt");
  EXPECT_EQ(layout("nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_TNN"), "nt");
  EXPECT_EQ(layout("Cijk_Alik_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1"), "nt");
  EXPECT_EQ(layout("Cijk_Ailk_Bjlk_HHS_BH_MT128x128x32_MI16x16x16x1"), "tn");
  EXPECT_EQ(layout("my_gemm"), "");
}

// A tensor of no dimensions is printed as one of one element.
TEST(OpEfficiency, ListsEqualDescriptionsOnce) {
  DrawnCalls b;
  b.Call("aten::fill_", "[[1], []]", R"(["int", "Scalar"])", 2'000, "fill");
  b.Call("aten::fill_", "[[], []]", R"(["int", "Scalar"])", 2'000, "fill");
  const Found found = b.Efficiencies();
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].shapes, "1");
  EXPECT_EQ(found.rows[0].calls, 2);
}

// Of dynamic shapes there may be any number: the rest of them must not be missing from sums.
TEST(OpEfficiency, ListsTheRestOfManyShapesTogether) {
  constexpr int kListed = 1000, kMore = 3;
  DrawnCalls b;
  for (int i = 0; i < kListed; ++i)
    b.Call("aten::mm", fmt::format("[[{}, 1000], [1000, 1000]]", 2000 + i), kTwoHalves, 400'000);
  for (int i = 0; i < kMore; ++i) {
    b.Call("aten::mm", fmt::format("[[{}, 1000], [1000, 1000]]", 500 * (i + 1)), kTwoHalves, 100'000 + i);
    b.Call("aten::copy_", fmt::format("[[{}, 1000], [{}, 1000]]", 100 + i, 100 + i), kTwoHalves, 300);
  }
  const Found found = b.Efficiencies();
  ASSERT_EQ(found.rows.size(), kListed + 2u);
  const OpEfficiencyRow& rest = found.rows[kListed];
  EXPECT_EQ(rest.op, "aten::mm");
  EXPECT_EQ(rest.shapes, "other shapes");
  EXPECT_EQ(rest.kind, "matrix");
  EXPECT_EQ(rest.precision, "fp16");
  EXPECT_EQ(rest.variants, kMore);
  EXPECT_EQ(found.rows[0].variants, 1);
  EXPECT_EQ(rest.calls, kMore);
  EXPECT_EQ(rest.gpu_ns, 300'003);
  EXPECT_EQ(rest.flops, 3.0 * kFlops);
  EXPECT_NEAR(*rest.attainable_ns, 60'000, 1e-3);
  EXPECT_NEAR(*rest.compute_share, 60'000.0 / 300'003, 1e-9);
  EXPECT_NEAR(*rest.headroom_ns, 240'003, 1e-3);
  EXPECT_EQ(rest.bound, "compute");
  EXPECT_FALSE(rest.output_tiles) << "those of several shapes";
  EXPECT_FALSE(rest.unknown_reason);
  const OpEfficiencyRow& cached = found.rows[kListed + 1];
  EXPECT_EQ(cached.op, "aten::copy_");
  EXPECT_EQ(cached.shapes, "other shapes of unknown headroom");
  EXPECT_EQ(cached.calls, kMore);
  EXPECT_FALSE(cached.bytes_per_s);
  EXPECT_FALSE(cached.attainable_ns);
  EXPECT_THAT(std::string(*cached.unknown_reason), testing::HasSubstr("cache"));
  double share = 0;
  for (const OpEfficiencyRow& row : found.rows) share += *row.kernel_share;
  EXPECT_NEAR(share, 1, 1e-9);
}

TEST(OpEfficiency, OfACopyIsItsShareOfTheBandwidth) {
  DrawnCalls b;
  b.Call("aten::copy_", "[[1000, 5000], [1000, 5000]]", kTwoHalves, 40'000, "copy");
  const OpEfficiencyRow row = b.Efficiencies().rows.at(0);
  EXPECT_EQ(row.kind, "copy");
  EXPECT_FALSE(row.flops);
  EXPECT_EQ(row.precision, "");
  EXPECT_EQ(row.bytes, 20e6);
  EXPECT_NEAR(*row.memory_share, 0.5, 1e-9);
  EXPECT_EQ(row.bound, "memory");
  EXPECT_NEAR(*row.attainable_ns, 20'000, 1e-3);
}

TEST(OpEfficiency, OfTinyOperatorsIsBoundByLatency) {
  DrawnCalls b;
  b.Call("aten::copy_", "[[10], [10]]", kTwoHalves, 2'000, "copy");
  const OpEfficiencyRow row = b.Efficiencies().rows.at(0);
  EXPECT_EQ(row.bound, "latency");
  EXPECT_NEAR(*row.attainable_ns, 1'000, 1e-3);
}

// FP32 is TF32 where the kernel's name shows it; where none does, no peak applies.
TEST(OpEfficiency, OfFp32DependsOnTheKernel) {
  const auto row = [](const char* kernel) {
    DrawnCalls b;
    b.Call("aten::mm", kSquare, kFloatTypes, 400'000, kernel);
    return b.Efficiencies().rows.at(0);
  };
  const OpEfficiencyRow tf32 = row("ampere_sgemm_tf32_128x128_tn");
  EXPECT_EQ(tf32.precision, "tf32");
  EXPECT_EQ(tf32.peak_flops_per_s, 50e12);
  const OpEfficiencyRow fp32 = row("ampere_sgemm_128x128_tn");
  EXPECT_EQ(fp32.precision, "fp32");
  EXPECT_EQ(fp32.peak_flops_per_s, 10e12);
  EXPECT_NEAR(*fp32.compute_share, 0.5, 1e-9);
  EXPECT_EQ(row("gemv2T_kernel_val<int, int, float, float>").precision, "fp32");
  const OpEfficiencyRow neither = row("my_product");
  EXPECT_EQ(neither.precision, "");
  EXPECT_FALSE(neither.compute_share);
  EXPECT_FALSE(neither.attainable_ns);
  EXPECT_TRUE(neither.flops_per_s);
  EXPECT_EQ(neither.unknown_reason, "the precision that the kernel computes in is not known");
}

// Never above the peak: what would be is unknown, and so is what follows from it.
TEST(OpEfficiency, AboveThePeakIsUnknown) {
  DrawnCalls b;
  b.Call("aten::mm", kSquare, kTwoHalves, 19'000);
  const Found found = b.Efficiencies();
  const OpEfficiencyRow& row = found.rows.at(0);
  EXPECT_FALSE(row.flops_per_s);
  EXPECT_FALSE(row.compute_share);
  EXPECT_FALSE(row.attainable_ns);
  EXPECT_TRUE(row.unknown_reason->starts_with("faster than the peak"));
  EXPECT_NEAR(*found.run.known_work_share, 0, 1e-9);
  EXPECT_FALSE(found.run.mfu);
}

// Exports record no types: a kernel's name may show the one that all tensors have.
TEST(OpEfficiency, OfUntypedTensorsFollowsFromTheKernel) {
  const auto row = [](const char* op, const char* shapes, const char* kernel) {
    DrawnCalls b;
    b.Call(op, shapes, "", 400'000, kernel);
    return b.Efficiencies().rows.at(0);
  };
  const char* two = "[[1000, 1000], [1000, 1000]]";
  EXPECT_EQ(row("aten::mm", two, test::kGemm).bytes, 3 * 2e6);
  EXPECT_EQ(
      row("aten::mul", two, "vectorized_elementwise_kernel<4, BinaryFunctor<float, float, float>>").bytes,
      3 * 4e6);
  EXPECT_EQ(row("aten::_foreach_add_", "[[[1000, 1000]], [[1000, 1000]], []]",
                "multi_tensor_apply_kernel<BinaryOpListAlphaFunctor<c10::BFloat16, 2, 2, 0>, float>")
                .bytes,
            3 * 2e6);
  // Several types, and results of another one.
  for (const auto& [op, kernel] :
       {std::pair("aten::mul", "kernel<c10::Half, float>"), std::pair("aten::mul", "kernel"),
        std::pair("aten::gt", "kernel<float>")}) {
    const OpEfficiencyRow unknown = row(op, two, kernel);
    EXPECT_FALSE(unknown.bytes) << kernel;
    EXPECT_EQ(unknown.unknown_reason, why::kNoTypes);
  }
}

// Winograd's algorithm multiplies less often than the formula counts.
TEST(OpEfficiency, OfWinogradConvolutionsAboveThePeakIsNoRate) {
  DrawnCalls b;
  b.Call("aten::cudnn_convolution_backward_input", "[[], [16, 128, 32, 32], [128, 128, 3, 3]]",
         R"(["", "float", "float"])", 400'000, "winograd_nonfused::winogradForwardOutput4x4<float>");
  const Found found = b.Efficiencies();
  const OpEfficiencyRow& row = found.rows.at(0);
  EXPECT_TRUE(row.flops);
  EXPECT_FALSE(row.flops_per_s);
  EXPECT_FALSE(row.compute_share);
  EXPECT_TRUE(row.unknown_reason->find("Winograd") != std::string::npos);
  EXPECT_TRUE(found.run.mfu);
}

// Nothing is listed of a rank of whose operators nothing is known.
TEST(OpEfficiency, OfUnknownOperatorsAloneIsEmpty) {
  DrawnCalls b;
  b.Call("my::op", "[[1]]", R"(["float"])", 1'000, "my_kernel");
  const Found found = b.Efficiencies();
  EXPECT_TRUE(found.rows.empty());
  EXPECT_EQ(found.run.known_work_share, 0);
}

TEST(OpEfficiency, OfKernelsWithoutDurationIsUnknown) {
  DrawnCalls b;
  b.Call("aten::fill_", "[[10], []]", R"(["float", "Scalar"])", 0, "fill");
  b.Call("aten::mm", kSquare, kTwoHalves, 40'000);
  const OpEfficiencyRow row = b.Efficiencies().rows.at(1);
  EXPECT_EQ(row.op, "aten::fill_");
  EXPECT_FALSE(row.bytes_per_s);
  EXPECT_TRUE(row.unknown_reason);
}

// Small tensors lie in the L2 cache.
TEST(OpEfficiency, FasterThanTheMemoryGivesNoTime) {
  DrawnCalls b;
  b.Call("aten::copy_", "[[1000, 1000], [1000, 1000]]", kTwoHalves, 3'000, "copy");
  const Found found = b.Efficiencies();
  const OpEfficiencyRow& row = found.rows.at(0);
  EXPECT_TRUE(row.bytes);
  EXPECT_FALSE(row.bytes_per_s);
  EXPECT_FALSE(row.memory_share);
  EXPECT_FALSE(row.attainable_ns);
  EXPECT_TRUE(row.unknown_reason->find("cache") != std::string::npos);
  EXPECT_NEAR(*found.run.known_work_share, 1, 1e-9);
}

TEST(OpEfficiency, OfAnUnknownGpuHasRatesButNoShares) {
  DrawnCalls b;
  b.Call("aten::mm", kSquare, kTwoHalves, 40'000);
  const Found found = b.Efficiencies(/*known=*/false);
  const OpEfficiencyRow& row = found.rows.at(0);
  EXPECT_NEAR(*row.flops_per_s, 50e12, 1e6);
  EXPECT_FALSE(row.peak_flops_per_s);
  EXPECT_FALSE(row.compute_share);
  EXPECT_FALSE(row.attainable_ns);
  EXPECT_EQ(row.unknown_reason, "the peaks of this GPU are not known");
  EXPECT_FALSE(found.run.mfu);
  EXPECT_FALSE(found.run.speed_of_light);
  EXPECT_NEAR(*found.run.known_work_share, 1, 1e-9);
}

// Where most of the time is of unknown work, the rest is not extrapolated.
TEST(OpEfficiency, OfTheRunNeedsHalfOfTheTime) {
  for (const Ns unknown : {30'000, 50'000}) {
    DrawnCalls b;
    b.Call("aten::mm", kSquare, kTwoHalves, 40'000);
    b.Call("my::op", "[[1]]", R"(["float"])", unknown, "my_kernel");
    const Found found = b.Efficiencies();
    EXPECT_NEAR(*found.run.known_work_share, 40'000.0 / static_cast<double>(40'000 + unknown), 1e-9);
    EXPECT_EQ(found.run.mfu.has_value(), unknown == 30'000);
    EXPECT_EQ(found.run.speed_of_light.has_value(), unknown == 30'000);
    ASSERT_EQ(found.rows.size(), 2u);
    for (const OpEfficiencyRow& row : found.rows) {
      if (row.op == "my::op") {
        EXPECT_EQ(row.unknown_reason, why::kNoFormula);
      }
    }
  }
}

}  // namespace
}  // namespace dladvisor
