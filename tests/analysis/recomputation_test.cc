// SPDX-License-Identifier: Apache-2.0
// Forward operators that a backward pass runs again, as PyTorch's profiler records them.
#include "src/analysis/timeline/recomputation.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "src/analysis/timeline/replay.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

constexpr int64_t kForwardThread = 1;

// Ranges one after another, each with one kernel; numbered as autograd does.
class Passes : public test::TraceBuilder {
 public:
  Passes() { autograd_ = AddThread(0, 77); }

  void Forward(const std::vector<std::string_view>& names) {
    for (const std::string_view name : names) Operator(name, next_++, 0);
  }
  // A node and the operators in it, numbered or not, from `pause` after its start.
  void Backward(std::string_view node, const std::vector<std::string_view>& names, bool numbered,
                Ns pause = 0) {
    const Ns start = now_;
    const auto length = static_cast<Ns>(names.size()) * 100;
    Numbered(start, start + pause + length, node, next_, kForwardThread, autograd_);
    now_ += pause;
    for (const std::string_view name : names) Operator(name, numbered ? next_++ : -1, autograd_);
    now_ = start + pause + length + 10;
  }

  RecomputedSegments Segments() const { return FindRecomputation(test::ContextOf(trace)); }

 private:
  void Numbered(Ns start, Ns end, std::string_view name, int64_t sequence, int64_t forward_thread,
                uint32_t thread) {
    Range(start, end, name, thread);
    trace.ranges.sequence.push_back(sequence);
    trace.ranges.forward_thread.push_back(forward_thread);
  }
  void Operator(std::string_view name, int64_t sequence, uint32_t thread) {
    Numbered(now_, now_ + 90, name, sequence, 0, thread);
    Launch(now_ + 10, now_ + 1000, now_ + 1050, "k", thread);
    now_ += 100;
  }

  uint32_t autograd_ = 0;
  Ns now_ = 0;
  int64_t next_ = 5;
};

const std::vector<std::string_view> kLayer = {"aten::layer_norm", "aten::linear", "aten::gelu",
                                              "aten::linear"};

TEST(Recomputation, OfWhicheverNodeAsksFirstCountsWhatTheForwardPassDid) {
  Passes b;
  b.Forward(kLayer);
  b.Forward({"aten::add", "aten::mean"});
  b.Backward("MeanBackward1", {"aten::div", "aten::expand", "aten::mul"}, false);
  b.Backward("AddmmBackward0", kLayer, true, 50);
  const auto segments = b.Segments();
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(segments[0].operators, 4U);
  EXPECT_EQ(segments[0].time.length(), 50 + 390) << "what sets it up, too";
}

TEST(Recomputation, ACopyOfWhatWasOverwrittenDoesNotHideIt) {
  Passes b;
  b.Forward(
      {"aten::conv2d", "aten::batch_norm", "aten::relu_", "aten::conv2d", "aten::batch_norm", "aten::add"});
  b.Backward(
      "ReluBackward0",
      {"aten::conv2d", "aten::batch_norm", "aten::relu_", "aten::conv2d", "aten::batch_norm", "aten::clone"},
      true);
  EXPECT_EQ(b.Segments().size(), 1U);
}

TEST(Recomputation, DerivativesOfDerivativesAreNone) {
  for (const std::vector<std::string_view>& formula :
       {std::vector<std::string_view>{"aten::pow", "aten::mul", "aten::mul"},
        {"aten::linear"},
        {"aten::linear", "aten::sin", "aten::linear"}}) {
    Passes b;
    b.Forward({"aten::linear", "aten::pow", "aten::mul", "aten::mul", "aten::linear", "aten::sum"});
    b.Backward("PowBackward0", formula, true);
    EXPECT_TRUE(b.Segments().empty());
  }
}

TEST(Recomputation, OfANodeOfCheckpointingAllCountsUpToItsOwnBackwardPass) {
  Passes b;
  b.Backward("CheckpointFunctionBackward", {"aten::my_op", "aten::my_op"}, true);
  b.Backward("UnslothCheckpointerBackward", {"aten::my_op"}, true);
  EXPECT_EQ(b.Segments().size(), 2U);
}

TEST(Recomputation, WithoutNumbersNothingIsKnown) {
  test::TraceBuilder b;
  b.Range(0, 100, "CheckpointFunctionBackward");
  b.Range(10, 50, "aten::linear");
  b.Launch(20, 30, 40, "k");
  EXPECT_TRUE(FindRecomputation(test::ContextOf(b.trace)).empty());
}

TEST(Recomputation, AReplayLeavesOutItsKernelsAndTheHostsTime) {
  Passes b;
  for (int i = 0; i < 10; ++i) {
    b.Forward(kLayer);
    b.Backward("AddmmBackward0", kLayer, true);
  }
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeWhatIfs(context, ComputeTimelines(context), FindRecomputation(context));
  for (const WhatIfRow& row : rows) {
    if (row.change != "recomputation") continue;
    EXPECT_EQ(row.calls, 10);
    ASSERT_TRUE(row.saves_ns);
    EXPECT_NEAR(*row.saves_ns, 10 * 390, 200) << "the host's time, which is the limit";
    return;
  }
  FAIL() << "no row";
}

}  // namespace
}  // namespace dladvisor
