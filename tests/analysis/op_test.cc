// SPDX-License-Identifier: Apache-2.0
// Facts per op, on drawn traces and against sums by brute force.
#include "src/analysis/ops/op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/analysis/ops/op_kernel.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;
using testing::ElementsAre;

constexpr const char* kTensorGemm = "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn";
constexpr const char* kPlainGemm = "ampere_sgemm_128x64_tn";
constexpr const char* kOpenGemm = "triton_tem_fused_mm_3";
constexpr const char* kPointwise =
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)";

const OpRow& RowOf(const OpFamilies& families, std::string_view op, int64_t rank = 0) {
  for (const OpRow& row : families.ops)
    if (row.op == op && row.rank == rank) return row;
  ADD_FAILURE() << "no op " << op;
  static const OpRow none;
  return none;
}

std::vector<std::string> Names(const OpFamilies& families) {
  std::vector<std::string> names;
  for (const OpRow& row : families.ops) names.push_back(row.op);
  return names;
}

void CheckKernels(const Context& context,
                  const std::map<std::pair<std::string, std::string>, std::vector<Ns>>& durations) {
  const Table table = ComputeOpKernels(context, ComputeKernelNameOrder(context));
  const std::vector<OpKernelRow> rows = OpKernelRelation().ToRows(table);
  EXPECT_EQ(rows.size(), durations.size());
  for (const OpKernelRow& row : rows) {
    const auto& of_row = durations.at({std::string(row.op), std::string(row.kernel)});
    EXPECT_EQ(row.calls, static_cast<int64_t>(of_row.size()));
    EXPECT_EQ(row.gpu_ns, std::accumulate(of_row.begin(), of_row.end(), Ns{0}));
    EXPECT_EQ(row.min_gpu_ns, std::ranges::min(of_row));
    EXPECT_EQ(row.max_gpu_ns, std::ranges::max(of_row));
  }
  EXPECT_TRUE(std::ranges::is_sorted(rows, [](const OpKernelRow& a, const OpKernelRow& b) {
    return std::tuple(-a.gpu_ns, a.op, a.kernel) < std::tuple(-b.gpu_ns, b.op, b.kernel);
  }));
}

TEST(Op, CountsCallsMadeBeforeTheWindowWhereNoneIsInIt) {
  TraceBuilder b;
  for (int step = 0; step < 3; ++step) {
    const Ns t = 1000 * step;
    b.Range(t, t + 990, "step " + std::to_string(step));
    b.Range(t + 100, t + 140, step == 1 ? "aten::conv2d" : "aten::linear");
    b.Launch(t + 110, t + 1100, t + 1500, kTensorGemm);  // a step later
    b.Launch(t + 120, t + 1500, t + 1900, kPointwise);
  }
  AnalysisOptions options;
  options.steps = {1, 1};
  const Context context = test::ContextOf(b.trace, options);
  const OpFamilies families = ComputeOps(context);
  const OpRow& row = RowOf(families, "/step #/aten::conv2d");
  EXPECT_EQ(row.kernels, 2);
  EXPECT_EQ(row.calls, 1);
  EXPECT_EQ(row.cpu_ns, 40);
}

TEST(Op, CountsCallsTimesAndKernels) {
  TraceBuilder b;
  b.Range(0, 1000, "train");
  b.Range(100, 150, "aten::linear, op_id = 1");
  b.Launch(110, 2000, 2040, kTensorGemm);
  b.Launch(120, 2030, 2050, kPointwise);
  b.Range(200, 230, "aten::linear, op_id = 2");
  b.Launch(210, 2050, 2080, kTensorGemm);
  b.Range(300, 310, "idle");  // no work: no row
  b.Range(400, 410, "aten::relu");
  b.Launch(405, 2100, 2107, kPointwise);
  const Context context = test::ContextOf(b.trace);
  const OpFamilies families = ComputeOps(context);
  EXPECT_THAT(Names(families), ElementsAre("/train/aten::linear", "/train/aten::relu"));

  const OpRow& linear = families.ops[0];
  EXPECT_EQ(linear.op_type, "linear");
  EXPECT_EQ(linear.direction, "fprop");
  EXPECT_EQ(linear.calls, 2);
  EXPECT_EQ(linear.cpu_ns, 50 + 30);
  EXPECT_EQ(linear.min_cpu_ns, 30);
  EXPECT_EQ(linear.max_cpu_ns, 50);
  EXPECT_EQ(linear.api_ns, 3 * 2);
  EXPECT_EQ(linear.overhead_ns, 80 - 6);
  EXPECT_EQ(linear.kernels, 3);
  EXPECT_EQ(linear.gpu_ns, 40 + 20 + 30);
  EXPECT_EQ(linear.busy_ns, 80);  // 2000 to 2080
  EXPECT_EQ(linear.tensor_core_ns, 70);
  EXPECT_TRUE(linear.tensor_core_eligible);
  EXPECT_EQ(linear.uses_tensor_cores, true);
  EXPECT_EQ(linear.half, true);
  EXPECT_EQ(linear.precision, "bf16");
  EXPECT_EQ(linear.inherited_share, 0);

  const OpRow& relu = families.ops[1];
  EXPECT_FALSE(relu.tensor_core_eligible);
  EXPECT_EQ(relu.uses_tensor_cores, false);
  EXPECT_EQ(relu.half, std::nullopt);  // the name does not show it
  EXPECT_EQ(relu.precision, std::nullopt);

  const Table table = ComputeOpKernels(context, ComputeKernelNameOrder(context));
  const std::vector<OpKernelRow> kernels = OpKernelRelation().ToRows(table);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].kernel, kTensorGemm);
  EXPECT_EQ(kernels[0].calls, 2);
  EXPECT_EQ(kernels[0].gpu_ns, 70);
  EXPECT_EQ(kernels[0].avg_gpu_ns, 35);
  EXPECT_EQ(kernels[0].min_gpu_ns, 30);
  EXPECT_EQ(kernels[0].max_gpu_ns, 40);
  EXPECT_EQ(kernels[0].api_ns, 4);
  EXPECT_EQ(kernels[0].avg_api_ns, 2);
  EXPECT_EQ(kernels[0].min_api_ns, 2);
  EXPECT_EQ(kernels[0].max_api_ns, 2);

  ASSERT_EQ(families.eligible_ns.size(), 1u);
  EXPECT_EQ(families.eligible_ns[0], 90);
  EXPECT_EQ(families.eligible_tensor_core_ns[0], 70);
}

TEST(Op, CopiesAndSetsAreTimesOfTheirOwn) {
  TraceBuilder b;
  b.Range(0, 100, "load");
  b.Api(10, 12, "cudaMemcpyAsync", 1);
  b.Api(20, 22, "cudaMemsetAsync", 2);
  b.Copy(200, 260, 64, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice, 1);
  b.Set(250, 270, 2);
  b.Copy(300, 310, 64, CopyDirection::kHostToDevice, MemoryKind::kPinned, MemoryKind::kDevice,
         99);  // no call
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  ASSERT_THAT(Names(families), ElementsAre("/load"));
  EXPECT_EQ(families.ops[0].copy_ns, 60);
  EXPECT_EQ(families.ops[0].set_ns, 20);
  EXPECT_EQ(families.ops[0].busy_ns, 70);
  EXPECT_EQ(families.ops[0].gpu_ns, 0);
  EXPECT_EQ(families.ops[0].uses_tensor_cores, false);  // none of its kernels does
}

TEST(Op, AnOpThatOnlyCallsTheApiHasARow) {
  TraceBuilder b;
  b.Range(0, 100, "wait");
  b.Api(10, 90, "cudaDeviceSynchronize", 1);
  b.Launch(150, 200, 210, "k");
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_THAT(Names(families), ElementsAre("(no range)/k", "/wait"));
  EXPECT_EQ(RowOf(families, "/wait").cpu_ns, 100);
}

TEST(Op, TellsOperatorsFromRangesOfTheProgram) {
  TraceBuilder b;
  b.Range(0, 100, "step");
  b.Launch(10, 20, 30, "own_kernel");
  b.Range(32, 38, "## Call CompiledFxGraph fyzm ##");
  b.Launch(33, 34, 36, "triton_mm");
  b.Range(40, 60, "aten::mm");
  b.Launch(45, 70, 80, kPlainGemm);
  b.Launch(150, 200, 210, "lone");
  EXPECT_EQ(RowOf(ComputeOps(test::ContextOf(b.trace)), "/step").of_framework, std::nullopt)
      << "no operator was recorded";
  b.trace.ranges.domain.Set(b.trace.ranges.size() - 1, b.trace.names.Intern("cpu_op"));
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_EQ(RowOf(families, "/step").of_framework, false);
  EXPECT_EQ(RowOf(families, "/step/aten::mm").of_framework, true);
  EXPECT_TRUE(std::ranges::any_of(families.ops, [](const OpRow& op) {
    return op.op.find("CompiledFxGraph") != std::string::npos && op.of_framework == true;
  })) << "made of the program's operators";
  EXPECT_EQ(RowOf(families, "(no range)/lone").of_framework, std::nullopt);
}

TEST(Op, KernelsOutsideAllRangesAreOpsByName) {
  TraceBuilder b;
  b.Launch(10, 100, 110, "copy_kernel");
  b.Launch(20, 110, 140, "copy_kernel");
  b.Kernel(140, 150, kPlainGemm, 77);  // its call was not recorded
  const Context context = test::ContextOf(b.trace);
  const OpFamilies families = ComputeOps(context);
  EXPECT_THAT(Names(families),
              ElementsAre("(no range)/copy_kernel", std::string("(no range)/") + kPlainGemm));
  EXPECT_EQ(families.ops[0].op_type, "copy_kernel");
  EXPECT_EQ(families.ops[0].calls, 2);
  EXPECT_EQ(families.ops[0].cpu_ns, 0);
  EXPECT_EQ(families.ops[0].direction, std::nullopt);
  EXPECT_TRUE(families.ops[1].tensor_core_eligible);  // by its kernel
  EXPECT_EQ(families.ops[1].uses_tensor_cores, false);
  EXPECT_EQ(families.ops[1].half, false);
  const Table table = ComputeOpKernels(context, ComputeKernelNameOrder(context));
  const std::vector<OpKernelRow> kernels = OpKernelRelation().ToRows(table);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].api_ns, std::nullopt);
  EXPECT_EQ(kernels[1].min_api_ns, std::nullopt);
  EXPECT_TRUE(families.groups.empty());
}

TEST(Op, OneUnknownKernelLeavesTensorCoresOpenUnlessAnotherUsesThem) {
  TraceBuilder b;
  b.Range(0, 10, "open");
  b.Launch(1, 100, 110, kOpenGemm);
  b.Launch(2, 110, 120, kPlainGemm);
  b.Range(10, 20, "yes");
  b.Launch(11, 120, 130, kOpenGemm);
  b.Launch(12, 130, 140, kTensorGemm);
  b.Range(20, 30, "no");
  b.Launch(21, 140, 150, kPlainGemm);
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_EQ(RowOf(families, "/open").uses_tensor_cores, std::nullopt);
  EXPECT_EQ(RowOf(families, "/yes").uses_tensor_cores, true);
  EXPECT_EQ(RowOf(families, "/no").uses_tensor_cores, false);
  EXPECT_EQ(families.eligible_ns.at(0), 50);
  EXPECT_EQ(families.eligible_tensor_core_ns.at(0), 10);
  EXPECT_EQ(families.eligible_unknown_ns.at(0), 20);
}

TEST(Op, Directions) {
  TraceBuilder b;
  const char* const names[] = {"forward", "aten::mm", "AddmmBackward0, seq = 3", "loss.backward()",
                               "optimizer"};
  Ns t = 0;
  for (const char* name : names) {
    b.Range(t, t + 9, name);
    b.Launch(t + 1, 1000 + t, 1005 + t, "k");
    t += 10;
  }
  b.Range(t, t + 9, "backward");
  b.Range(t + 1, t + 8, "aten::mm");
  b.Launch(t + 2, 1000 + t, 1005 + t, "k");
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_EQ(RowOf(families, "/aten::mm").direction, "fprop");
  EXPECT_EQ(RowOf(families, "/AddmmBackward0").direction, "bprop");
  EXPECT_EQ(RowOf(families, "/loss.backward()").direction, "bprop");
  EXPECT_EQ(RowOf(families, "/forward").direction, "fprop");
  EXPECT_EQ(RowOf(families, "/optimizer").direction, std::nullopt);
  EXPECT_EQ(RowOf(families, "/backward/aten::mm").direction, "bprop");
}

TEST(Op, PathsInNamesAreGroups) {
  TraceBuilder b;
  b.Range(0, 100, "execute");
  b.Range(10, 20, "/layer1/conv1/Conv + /layer1/relu/Relu");
  b.Launch(11, 200, 210, kTensorGemm);
  b.Range(20, 30, "/layer1/conv2/Conv");
  b.Launch(21, 210, 230, kTensorGemm);
  b.Range(30, 40, "");  // a part of what encloses it
  b.Launch(31, 230, 235, "k");
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_THAT(Names(families), ElementsAre("/execute/layer1/conv2/Conv",
                                           "/execute/layer1/conv1/Conv + /layer1/relu/Relu", "/execute"));
  EXPECT_EQ(families.ops[0].op_type, "Conv");
  EXPECT_EQ(families.ops[1].op_type, "Conv");
  EXPECT_EQ(families.ops[2].calls, 1);
  std::map<std::string, int64_t> groups;
  for (const GroupOpRow& row : families.groups) groups[row.op_group] = row.gpu_ns;
  EXPECT_EQ(groups["/"], 35);
  EXPECT_EQ(groups["/execute/"], 30);
  EXPECT_EQ(groups["/execute/layer1/"], 30);
  EXPECT_EQ(groups["/execute/layer1/conv2/"], 20);
}

TEST(Op, DlprofCallsAreTheOutermostMarkers) {
  const std::string
      outer = "{'traceMarker': ['net.py:5'], 'funcStack': '/<module>/Net::forward/relu'}",
      inner = "{'traceMarker': ['net.py:5', 'f.py:9'], 'funcStack': '/<module>/Net::forward/relu/relu'}";
  TraceBuilder b;
  for (const Ns t : {0, 1000}) {
    b.Range(t, t + 100, outer);
    b.Range(t + 10, t + 90,
            "{'mod': 'torch.nn.functional', 'op': 'relu', 'args': [{'type': 'tensor', 'shape': (8,), "
            "'dtype': 'float16'}]}");
    b.Range(t + 20, t + 80, inner);
    b.Range(t + 30, t + 70, "{'mod': 'torch', 'op': 'clamp', 'args': []}");
    b.Launch(t + 40, 5000 + t, 5010 + t, "k");
  }
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  ASSERT_THAT(Names(families), ElementsAre("/module/Net::forward/relu"));
  EXPECT_EQ(families.ops[0].op_type, "relu");
  EXPECT_EQ(families.ops[0].calls, 2);
  EXPECT_EQ(families.ops[0].cpu_ns, 160);
  EXPECT_EQ(families.ops[0].gpu_ns, 20);
  EXPECT_EQ(families.ops[0].stack, "net.py:5");
  EXPECT_EQ(families.ops[0].data_type, "float16");
  EXPECT_EQ(families.ops[0].half, true);
}

TEST(Op, ADlprofOpWithoutWorkHasARow) {
  TraceBuilder b;
  b.Range(0, 10, "{'mod': 'torch', 'op': 'flatten', 'args': []}");
  b.Launch(50, 100, 110, "k");
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_EQ(RowOf(families, "/flatten").calls, 1);
  EXPECT_EQ(RowOf(families, "/flatten").kernels, 0);
}

TEST(Op, RanksAreApart) {
  TraceBuilder b;
  const uint32_t other = b.AddProcess(43), device = b.AddDevice(1);
  b.Range(0, 100, "train", 0);
  b.Range(0, 100, "train", 1);
  b.Launch(10, 200, 210, "k");
  b.Launch(11, 200, 230, "k", 1, other, device);
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  ASSERT_EQ(families.ops.size(), 2u);
  EXPECT_EQ(RowOf(families, "/train", 0).gpu_ns, 10);
  EXPECT_EQ(RowOf(families, "/train", 1).gpu_ns, 30);
}

TEST(Op, OnlyTheWindowCounts) {
  TraceBuilder b;
  for (Ns step = 0; step < 8; ++step) {
    const Ns t = 1000 * step;
    b.Range(t, t + 900, "step " + std::to_string(step));
    b.Range(t + 10, t + 20, "aten::mm");
    b.Launch(t + 11, t + 100, t + 150, kTensorGemm);
  }
  AnalysisOptions options;
  options.steps = std::pair<int64_t, int64_t>(3, 5);
  const Context context = test::ContextOf(b.trace, options);
  ASSERT_EQ(context.StepCount(0), 3);
  const OpFamilies families = ComputeOps(context);
  EXPECT_EQ(RowOf(families, "/step #/aten::mm").kernels, 3);
  EXPECT_EQ(RowOf(families, "/step #/aten::mm").gpu_ns, 150);
}

TEST(Op, ManyInstancesCostNoRows) {
  TraceBuilder b;
  for (Ns i = 0; i < 100'000; ++i) b.Range(10 * i, 10 * i + 5, "tick " + std::to_string(i % 7));
  b.Launch(2'000'000, 2'000'010, 2'000'020, "k");
  const OpFamilies families = ComputeOps(test::ContextOf(b.trace));
  EXPECT_THAT(Names(families), ElementsAre("(no range)/k"));
}

// Sums over random ranges, launches and streams, against a count nanosecond by nanosecond.
TEST(Op, AgreesWithBruteForce) {
  const char* const kernels[] = {kTensorGemm, kPlainGemm, kOpenGemm, kPointwise};
  const char* const ranges[] = {"a", "b", "aten::mm", "c/d", "step 3", "step 4"};
  std::mt19937 random(11);
  for (int round = 0; round < 100; ++round) {
    TraceBuilder b;
    b.AddThread(0, 43);
    std::vector<std::tuple<Ns, Ns, const char*, uint32_t>> drawn;
    for (int i = 0; i < 20; ++i) {
      const Ns start = static_cast<Ns>(random() % 300);
      drawn.emplace_back(start, start + static_cast<Ns>(random() % 60), ranges[random() % 6], random() % 2);
    }
    std::sort(drawn.begin(), drawn.end());
    for (const auto& [start, end, name, thread] : drawn) b.Range(start, end, name, thread);
    Ns gpu = 400;
    for (Ns t = 0; t < 360; t += 4) {
      b.Launch(t, gpu, gpu + static_cast<Ns>(random() % 20), kernels[random() % 4], random() % 2);
      gpu += static_cast<Ns>(random() % 10);
    }
    const Context context = test::ContextOf(b.trace);
    const OpFamilies families = ComputeOps(context);

    struct Expected {
      int64_t kernels = 0, gpu_ns = 0, tensor_core_ns = 0;
      std::set<Ns> busy;
    };
    std::map<std::string, Expected> expected;
    std::map<std::pair<std::string, std::string>, std::vector<Ns>> durations;  // by op and kernel
    const Kernels& k = b.trace.kernels;
    int64_t in_window = 0;
    for (size_t i = 0; i < k.size(); ++i) {
      if (k.start[i] < context.windows[0].start || k.start[i] >= context.windows[0].end) continue;
      ++in_window;
      std::string op = OpPathText(context, context.attribution.kernel_range[i]);
      if (op == "(no range)") op += "/" + std::string(b.trace.names.View(k.name[i]));
      Expected& e = expected[op];
      ++e.kernels;
      e.gpu_ns += k.end[i] - k.start[i];
      durations[{op, std::string(b.trace.names.View(k.name[i]))}].push_back(k.end[i] - k.start[i]);
      if (b.trace.names.View(k.name[i]) == kTensorGemm) e.tensor_core_ns += k.end[i] - k.start[i];
      for (Ns t = k.start[i]; t < k.end[i]; ++t) e.busy.insert(t);
    }
    int64_t kernels_total = 0, gpu_total = 0, in_types = 0, eligible = 0;
    for (const OpRow& row : families.ops) {
      const Expected& e = expected[row.op];
      EXPECT_EQ(row.kernels, e.kernels) << row.op;
      EXPECT_EQ(row.gpu_ns, e.gpu_ns) << row.op;
      EXPECT_EQ(row.tensor_core_ns, e.tensor_core_ns) << row.op;
      EXPECT_EQ(row.busy_ns, static_cast<int64_t>(e.busy.size())) << row.op;
      kernels_total += row.kernels;
      gpu_total += row.gpu_ns;
      if (row.tensor_core_eligible) eligible += row.gpu_ns;
    }
    EXPECT_EQ(kernels_total, in_window);
    for (const OpTypeRow& row : families.op_types) in_types += row.gpu_ns;
    EXPECT_EQ(in_types, gpu_total);
    EXPECT_EQ(families.eligible_ns.at(0), eligible);
    CheckKernels(context, durations);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace dladvisor
