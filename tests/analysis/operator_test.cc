// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// What `compute` makes of the operators of a trace.
template <class Row>
std::vector<Row> RowsOf(std::vector<Row> compute(const Context& context, const OperatorTree& tree),
                        const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return compute(context, BuildOperatorTree(context));
}

OperatorRow Named(const std::vector<OperatorRow>& rows, std::string_view name) {
  const auto row =
      std::find_if(rows.begin(), rows.end(), [&](const OperatorRow& r) { return r.name == name; });
  EXPECT_NE(row, rows.end()) << name;
  return row == rows.end() ? OperatorRow() : *row;
}

TEST(Operator, TimesAreOfItselfAndOfWhatItCalls) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "aten::linear");
  test::AddRange(b, 10, 60, "aten::addmm");
  b.Launch(20, 200, 250, test::kGemm);  // the call takes 2
  b.Launch(70, 250, 260, "copy_kernel");
  const auto rows = RowsOf(ComputeOperators, b);
  ASSERT_EQ(rows.size(), 2u);
  const OperatorRow linear = Named(rows, "aten::linear"), addmm = Named(rows, "aten::addmm");
  EXPECT_EQ(linear.calls, 1);
  EXPECT_EQ(linear.host_total_ns, 100);
  EXPECT_EQ(linear.host_self_ns, 100 - 50 - 2);
  EXPECT_EQ(linear.device_total_ns, 60);
  EXPECT_EQ(linear.device_self_ns, 10);
  EXPECT_EQ(addmm.host_self_ns, 50 - 2);
  EXPECT_EQ(addmm.device_self_ns, 50);
  EXPECT_TRUE(addmm.tensor_core_eligible);
  EXPECT_DOUBLE_EQ(addmm.tensor_core_self_share.value(), 1);
  EXPECT_DOUBLE_EQ(linear.tensor_core_self_share.value(), 0);
  EXPECT_DOUBLE_EQ(linear.tensor_core_total_share.value(), 50.0 / 60);
}

TEST(Operator, AnnotationsAreNoneAndTheOnlyChildOfItsNameIsOneWithIt) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "forward pass", "user_annotation");
  test::AddRange(b, 0, 90, "aten::to");
  test::AddRange(b, 10, 80, "aten::to");
  test::AddRange(b, 20, 30, "Optimizer.step#SGD.step", "user_annotation");
  b.Launch(50, 100, 130, "copy_kernel");
  const auto rows = RowsOf(ComputeOperators, b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_EQ(rows[0].host_total_ns, 90);
  EXPECT_EQ(rows[0].host_self_ns, 90 - 10 - 2);
  EXPECT_EQ(rows[0].device_self_ns, 30);
}

TEST(Operator, ShapesTellCallsApart) {
  TraceBuilder b;
  Ranges& ranges = b.trace.ranges;
  b.trace.operator_arguments = {{},
                                {.shapes = b.trace.names.Intern("[[2,3],\n []]")},
                                {.shapes = b.trace.names.Intern("[[2, 3], []]")}};
  for (const int arguments : {0, 1, 2}) {
    test::AddRange(b, arguments * 10, arguments * 10 + 5, "aten::add");
    ranges.arguments.push_back(arguments);
  }
  const auto rows = RowsOf(ComputeOperatorInputs, b);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].input_shapes, "[[2, 3], []]");
  EXPECT_EQ(rows[0].calls, 2);
  EXPECT_EQ(rows[1].input_shapes, "[]");
}

TEST(Operator, WithoutAFrameworksOperatorsAllRangesAre) {
  TraceBuilder b;
  b.Range(0, 100, "aten::mm, seq = 3");
  b.Launch(10, 20, 50, "gemm");
  b.Launch(110, 120, 140, "gemm");
  const auto operators = RowsOf(ComputeOperators, b);
  const auto kernels = RowsOf(ComputeOperatorKernels, b);
  ASSERT_EQ(operators.size(), 1u);
  EXPECT_EQ(operators[0].name, "aten::mm");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].operator_name, "aten::mm");
  EXPECT_EQ(kernels[0].total_ns, 30);
  EXPECT_TRUE(kernels[0].tensor_core_eligible);
  EXPECT_EQ(kernels[1].operator_name, "N/A");
}

TEST(Operator, WhatAnotherThreadHadOpenIsNotItsOperator) {
  TraceBuilder b;
  const uint32_t backward = b.AddThread(0, 43);
  test::AddRange(b, 0, 100, "aten::mm");
  b.Launch(10, 20, 50, "gemm", backward);
  EXPECT_EQ(RowsOf(ComputeOperatorKernels, b).at(0).operator_name, "N/A");
}

}  // namespace
}  // namespace dladvisor
