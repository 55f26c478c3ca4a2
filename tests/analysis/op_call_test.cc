// SPDX-License-Identifier: Apache-2.0
// Calls of ops one by one, on drawn traces.
#include "src/analysis/ops/op_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/store/database.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using testing::ElementsAre;

const std::string& OpOf(const OpCalls& calls, const OpCall& call) {
  return calls.ops[calls.nodes[call.node].op].op;
}

std::vector<std::string> Ids(const OpCalls& calls) {
  std::vector<std::string> ids;
  for (const OpCall& call : calls.calls) ids.push_back(calls.nodes[call.node].id);
  return ids;
}

TEST(OpCall, SumsWhatEachCallLaunched) {
  TraceBuilder b;
  b.Range(100, 200, "linear");
  b.Api(110, 120, "cudaMemcpyAsync", 1);
  b.Api(130, 150, "cudaLaunchKernel", 2);
  b.Api(135, 145, "cuLaunchKernel", 3);  // inside the call before
  b.Api(160, 165, "cudaLaunchKernel", 4);
  b.Copy(500, 520, 8, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 1);
  b.Kernel(510, 540, "ampere_sgemm_128x64_tn", 2);
  b.Kernel(600, 610, "relu", 4);
  b.Range(300, 330, "linear");
  b.Launch(310, 620, 650, "ampere_sgemm_128x64_tn");
  const OpCalls calls = ComputeOpCalls(test::ContextOf(b.trace));
  ASSERT_EQ(calls.calls.size(), 2u);
  const OpCall& first = calls.calls[0];
  EXPECT_EQ(OpOf(calls, first), "/linear");
  EXPECT_EQ(first.cpu, 100);
  EXPECT_EQ(first.api, 10 + 20 + 5);
  EXPECT_EQ(first.gpu, 40 + 10);  // 500 to 540, 600 to 610
  EXPECT_EQ(first.idle, 60);      // 540 to 600
  EXPECT_EQ(first.kernels, 2);
  EXPECT_EQ(first.kernel, 30 + 10);
  EXPECT_EQ(first.rank, 0);
  EXPECT_EQ(first.step, std::nullopt);
  EXPECT_EQ(calls.calls[1].idle, 0);
  EXPECT_EQ(calls.work.size(), 4u);
}

// DLProf's ids: each call of a path within an iteration is an op of its own.
TEST(OpCall, NumbersOccurrencesOfAnOp) {
  TraceBuilder b;
  b.Range(100, 200, "aten::relu");
  b.Launch(110, 1000, 1010, "relu");
  b.Range(210, 240, "net");
  b.Range(220, 230, "aten::relu");
  b.Launch(225, 1010, 1020, "relu");
  b.Range(300, 320, "aten::relu");
  b.Launch(310, 1020, 1030, "relu");
  const OpCalls calls = ComputeOpCalls(test::ContextOf(b.trace));
  EXPECT_THAT(Ids(calls), ElementsAre("RELU_1", "RELU_2", "RELU_3"));
  EXPECT_EQ(OpOf(calls, calls.calls[1]), "/net/aten::relu");
  EXPECT_EQ(calls.nodes[calls.calls[2].node].occurrence, 2);
}

// An outer marker walks the Python stack; only the inner one is the call.
TEST(OpCall, ReadsMarkers) {
  TraceBuilder b;
  b.Range(0, 100, "{'traceMarker': ['net.py:7', 'conv.py:3'], 'funcStack': '/<module>/Net::forward/conv2d'}");
  b.Range(20, 90, "{'mod': 'torch', 'op': 'conv2d', 'args': [{'shape': (32, 3), 'dtype': 'float16'}]}");
  b.Range(30, 50, "{'traceMarker': [], 'funcStack': '/<module>/Net::forward/conv2d/pad'}");
  b.Launch(40, 200, 210, "pad");
  const OpCalls calls = ComputeOpCalls(test::ContextOf(b.trace));
  ASSERT_EQ(calls.calls.size(), 1u);
  const OpCall& call = calls.calls[0];
  EXPECT_EQ(OpOf(calls, call), "/module/Net::forward/conv2d");
  EXPECT_EQ(call.cpu, 70);
  EXPECT_EQ(call.kernels, 1);
  const OpNode& node = calls.nodes[call.node];
  EXPECT_EQ(node.id, "CONV2D_1");
  EXPECT_TRUE(node.tensor_core_eligible);
  EXPECT_EQ(calls.ops[node.op].stack, "net.py:7\nconv.py:3");
  ASSERT_NE(call.marker, kNoIndex);
  EXPECT_EQ(calls.markers[call.marker].dtype, "float16");
  EXPECT_EQ(calls.markers[call.marker].shapes, "(32, 3)");
}

TEST(OpCall, CallsOutsideRangesAreUnassociated) {
  TraceBuilder b;
  b.Api(10, 30, "cudaMalloc", 1);
  b.Launch(40, 100, 110, "relu");
  b.Range(50, 60, "aten::relu");
  b.Launch(55, 120, 130, "relu");
  const OpCalls calls = ComputeOpCalls(test::ContextOf(b.trace));
  EXPECT_THAT(Ids(calls), ElementsAre("CUDAMALLOC_1", "CUDALAUNCHKERNEL_1", "RELU_1"));
  EXPECT_EQ(OpOf(calls, calls.calls[0]), "unassociated_cudaMalloc");
  EXPECT_EQ(calls.calls[0].cpu, 20);
  EXPECT_EQ(calls.calls[0].api, 20);
  EXPECT_EQ(calls.calls[1].kernels, 1);
}

TEST(OpCall, CountsOccurrencesWithinSteps) {
  TraceBuilder b;
  for (int step = 0; step < 4; ++step) {
    const Ns t = step * 1000;
    // The host runs ahead: the kernels of a step run after the next step's ranges have begun.
    b.Range(t, t + 990, "iteration " + std::to_string(step));
    b.Range(t + 10, t + 20, "aten::relu");
    b.Launch(t + 12, t + 1500, t + 1510, "relu");
    b.Range(t + 30, t + 40, "aten::relu");
    b.Launch(t + 32, t + 1510, t + 1520, "relu");
  }
  const OpCalls calls = ComputeOpCalls(test::ContextOf(b.trace));
  std::vector<std::string> ids;
  std::vector<int64_t> steps;
  for (const OpCall& call : calls.calls) {
    if (OpOf(calls, call) != "/iteration #/aten::relu") continue;
    ids.push_back(calls.nodes[call.node].id);
    steps.push_back(call.step.value());
  }
  // The first step includes its start and is left out as warm-up.
  EXPECT_THAT(ids, ElementsAre("RELU_1", "RELU_2", "RELU_1", "RELU_2", "RELU_1", "RELU_2"));
  EXPECT_THAT(steps, ElementsAre(1, 1, 2, 2, 3, 3));
}

TEST(OpCall, WithoutGpuWorkAllProcessesCount) {
  TraceBuilder b;
  b.Range(0, 10, "{'funcStack': '/<module>/randn'}");
  b.Range(1, 9, "{'mod': 'torch', 'op': 'randn', 'args': []}");
  const OpCalls calls = ComputeOpCalls(test::ContextOf(b.trace));
  EXPECT_THAT(Ids(calls), ElementsAre("RANDN_1"));
  EXPECT_EQ(calls.calls[0].rank, std::nullopt);
}

TEST(OpCall, RelationsJoin) {
  TraceBuilder b;
  b.Range(100, 200, "aten::relu");
  b.Launch(110, 1000, 1010, "relu");
  b.Kernel(1020, 1025, "lost", 77);  // its launch is not recorded
  b.trace.kernels.shapes = {{{4, 2, 1}, {64, 1, 1}}};
  for (int i = 0; i < 2; ++i) b.trace.kernels.shape.push_back(0);
  const AnalysedTrace analysed(b.trace);
  const auto relations = analysed.OnDemandRelations();
  Database db;
  for (const auto& relation : relations) db.Add(*relation);
  const ResultSet result = db.Query(
      "SELECT w.name, c.op_id, w.api_ns, w.grid_x, w.grid_y, w.block_x, w.uses_tensor_cores FROM op_work AS "
      "w "
      "LEFT JOIN op_call AS c ON c.op_call = w.op_call ORDER BY w.start_ns");
  ASSERT_EQ(result.rows.size(), 2u);
  EXPECT_EQ(result.rows[0][0], Value("relu"));
  EXPECT_EQ(result.rows[0][1], Value("RELU_1"));
  EXPECT_EQ(result.rows[0][2], Value(int64_t{2}));
  EXPECT_EQ(result.rows[0][3], Value(int64_t{4}));
  EXPECT_EQ(result.rows[0][4], Value(int64_t{2}));
  EXPECT_EQ(result.rows[0][5], Value(int64_t{64}));
  EXPECT_EQ(result.rows[1][0], Value("lost"));
  EXPECT_EQ(result.rows[1][1], Value());
  EXPECT_EQ(result.rows[1][2], Value());
}

}  // namespace
}  // namespace dladvisor
