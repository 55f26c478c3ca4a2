// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/compat/memory_operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

std::vector<MemoryOperatorRow> MemoryOperatorsOf(const TraceBuilder& b) {
  const Context context = test::ContextOf(b.trace);
  return ComputeMemoryOperators(context, BuildOperatorTree(context));
}

MemoryOperatorRow Named(const std::vector<MemoryOperatorRow>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &MemoryOperatorRow::name);
  EXPECT_NE(row, rows.end()) << name;
  return row == rows.end() ? MemoryOperatorRow() : *row;
}

TEST(MemoryOperator, CountsItsOwnAndWhatItCalls) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "aten::linear");
  test::AddRange(b, 10, 60, "aten::addmm");
  test::AddRange(b, 20, 30, "aten::empty");
  test::AddRange(b, 70, 80, "aten::view");
  test::AddRange(b, 110, 120, "aten::empty");
  b.Tensor(25, 512);
  b.Tensor(40, 256);
  b.Tensor(50, -512);
  b.Tensor(90, -100);
  const auto rows = MemoryOperatorsOf(b);
  ASSERT_EQ(rows.size(), 3u) << "view neither allocates nor frees";
  EXPECT_EQ(rows[0].name, "aten::empty") << "by what it allocated itself";
  EXPECT_EQ(rows[0].device, 0);
  EXPECT_EQ(rows[0].calls, 2) << "one allocates nothing";
  EXPECT_EQ(rows[0].self_allocated_bytes, 512);
  EXPECT_EQ(rows[0].self_increase_bytes, 512);
  const MemoryOperatorRow addmm = Named(rows, "aten::addmm"), linear = Named(rows, "aten::linear");
  EXPECT_EQ(addmm.self_allocated_bytes, 256);
  EXPECT_EQ(addmm.allocated_bytes, 256 + 512);
  EXPECT_EQ(addmm.self_increase_bytes, 256 - 512);
  EXPECT_EQ(addmm.increase_bytes, 256);
  EXPECT_EQ(addmm.self_allocations, 1);
  EXPECT_EQ(addmm.allocations, 2);
  EXPECT_EQ(linear.self_allocated_bytes, 0);
  EXPECT_EQ(linear.self_increase_bytes, -100);
  EXPECT_EQ(linear.increase_bytes, 156);
  EXPECT_EQ(linear.self_allocations, 0);
  EXPECT_EQ(linear.allocations, 2);
}

TEST(MemoryOperator, BeginsWithItsStartAndEndsBeforeItsEnd) {
  TraceBuilder b;
  test::AddRange(b, 10, 20, "aten::mm");
  test::AddRange(b, 20, 30, "aten::relu");
  for (const Ns time : {9, 10, 20, 30}) b.Tensor(time, 1 << time);
  const auto rows = MemoryOperatorsOf(b);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(Named(rows, "aten::mm").allocated_bytes, 1 << 10);
  EXPECT_EQ(Named(rows, "aten::relu").allocated_bytes, 1 << 20);
}

TEST(MemoryOperator, IsOfTheThreadAndTheDeviceOfTheEvent) {
  TraceBuilder b;
  const uint32_t backward = b.AddThread(0, 43), device = b.AddDevice(1);
  test::AddRange(b, 0, 100, "aten::mm");
  test::AddRange(b, 0, 100, "MmBackward", "cpu_op", backward);
  b.Tensor(10, 8, -1, -1, backward);
  b.Tensor(20, 16);
  b.trace.memory_events.device.back() = device;
  b.Tensor(30, 32);
  b.trace.memory_events.device.back() = kNoIndex;
  b.Tensor(40, 64, -1, -1, kNoIndex);
  const auto rows = MemoryOperatorsOf(b);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].device, 0);
  EXPECT_EQ(rows[0].name, "MmBackward");
  EXPECT_EQ(rows[0].increase_bytes, 8);
  EXPECT_EQ(rows[1].device, 1);
  EXPECT_EQ(rows[1].increase_bytes, 16);
  EXPECT_FALSE(rows[2].device) << "the host comes last";
  EXPECT_EQ(rows[2].increase_bytes, 32);
}

TEST(MemoryOperator, AnnotationsAndScopesAreNoneButLieWithinOperators) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "ProfilerStep#1", "user_annotation");
  test::AddRange(b, 10, 90, "aten::to");
  test::AddRange(b, 11, 89, "aten::to");
  test::AddRange(b, 20, 80, "copying", "user_annotation");
  test::AddRange(b, 30, 70, "Optimizer.step#SGD.step", "user_annotation");
  b.Tensor(5, 1);
  b.Tensor(25, 2);
  b.Tensor(40, 4);
  const auto rows = MemoryOperatorsOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].calls, 1) << "the only child of its name is one with it";
  EXPECT_EQ(rows[0].self_allocated_bytes, 2) << "not what is of the step or of the optimizer";
  EXPECT_EQ(rows[0].allocated_bytes, 2);
}

TEST(MemoryOperator, AnOperatorThatCallsItselfCountsTwice) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "aten::sum");
  test::AddRange(b, 10, 20, "aten::sum");
  test::AddRange(b, 30, 40, "aten::add");
  b.Tensor(15, 8);
  const auto rows = MemoryOperatorsOf(b);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].self_allocated_bytes, 8);
  EXPECT_EQ(rows[0].allocated_bytes, 16);
}

TEST(MemoryOperator, NeedsThreads) {
  TraceBuilder b;
  test::AddRange(b, 0, 100, "aten::mm");
  b.Memory(10, 8);
  EXPECT_THAT(MemoryOperatorsOf(b), ::testing::IsEmpty());
}

}  // namespace
}  // namespace dladvisor
