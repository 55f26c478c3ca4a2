// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/match_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dladvisor {
namespace {

RecordedWork Kernel(std::string name, std::string kind, std::string op, double ns) {
  return {std::move(name), std::move(kind), std::move(op), 1, ns, std::nullopt};
}

TEST(MatchKernels, EqualNamesAreOne) {
  const std::vector<RecordedWork> before = {Kernel("gemm", "matrix", "/a/linear", 10)},
                                  after = {Kernel("gemm", "matrix", "/b/conv", 7)};
  const auto pairs = MatchKernels(before, after);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].matched, MatchedBy::kName);
  EXPECT_EQ(pairs[0].before->ns, 10);
  EXPECT_EQ(pairs[0].after->ns, 7);
}

TEST(MatchKernels, OtherNamesOfOneOperatorAndKindAreTheSameWork) {
  const std::vector<RecordedWork> before = {Kernel("nvjet_tst", "matrix", "/model/linear/mm", 10),
                                            Kernel("vectorized_add", "element-wise", "/model/add", 3)},
                                  after = {Kernel("Cijk_Alik", "matrix", "/net/linear/mm", 12),
                                           Kernel("triton_add", "element-wise", "/net/add", 2),
                                           Kernel("Cijk_Ailk", "matrix", "/net/linear/mm", 1)};
  const auto pairs = MatchKernels(before, after);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].matched, MatchedBy::kOperator);
  EXPECT_EQ(pairs[0].before_name, "nvjet_tst");
  EXPECT_EQ(pairs[0].after_name, "Cijk_Alik");
  EXPECT_EQ(pairs[0].after_others, 1u);
  EXPECT_EQ(pairs[0].after->ns, 13);
  EXPECT_EQ(pairs[1].after_name, "triton_add");
}

TEST(MatchKernels, WhatIsLeftIsMatchedByItsKind) {
  const std::vector<RecordedWork> before = {Kernel("ampere_sgemm", "matrix", "/aten::mm", 10)},
                                  after = {Kernel("triton_mm", "matrix", "/CompiledFunction", 8)};
  const auto pairs = MatchKernels(before, after);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].matched, MatchedBy::kKind);
}

TEST(MatchKernels, KernelsOfNoKnownKindStandAlone) {
  const std::vector<RecordedWork> before = {Kernel("a", "other", "/x", 1), Kernel("b", "", "", 1)},
                                  after = {Kernel("c", "other", "/x", 2), Kernel("d", "", "", 2)};
  const auto pairs = MatchKernels(before, after);
  ASSERT_EQ(pairs.size(), 4u);
  for (const WorkPair& pair : pairs) {
    EXPECT_EQ(pair.matched, MatchedBy::kNothing);
    EXPECT_NE(pair.before.has_value(), pair.after.has_value());
  }
}

TEST(MatchKernels, NoTimeIsLostOrCountedTwice) {
  const std::vector<RecordedWork> before = {Kernel("a", "matrix", "/x", 1), Kernel("b", "matrix", "/x", 2),
                                            Kernel("c", "matrix", "/y", 4), Kernel("d", "other", "/y", 8)},
                                  after = {Kernel("b", "matrix", "/x", 16), Kernel("e", "matrix", "/x", 32),
                                           Kernel("f", "sort", "/z", 64)};
  double sum_before = 0, sum_after = 0;
  for (const WorkPair& pair : MatchKernels(before, after)) {
    sum_before += pair.before ? pair.before->ns : 0;
    sum_after += pair.after ? pair.after->ns : 0;
  }
  EXPECT_EQ(sum_before, 15);
  EXPECT_EQ(sum_after, 112);
}

TEST(MatchShapes, OtherShapesOfOneOperatorAreMatchedTogether) {
  RecordedWork small = Kernel("mm [8x8] fp32", "matrix", "mm", 10),
               large = Kernel("mm [16x8] fp32", "matrix", "mm", 30);
  small.attained_share = 0.2;
  large.attained_share = 0.6;
  const std::vector<RecordedWork> before = {small}, after = {large};
  const auto pairs = MatchShapes(before, after);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].matched, MatchedBy::kOperator);
  EXPECT_DOUBLE_EQ(*pairs[0].after->attained_share, 0.6);
}

TEST(MatchOperators, LibrariesAreNotWorkOfTheirOwn) {
  const std::vector<RecordedWork> before = {Kernel("/vit/aten::_convolution/aten::cudnn_convolution", "", "",
                                                   10),
                                            Kernel("/vit/aten::_flash_attention_forward", "", "", 5),
                                            Kernel("/vit/aten::mm", "", "", 3)},
                                  after = {
                                      Kernel("/vit/aten::_convolution/aten::miopen_convolution", "", "", 4),
                                      Kernel("/vit/aten::_efficient_attention_forward", "", "", 6),
                                      Kernel("/vit/aten::bmm", "", "", 3)};
  const auto pairs = MatchOperators(before, after);
  ASSERT_EQ(pairs.size(), 4u);
  EXPECT_EQ(pairs[0].after_name, after[0].name);
  EXPECT_EQ(pairs[0].matched, MatchedBy::kOperator);
  EXPECT_EQ(pairs[1].after_name, after[1].name);
  EXPECT_FALSE(pairs[2].after || pairs[3].before);
}

TEST(MatchOperators, ASumMakesNoOtherProduct) {
  const std::vector<RecordedWork> before = {Kernel("/step/aten::mm", "", "", 9)},
                                  after = {Kernel("/step/aten::addmm", "", "", 5)};
  const auto pairs = MatchOperators(before, after);
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].after_name, after[0].name);
}

TEST(SumByKind, CountsWhatHasNoKindAsOther) {
  const std::vector<RecordedWork> before = {Kernel("a", "matrix", "", 1), Kernel("b", "matrix", "", 2),
                                            Kernel("c", "", "", 4)};
  const auto kinds = SumByKind(before, {});
  ASSERT_EQ(kinds.size(), 2u);
  EXPECT_EQ(kinds[0].kind, "matrix");
  EXPECT_EQ(kinds[0].before->ns, 3);
  EXPECT_EQ(kinds[1].kind, "other");
}

}  // namespace
}  // namespace dladvisor
