// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/fusion_candidate.h"

#include <gtest/gtest.h>

#include "tests/analysis/operators_builder.h"

namespace dladvisor {
namespace {
using test::kTwoHalves;

struct DrawnChains : test::OperatorsBuilder {
  std::vector<FusionCandidateRow> Candidates(const GpuPeaks& peaks = Peaks()) const {
    const Context context = test::ContextOf(trace);
    return ComputeFusionCandidates(context, ComputeOperatorWork(context), {peaks});
  }
};

// 10 MB of FP16 each.
constexpr const char* kTwo = "[[1000, 5000], [1000, 5000]]";
constexpr const char* kOne = "[[1000, 5000]]";

TEST(FusionCandidate, AChainLeavesOutWhatPassesWithin) {
  DrawnChains b;
  for (int i = 0; i < 2; ++i) {
    b.Call("aten::mm", "[[1000, 1000], [1000, 5000]]", kTwoHalves, 200'000);
    b.Call("aten::add", kTwo, kTwoHalves, 40'000, "add");
    b.Call("aten::gelu", kOne, kTwoHalves, 30'000, "gelu");
    b.Call("aten::mul", kTwo, kTwoHalves, 40'000, "mul");
  }
  const auto rows = b.Candidates();
  ASSERT_EQ(rows.size(), 1u);
  const FusionCandidateRow& row = rows[0];
  EXPECT_EQ(row.ops, "aten::add > aten::gelu > aten::mul");
  EXPECT_EQ(row.purpose, "other");
  EXPECT_EQ(row.shapes, "1000x5000; 1000x5000");
  EXPECT_EQ(row.operators, 3);
  EXPECT_EQ(row.chains, 2);
  EXPECT_EQ(row.kernels, 6);
  EXPECT_EQ(row.gpu_ns, 220'000);
  EXPECT_NEAR(*row.kernel_share, 220.0 / 620, 1e-9);
  // 3 + 2 + 3 tensors of 10 MB; two of them pass within the chain, written and read.
  EXPECT_EQ(row.bytes, 2 * 80'000'000);
  EXPECT_EQ(row.fused_bytes, 2 * 40'000'000);
  EXPECT_NEAR(*row.fused_ns, 80'000, 1e-3);
  EXPECT_NEAR(*row.headroom_ns, 140'000, 1e-3);
}

// Fused attention and fused optimizers are other kernels than what a compiler fuses.
TEST(FusionCandidate, SaysWhatAChainIsPartOf) {
  const auto purpose = [](const char* op) {
    DrawnChains b;
    b.Call("aten::mul", kTwo, kTwoHalves, 40'000, "mul");
    b.Call(op, kTwo, kTwoHalves, 40'000, "other");
    const auto rows = b.Candidates();
    return rows.size() == 1 ? rows[0].purpose : "no chain";
  };
  EXPECT_EQ(purpose("aten::_softmax"), "attention");
  EXPECT_EQ(purpose("aten::addcdiv_"), "optimizer");
  EXPECT_EQ(purpose("aten::add"), "other");
}

TEST(FusionCandidate, AChainEndsWhereShapesDoNotFollow) {
  DrawnChains b;
  b.Call("aten::gelu", kOne, kTwoHalves, 30'000, "gelu");
  b.Call("aten::gelu", "[[1000, 4000]]", kTwoHalves, 30'000, "gelu");
  EXPECT_TRUE(b.Candidates().empty());
  b.Call("aten::relu", "[[4000, 1000]]", kTwoHalves, 30'000, "relu");  // the same tensor, transposed
  ASSERT_EQ(b.Candidates().size(), 1u);
  EXPECT_EQ(b.Candidates()[0].shapes, "1000x4000");
}

TEST(FusionCandidate, AnOperatorRepeatedIsNoChain) {
  DrawnChains b;
  for (int i = 0; i < 10; ++i) b.Call("aten::add", kTwo, kTwoHalves, 40'000, "add");
  EXPECT_TRUE(b.Candidates().empty());
}

// What a copy spreads is read once and written often.
TEST(FusionCandidate, AChainMayBeginWithLess) {
  DrawnChains b;
  b.Call("aten::mul", "[[1000, 5000], [1000, 1]]", kTwoHalves, 30'000, "mul");
  b.Call("aten::sum", "[[1000, 5000], []]", R"(["c10::Half", ""])", 20'000, "sum");
  const auto rows = b.Candidates();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].fused_bytes, 10'000'000 + 2'000 + 2);
  DrawnChains scalars;  // of one element each
  scalars.Call("aten::add", "[[1], [1]]", kTwoHalves, 2'000, "add");
  scalars.Call("aten::mul", "[[1], [1000]]", kTwoHalves, 2'000, "mul");
  EXPECT_TRUE(scalars.Candidates().empty());
}

// Other threads' operators do not interrupt a chain, and are no part of it.
TEST(FusionCandidate, AChainIsOfOneThread) {
  DrawnChains b;
  const uint32_t other = b.AddThread(0, 43);
  b.Call("aten::gelu", kOne, kTwoHalves, 30'000, "gelu");
  b.Call("aten::relu", kOne, kTwoHalves, 30'000, "relu", other);
  b.Call("aten::tanh", kOne, kTwoHalves, 30'000, "tanh");
  const auto rows = b.Candidates();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].ops, "aten::gelu > aten::tanh");
}

// What runs on several streams runs side by side: one kernel would have to wait for the other.
TEST(FusionCandidate, AChainIsOfOneStream) {
  DrawnChains b;
  b.Call("aten::gelu", kOne, kTwoHalves, 30'000, "gelu");
  b.Call("aten::relu", kOne, kTwoHalves, 30'000, "relu");
  ASSERT_EQ(b.Candidates().size(), 1u);
  b.trace.kernels.stream.Set(1, 8);
  EXPECT_TRUE(b.Candidates().empty());
}

TEST(FusionCandidate, WhatIsCompiledOrUnknownEndsAChain) {
  for (const char* between : {"triton_poi_fused_0", "my::op", "aten::mm"}) {
    DrawnChains b;
    b.Call("aten::gelu", kOne, kTwoHalves, 30'000, "gelu");
    b.Call(between, kOne, kTwoHalves, 30'000, "between");
    b.Call("aten::relu", kOne, kTwoHalves, 30'000, "relu");
    EXPECT_TRUE(b.Candidates().empty()) << between;
  }
}

TEST(FusionCandidate, WithoutTypesOrPeaksTimesAreUnknown) {
  DrawnChains b;
  b.Call("aten::gelu", kOne, kTwoHalves, 30'000, "gelu");
  b.Call("aten::relu", kOne, kTwoHalves, 30'000, "relu");
  const auto unknown_gpu = b.Candidates(GpuPeaks());
  ASSERT_EQ(unknown_gpu.size(), 1u);
  EXPECT_TRUE(unknown_gpu[0].fused_bytes);
  EXPECT_FALSE(unknown_gpu[0].fused_ns);
  DrawnChains untyped;
  untyped.Call("aten::gelu", kOne, "", 30'000, "gelu");
  untyped.Call("aten::relu", kOne, "", 30'000, "relu");
  const auto rows = untyped.Candidates();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0].bytes);
  EXPECT_FALSE(rows[0].headroom_ns);
}

}  // namespace
}  // namespace dladvisor
