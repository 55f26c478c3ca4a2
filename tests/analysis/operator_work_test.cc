// SPDX-License-Identifier: Apache-2.0
// Which operator a kernel's work counts to, on drawn traces.
#include "src/analysis/efficiency/operator_work.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/operators_builder.h"

namespace dladvisor {
namespace {
struct DrawnOperators : test::OperatorsBuilder {
  struct Found {
    std::string op, shapes;
    std::optional<int64_t> flops, bytes;
    Ns kernel_ns = 0;
    bool recomputed = false;
    std::string_view unknown;
  };
  std::vector<Found> Calls() const {
    const Context context = test::ContextOf(trace);
    const OperatorWork work = ComputeOperatorWork(context);
    std::vector<Found> found;
    for (const OperatorWorkCall& call : work.gpus.at(0).calls) {
      const auto& of = work.operators[call.operation];
      const WorkResult result = work.operators.ResultOf(of);
      found.push_back({std::string(work.names[of.name]), work.shapes.Describe(of.shapes),
                       result.work ? std::optional<int64_t>(result.work->flops) : std::nullopt,
                       result.work ? std::optional<int64_t>(result.work->bytes) : std::nullopt,
                       call.kernel_ns, work.IsRecomputed(call), result.unknown});
    }
    return found;
  }
};

constexpr const char* kHalves = R"(["c10::Half", "c10::Half", "c10::Half"])";

// aten::linear calls aten::addmm, which launches the kernel; aten::t within has no work of its own.
TEST(OperatorWork, OfNestedOperatorsCountsOnce) {
  DrawnOperators b;
  b.Operator(0, 100, "aten::linear", "[[4, 5], [6, 5], [6]]", kHalves);
  b.Operator(10, 90, "aten::addmm", "[[6], [4, 5], [5, 6]]", kHalves);
  b.Launch(20, 200, 230, test::kGemm);
  b.Launch(30, 230, 240, "splitKreduce_kernel");
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].op, "aten::addmm");
  EXPECT_EQ(calls[0].shapes, "6; 4x5; 5x6");
  EXPECT_EQ(calls[0].flops, 240);
  EXPECT_EQ(calls[0].kernel_ns, 40);
}

// aten::einsum of three tensors: two products, and a copy for the second. Its own sizes are those of a list.
TEST(OperatorWork, OfAnEinsumIsThatOfItsProducts) {
  DrawnOperators b;
  b.Operator(0, 200, "aten::einsum", "[[], [[2, 3, 4], [2, 4, 5], [5, 6]], []]", R"(["", "TensorList", ""])");
  b.Operator(10, 50, "aten::bmm", "[[2, 3, 4], [2, 4, 5]]", test::kTwoHalves);
  b.Launch(20, 200, 230, test::kGemm);
  b.Operator(60, 80, "aten::copy_", "[[6, 5], [6, 5], []]", R"(["c10::Half", "c10::Half", "Scalar"])");
  b.Launch(70, 230, 240, "copy");
  b.Operator(90, 150, "aten::bmm", "[[1, 6, 5], [1, 5, 6]]", test::kTwoHalves);
  b.Launch(100, 300, 340, test::kGemm);
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].op, "aten::bmm");
  EXPECT_EQ(calls[0].flops, 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(calls[0].bytes, 2 * 2 * (12 + 20 + 15));
  EXPECT_EQ(calls[1].op, "aten::copy_");
  EXPECT_EQ(calls[2].flops, 2 * 6 * 5 * 6);
  EXPECT_EQ(calls[2].bytes, 2 * (30 + 30 + 36));
}

// One that sums over nothing multiplies element by element; what it launches itself is of unknown work.
TEST(OperatorWork, OfAnEinsumWithoutAProductIsItsParts) {
  DrawnOperators b;
  b.Operator(0, 200, "aten::einsum", "[[], [[3, 4], [3, 4]], []]", R"(["", "TensorList", ""])");
  b.Launch(5, 100, 120, "prepare");
  b.Operator(10, 50, "aten::mul", "[[3, 4], [3, 4]]", test::kTwoHalves);
  b.Launch(20, 200, 230, "multiply");
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].op, "aten::einsum");
  EXPECT_FALSE(calls[0].flops);
  EXPECT_FALSE(calls[0].unknown.empty());
  EXPECT_EQ(calls[1].op, "aten::mul");
  EXPECT_EQ(calls[1].bytes, 2 * 3 * 12);
}

// Where the inner one launches other kernels than the outer, the FLOPs are those of the inner one.
TEST(OperatorWork, OfAnOuterOperatorIsNotCountedAgain) {
  DrawnOperators b;
  b.Operator(0, 100, "aten::linear", "[[4, 5], [6, 5], [6]]", kHalves);
  b.Launch(5, 100, 120, "prepare");
  b.Operator(10, 90, "aten::addmm", "[[6], [4, 5], [5, 6]]", kHalves);
  b.Launch(20, 200, 230, test::kGemm);
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].op, "aten::linear");
  EXPECT_FALSE(calls[0].flops);
  EXPECT_EQ(calls[0].unknown, "its work is that of an operator within it");
  EXPECT_EQ(calls[1].flops, 240);
}

// A convolution's own copies count to the copy.
TEST(OperatorWork, OfAnInnerCopyIsTheCopys) {
  DrawnOperators b;
  b.Operator(0, 100, "aten::mm", "[[4, 5], [5, 6]]", kHalves);
  b.Operator(10, 20, "aten::copy_", "[[4, 5], [4, 5], []]", R"(["c10::Half", "c10::Half", "Scalar"])");
  b.Launch(12, 100, 110, "copy");
  b.Launch(30, 200, 230, test::kGemm);
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].op, "aten::copy_");
  EXPECT_EQ(calls[1].op, "aten::mm");
  EXPECT_EQ(calls[1].flops, 240);
  EXPECT_EQ(calls[1].kernel_ns, 30);
}

TEST(OperatorWork, OfAnUnknownOperatorNamesIt) {
  DrawnOperators b;
  b.Operator(0, 100, "my::op", "[[4, 5]]", R"(["float"])");
  b.Launch(20, 200, 230, "kernel");
  b.Operator(300, 400, "aten::mm", "", "");
  b.Launch(320, 400, 430, "kernel");
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].op, "my::op");
  EXPECT_EQ(calls[0].unknown, why::kNoFormula);
  EXPECT_EQ(calls[1].op, "aten::mm");
  EXPECT_EQ(calls[1].unknown, why::kNoShapes);
}

// Kernels of a graph, and those of threads without a range of their own, belong to no operator.
TEST(OperatorWork, OfAGraphIsUnknown) {
  DrawnOperators b;
  b.Operator(0, 100, "aten::mm", "[[4, 5], [5, 6]]", kHalves);
  b.Launch(20, 200, 230, test::kGemm);
  b.trace.kernels.graph_node = IntColumn();
  b.trace.kernels.graph_node.push_back(7);
  const OperatorWork work = ComputeOperatorWork(test::ContextOf(b.trace));
  EXPECT_TRUE(work.gpus.at(0).calls.empty());
  EXPECT_EQ(work.gpus[0].kernel_ns, 30);
  EXPECT_EQ(work.gpus[0].attributed_ns, 0);
}

// FlashAttnFuncBackward has the gradient of its output only; its number is that of the forward function.
TEST(OperatorWork, OfABackwardOperatorIsThatOfItsForward) {
  DrawnOperators b;
  b.Operator(0, 100, "FlashAttnFunc", "[[2, 16, 4, 8], [2, 16, 4, 8], [2, 16, 4, 8], [], [], []]", kHalves,
             R"(["", "", "", "0.", "0.125", "False"])", 17);
  b.Launch(20, 200, 230, "flash_fwd_kernel");
  b.Operator(300, 400, "autograd::engine::evaluate_function: FlashAttnFuncBackward", "", "", "", 17, 1);
  b.Operator(310, 390, "FlashAttnFuncBackward", "[[2, 16, 4, 8]]", R"(["c10::Half"])", "", 17, 1);
  b.Launch(320, 400, 490, "flash_bwd_kernel");
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 2u);
  const int64_t product = int64_t{2} * 2 * 4 * 16 * 16 * 8;
  EXPECT_EQ(calls[0].flops, 2 * product);
  EXPECT_EQ(calls[1].op, "FlashAttnFuncBackward");
  EXPECT_EQ(calls[1].flops, 5 * product);
  EXPECT_FALSE(calls[1].recomputed);
}

// Activation checkpointing: the forward operator runs again within a node of the backward pass, and has a
// number of its own.
TEST(OperatorWork, OfRepeatedForwardOperatorsIsMarked) {
  DrawnOperators b;
  b.Operator(0, 100, "aten::addmm", "[[6], [4, 5], [5, 6]]", kHalves, "", 3);
  b.Launch(20, 200, 230, test::kGemm);
  b.Operator(300, 600, "autograd::engine::evaluate_function: AddmmBackward0", "", "", "", 3, 1);
  b.Operator(310, 400, "aten::addmm", "[[6], [4, 5], [5, 6]]", kHalves, "", 9);
  b.Launch(320, 400, 430, test::kGemm);
  b.Operator(410, 590, "AddmmBackward0", "[[4, 6]]", R"(["c10::Half"])", "", 3, 1);
  b.Operator(420, 500, "aten::mm", "[[5, 4], [4, 6]]", kHalves);
  b.Launch(430, 500, 530, test::kGemm);
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_FALSE(calls[0].recomputed);
  EXPECT_TRUE(calls[1].recomputed);
  EXPECT_FALSE(calls[2].recomputed);
}

// Exports: emit_nvtx appends the sizes to the operator, and types are not recorded.
TEST(OperatorWork, OfExportsFollowsFromTheTextOfRanges) {
  DrawnOperators b;
  b.Range(0, 100, "aten::addmm, op_id = 71, sizes = [[6], [4, 5], [5, 6], [], []], input_op_ids = [(1,0)]");
  b.Launch(20, 200, 230, test::kGemm);
  b.Range(300, 400, "aten::addmm, op_id = 72, sizes = [[6], [4, 5], [5, 6], [], []]");
  b.Launch(320, 400, 430, test::kGemm);
  b.Range(500, 600,
          "{'mod': 'torch.nn.functional', 'op': 'linear', 'args': [{'name': '', 'type': 'tensor', "
          "'shape': (4, 5), 'dtype': 'float16'}, {'name': '', 'type': 'tensor', 'shape': (6, 5), "
          "'dtype': 'float16'}]}");
  b.Launch(520, 600, 630, test::kGemm);
  const OperatorWork work = ComputeOperatorWork(test::ContextOf(b.trace));
  ASSERT_EQ(work.gpus.at(0).calls.size(), 3u);
  EXPECT_EQ(work.operators.size(), 2u);  // each shape once
  const auto calls = b.Calls();
  for (const auto& call : calls) EXPECT_EQ(call.flops, 240) << call.op << ": " << call.unknown;
  EXPECT_EQ(calls[2].op, "linear");
}

// emit_nvtx writes the number behind the operator: FlashAttnFuncBackward has the gradient's sizes, and
// kernels launched by no operator within. Whether attention is causal is a scalar, which exports do not have:
// all scores count.
TEST(OperatorWork, OfABackwardOperatorInExportsIsThatOfItsForward) {
  DrawnOperators b;
  b.Range(
      0, 100,
      "FlashAttnFunc, seq = 17, op_id = 4, sizes = [[2, 16, 4, 8], [2, 16, 2, 8], [2, 16, 2, 8], [], []]");
  b.Launch(20, 200, 230, "flash_fwd_kernel");
  b.Range(300, 400, "autograd::engine::evaluate_function: FlashAttnFuncBackward, op_id = 8");
  b.Range(310, 390,
          "FlashAttnFuncBackward, seq = 17, op_id = 9, sizes = [[2, 16, 4, 8]], input_op_ids = [(4,0)]");
  b.Launch(320, 400, 490, "flash_bwd_kernel");
  b.Range(500, 600, "autograd::engine::evaluate_function: FlashAttnFuncBackward, op_id = 10");
  b.Range(510, 590, "FlashAttnFuncBackward, seq = 18, op_id = 11, sizes = [[2, 16, 4, 8]]");
  b.Launch(520, 600, 690, "flash_bwd_kernel");
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[1].op, "FlashAttnFuncBackward");
  EXPECT_EQ(calls[1].shapes, "2x16x4x8; 2x16x2x8; 2x16x2x8");
  const int64_t product = 2 * 2 * 4 * 16 * 16 * 8;
  EXPECT_EQ(calls[0].flops, 2 * product);
  EXPECT_EQ(calls[1].flops, 5 * product);
  EXPECT_EQ(calls[2].unknown, why::kNoFormula) << "no forward operator has the number 18";
}

// A convolution's stride is a scalar: its result is what the operator says that takes it. The second one
// differs in stride alone, of the third nothing takes the result.
TEST(OperatorWork, OfAConvolutionInExportsFollowsFromWhatTakesItsResult) {
  DrawnOperators b;
  const auto convolution = [&](Ns start, int id) {
    const std::string sizes = ", sizes = [[2, 8, 16, 16], [4, 8, 3, 3], [], [], [], [], []]";
    b.Range(start, start + 90, "aten::conv2d, op_id = " + std::to_string(id) + sizes);
    b.Range(start + 10, start + 80, "aten::cudnn_convolution, op_id = " + std::to_string(id + 1) + sizes);
    b.Launch(start + 20, start + 100, start + 130, "implicit_convolve_sgemm");
  };
  convolution(0, 1);
  b.Range(200, 220, "aten::relu, op_id = 3, sizes = [[2, 4, 16, 16]], input_op_ids = [(1,0)]");
  convolution(300, 11);
  b.Range(500, 520,
          "aten::batch_norm, op_id = 13, sizes = [[2, 4, 8, 8], [4]], input_op_ids = [(11,0), (0,-1)]");
  convolution(600, 21);
  b.Range(800, 820,
          "aten::add, op_id = 23, sizes = [[2, 4, 9, 9], [2, 4, 16, 16]], input_op_ids = [(3,0), (21,0)]");
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 3u);
  const int64_t of_position = 2 * 2 * 4 * 8 * 3 * 3;
  EXPECT_EQ(calls[0].op, "aten::cudnn_convolution");
  EXPECT_EQ(calls[0].flops, of_position * 16 * 16);
  EXPECT_EQ(calls[1].flops, of_position * 8 * 8);
  EXPECT_EQ(calls[2].flops, std::nullopt);
  EXPECT_EQ(calls[2].unknown, why::kNoScalars);
}

// The function of a node has the number of its forward operator; what is computed again has one of its own.
TEST(OperatorWork, OfRepeatedForwardOperatorsInExportsIsMarked) {
  DrawnOperators b;
  b.Range(0, 100, "aten::addmm, seq = 3, op_id = 1, sizes = [[6], [4, 5], [5, 6], [], []]");
  b.Launch(20, 200, 230, test::kGemm);
  b.Range(300, 600, "autograd::engine::evaluate_function: torch::autograd::CppNode<Layer>, op_id = 2");
  b.Range(305, 595, "torch::autograd::CppNode<Layer>, seq = 3, op_id = 3, sizes = [[4, 6]]");
  b.Range(310, 400, "aten::addmm, seq = 9, op_id = 4, sizes = [[6], [4, 5], [5, 6], [], []]");
  b.Launch(320, 400, 430, test::kGemm);
  b.Range(420, 500, "aten::mm, op_id = 5, sizes = [[5, 4], [4, 6]]");
  b.Launch(430, 500, 530, test::kGemm);
  const auto calls = b.Calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_FALSE(calls[0].recomputed);
  EXPECT_TRUE(calls[1].recomputed);
  EXPECT_FALSE(calls[2].recomputed);
  EXPECT_EQ(calls[2].flops, 2 * 5 * 4 * 6);
}

}  // namespace
}  // namespace dladvisor
