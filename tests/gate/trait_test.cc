// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/trait.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "src/analysis/ops/matrix_product.h"
#include "tests/gate/facts.h"

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::IsEmpty;

Traits TraitsOf(const test::Facts& facts) { return ReadTraits(facts.Build()); }

std::vector<Difference> Compare(const test::Facts& baseline, const test::Facts& candidate,
                                std::vector<std::string> allowed = {}) {
  const Traits before = TraitsOf(baseline), after = TraitsOf(candidate);
  return CompareTraits({&before, 1}, {&after, 1}, allowed);
}

GpuRow Gpu(const std::string& name) {
  GpuRow gpu;
  gpu.name = name;
  return gpu;
}

KernelNameRow Kernel(std::string_view name, int64_t ns, double blocks, double threads = 128) {
  KernelNameRow kernel;
  kernel.kernel = name;
  kernel.total_ns = ns;
  kernel.grid_avg = blocks;
  kernel.block_avg = threads;
  return kernel;
}

MatrixProductRow Product(int64_t m, int64_t ns) {
  MatrixProductRow product;
  product.op = "aten::mm";
  product.m = m;
  product.n = product.k = 1024;
  product.data_type = "float";
  product.gpu_ns = ns;
  return product;
}

TEST(Trait, ARunIsLikeItself) { EXPECT_THAT(Compare(test::RunOf({1}), test::RunOf({1})), IsEmpty()); }

TEST(Trait, OtherGpusBlockUnlessAllowed) {
  const auto other = test::RunOf({1}).Give(GpuRelation(), std::vector{Gpu("NVIDIA H100")});
  const auto differences = Compare(test::RunOf({1}), other);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].trait, "gpu.model");
  EXPECT_EQ(differences[0].baseline, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(differences[0].candidate, "NVIDIA H100");
  EXPECT_TRUE(differences[0].blocks);
  EXPECT_FALSE(Compare(test::RunOf({1}), other, {"gpu.model"})[0].blocks);
}

TEST(Trait, WhatOnlyOneSideTellsIsNoDifference) {
  GpuRow unnamed;
  EXPECT_THAT(Compare(test::RunOf({1}), test::RunOf({1}).Give(GpuRelation(), std::vector{unnamed})),
              IsEmpty());
}

TEST(Trait, AnotherMachineIsSaidAndDoesNotBlock) {
  SystemRow here, there;
  here.host = "node1";
  there.host = "node2";
  const auto differences = Compare(test::RunOf({1}).Give(SystemRelation(), std::vector{here}),
                                   test::RunOf({1}).Give(SystemRelation(), std::vector{there}));
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].trait, "host");
  EXPECT_FALSE(differences[0].blocks);
}

TEST(Trait, AnotherBatchShowsInTheShapesOfProducts) {
  const auto small =
      test::RunOf({1}).Give(MatrixProductRelation(), std::vector{Product(64, 80), Product(8, 20)});
  const auto large =
      test::RunOf({1}).Give(MatrixProductRelation(), std::vector{Product(128, 80), Product(8, 20)});
  const auto one_layer =
      test::RunOf({1}).Give(MatrixProductRelation(), std::vector{Product(64, 80), Product(9, 20)});
  ASSERT_EQ(Compare(small, large).size(), 1u);
  EXPECT_EQ(Compare(small, large)[0].trait, "shapes");
  EXPECT_THAT(Compare(small, one_layer), IsEmpty());
}

TEST(Trait, AnotherBatchShowsInTheGridsOfKernels) {
  const auto small = test::RunOf({1}).Give(KernelNameRelation(),
                                           std::vector{Kernel("gemm", 70, 100), Kernel("add", 30, 10)});
  const auto large = test::RunOf({1}).Give(KernelNameRelation(),
                                           std::vector{Kernel("gemm", 140, 200), Kernel("add", 60, 10)});
  const auto same = test::RunOf({1}).Give(KernelNameRelation(),
                                          std::vector{Kernel("gemm", 70, 104), Kernel("add", 90, 10)});
  const auto differences = Compare(small, large);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].trait, "grids");
  EXPECT_EQ(differences[0].candidate, "2.00 times as many");
  EXPECT_THAT(Compare(small, same), IsEmpty());
}

TEST(Trait, BlocksOfAnotherSizeAreNoOtherWork) {
  const auto small =
      test::RunOf({1}).Give(KernelNameRelation(), std::vector{Kernel("fan", 100, 1'048'576, 16)});
  const auto large = test::RunOf({1}).Give(KernelNameRelation(), std::vector{Kernel("fan", 40, 65'536, 256)});
  EXPECT_THAT(Compare(small, large), IsEmpty());
}

TEST(Trait, TheSettingNamesWhatRunsOfAHistoryHaveInCommon) {
  EXPECT_EQ(TraitsOf(test::RunOf({1})).Setting(),
            "gpu.model=NVIDIA A100-SXM4-80GB; gpu.count=1; world_size=1; profiler=nsys; capture=nothing; "
            "step=ranges");
}

}  // namespace
}  // namespace dladvisor
