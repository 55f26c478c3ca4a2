// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/attention_block.h"

#include <gtest/gtest.h>

#include "tests/analysis/operators_builder.h"

namespace dladvisor {
namespace {
using test::kTwoHalves;

struct DrawnBlocks : test::OperatorsBuilder {
  // Queries and keys of 8 heads.
  void Scores() { Call("aten::bmm", "[[8, 512, 64], [8, 64, 256]]", kTwoHalves, 20'000); }
  void Move(std::string_view name, std::string_view shapes) {
    Call(name, shapes, kTwoHalves, 10'000, "kernel");
  }
  void Values() { Call("aten::bmm", "[[8, 512, 256], [8, 256, 32]]", kTwoHalves, 20'000); }

  std::vector<AttentionBlockRow> Blocks(const GpuPeaks& peaks = Peaks()) const {
    const Context context = test::ContextOf(trace);
    return ComputeAttentionBlocks(context, ComputeOperatorWork(context), {peaks});
  }
};

TEST(AttentionBlock, IsAProductASoftmaxAndAProduct) {
  DrawnBlocks b;
  for (int i = 0; i < 3; ++i) {
    b.Scores();
    b.Move("aten::div", "[[8, 512, 256], []]");
    b.Move("aten::add", "[[1, 8, 512, 256], [1, 1, 512, 256]]");
    b.Move("aten::_softmax", "[[8, 512, 256]]");
    b.Values();
    b.Move("aten::copy_", "[[8, 512, 32], [8, 512, 32]]");  // of the result
  }
  const auto rows = b.Blocks();
  ASSERT_EQ(rows.size(), 1u);
  const AttentionBlockRow& row = rows[0];
  EXPECT_EQ(row.direction, "forward");
  EXPECT_EQ(row.softmax, "operator");
  EXPECT_EQ(row.ops, "aten::bmm > aten::div > aten::add > aten::_softmax > aten::bmm");
  EXPECT_EQ(row.batch, 8);
  EXPECT_EQ(row.queries, 512);
  EXPECT_EQ(row.keys, 256);
  EXPECT_EQ(row.head_size, 64);
  EXPECT_EQ(row.value_size, 32);
  EXPECT_EQ(row.data_type, "fp16");
  EXPECT_EQ(row.blocks, 3);
  EXPECT_EQ(row.kernels, 15);
  EXPECT_EQ(row.gpu_ns, 3 * 70'000);
  EXPECT_EQ(row.score_ns, 3 * 30'000);
  EXPECT_EQ(row.flops, 3 * 2.0 * 8 * 512 * 256 * (64 + 32));
  EXPECT_EQ(row.fused_bytes, 3 * 2.0 * 8 * (512 * 64 + 256 * 64 + 256 * 32 + 512 * 32));
  // 201 MFLOP take 2 us at 100 TFLOP/s, 1.2 MB take 1.2 us.
  EXPECT_NEAR(*row.fused_ns, 3 * 2013.3, 1);
  EXPECT_NEAR(*row.headroom_ns, 3 * 70'000 - 3 * 2013.3, 1);
  EXPECT_FALSE(b.Blocks(GpuPeaks()).at(0).fused_ns);
}

// Written by hand: maxima and sums of rows are not as large as the scores.
TEST(AttentionBlock, MayHaveItsSoftmaxInPieces) {
  DrawnBlocks b;
  b.Scores();
  b.Move("aten::amax", "[[8, 512, 256], [], []]");
  b.Move("aten::sub", "[[8, 512, 256], [8, 512, 1]]");
  b.Move("aten::exp", "[[8, 512, 256]]");
  b.Move("aten::sum", "[[8, 512, 256], []]");
  b.Move("aten::div", "[[8, 512, 256], [8, 512, 1]]");
  b.Values();
  const auto rows = b.Blocks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].softmax, "pieces");
}

TEST(AttentionBlock, OfGradientsIsBackward) {
  DrawnBlocks b;
  b.Scores();
  b.Move("aten::_softmax_backward_data", "[[8, 512, 256], [8, 512, 256]]");
  b.Values();
  const auto rows = b.Blocks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].direction, "backward");
}

// As autograd runs it, the gradient of a factor before or after that of the other. All sizes but the head's
// are the same, so that the gradient of the values looks like a product of the one before.
TEST(AttentionBlock, OfGradientsHasFourProducts) {
  for (const bool values_first : {true, false}) {
    DrawnBlocks b;
    const auto gradient_of_values = [&] {
      b.Call("aten::bmm", "[[8, 256, 256], [8, 256, 64]]", kTwoHalves, 20'000);
    };
    b.Call("aten::mm", "[[2048, 64], [64, 64]]", kTwoHalves, 20'000);
    b.Move("aten::copy_", "[[2, 4, 256, 64], [2, 4, 256, 64]]");
    if (values_first) gradient_of_values();
    b.Call("aten::bmm", "[[8, 256, 64], [8, 64, 256]]", kTwoHalves, 20'000);
    if (!values_first) gradient_of_values();
    b.Move("aten::copy_", "[[2, 4, 256, 256], [2, 4, 256, 256]]");
    b.Move("aten::_softmax_backward_data", "[[2, 4, 256, 256], [2, 4, 256, 256]]");
    b.Move("aten::div", "[[2, 4, 256, 256], []]");
    b.Call("aten::bmm", "[[8, 64, 256], [8, 256, 256]]", kTwoHalves, 20'000);
    b.Call("aten::bmm", "[[8, 256, 256], [8, 256, 64]]", kTwoHalves, 20'000);
    b.Call("aten::mm", "[[64, 2048], [2048, 64]]", kTwoHalves, 20'000);
    const auto rows = b.Blocks();
    ASSERT_EQ(rows.size(), 1u);
    const AttentionBlockRow& row = rows[0];
    EXPECT_EQ(row.direction, "backward");
    EXPECT_EQ(row.blocks, 1);
    EXPECT_EQ(row.head_size, 64);
    EXPECT_EQ(row.value_size, 64);
    EXPECT_EQ(row.gpu_ns, 4 * 20'000 + 3 * 10'000);
    EXPECT_EQ(row.score_ns, 3 * 10'000);
    EXPECT_EQ(row.copy_ns, 10'000);
    EXPECT_EQ(row.flops, 5 * 2.0 * 8 * 256 * 256 * 64);
    EXPECT_EQ(row.fused_bytes, 8 * 2.0 * 8 * 256 * 64);
  }
}

TEST(AttentionBlock, IsNoLoss) {
  DrawnBlocks b;
  b.Scores();
  b.Move("aten::_log_softmax_backward_data", "[[8, 512, 256], [8, 512, 256]]");
  b.Values();
  EXPECT_TRUE(b.Blocks().empty());
}

// Exports record no types: the kernel of the first product shows that it computes in FP16.
TEST(AttentionBlock, WithoutTypesIsMeasuredByItsKernels) {
  DrawnBlocks b;
  b.Call("aten::bmm", "[[8, 512, 64], [8, 64, 256]]", "", 20'000);
  b.Call("aten::_softmax", "[[8, 512, 256]]", "", 10'000, "kernel");
  b.Call("aten::bmm", "[[8, 512, 256], [8, 256, 32]]", "", 20'000);
  const auto rows = b.Blocks();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].data_type, "");
  EXPECT_EQ(rows[0].fused_bytes, 2.0 * 8 * (512 * 64 + 256 * 64 + 256 * 32 + 512 * 32));
  EXPECT_NEAR(*rows[0].fused_ns, 2013.3, 1);
}

// Two layers of a perceptron have the same shapes without a softmax; a softmax alone is no attention.
TEST(AttentionBlock, NeedsAllThree) {
  DrawnBlocks layers;
  layers.Scores();
  layers.Move("aten::gelu", "[[8, 512, 256]]");
  layers.Values();
  EXPECT_TRUE(layers.Blocks().empty());
  DrawnBlocks gated;  // by a softmax of as many elements
  gated.Scores();
  gated.Move("aten::native_layer_norm", "[[8, 512, 256], [], [256], [256], []]");
  gated.Move("aten::_softmax", "[[8, 256, 512]]");
  gated.Values();
  EXPECT_TRUE(gated.Blocks().empty());
  DrawnBlocks router;
  router.Scores();
  router.Move("aten::_softmax", "[[8, 512, 256]]");
  router.Call("aten::bmm", "[[8, 512, 64], [8, 64, 32]]", kTwoHalves, 20'000);
  EXPECT_TRUE(router.Blocks().empty());
}

}  // namespace
}  // namespace dladvisor
