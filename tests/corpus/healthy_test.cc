// SPDX-License-Identifier: Apache-2.0
// A run that is well does not hear of warnings: generated exports of training on tensor cores with a filled
// queue, of three kinds. What keeps them well is drawn as such runs have it: launches ahead of the GPU,
// copies beside it, gradients reduced during the backward pass.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "engine/inference/inference.h"
#include "examples/generator/nsys_writer.h"
#include "src/cli/session.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

struct Healthy {
  const char* name;
  bool copies, collectives;
};

// Twenty steps of 100 kernels of 200 us each; the host is five kernels ahead.
void WriteRun(const std::filesystem::path& path, const Healthy& run) {
  example::NsysWriter writer(path, example::DefaultNsysSchema());
  constexpr int64_t kPid = 500, kStream = 7, kCopyStream = 20, kCommStream = 24, kUs = 1000;
  example::GpuInfo gpu;
  gpu.device = 0;
  gpu.name = "NVIDIA H100 80GB HBM3";
  gpu.memory_bytes = 85'000'000'000;
  gpu.compute_major = 9;
  gpu.sm_count = 132;
  writer.Add(gpu);
  writer.AddProcess(kPid, "python");
  writer.AddThread(kPid, kPid, "python");
  const auto gemm = writer.Intern(
                 "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"),
             relu = writer.Intern("void at::native::vectorized_elementwise_kernel<4, relu>(int)"),
             reduce =
                 writer.Intern("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
             launch = writer.Intern("cudaLaunchKernel_v7000"), copy = writer.Intern("cudaMemcpyAsync_v3020"),
             wait = writer.Intern("cudaStreamSynchronize_v3020");
  int64_t device = 5'000'000, host = 1'000'000, correlation = 0;
  for (int step = 0; step < 20; ++step) {
    const int64_t begin = host;
    for (int i = 0; i < 100; ++i) {
      host = std::max(host + 5 * kUs, device - 1000 * kUs);
      writer.Add(example::ApiRow{host, host + 4 * kUs, kPid, kPid, ++correlation, launch});
      example::KernelRow kernel;
      kernel.start = std::max(device, host + 8 * kUs);
      kernel.end = device = kernel.start + (i % 4 == 3 ? 20 : 240) * kUs;
      kernel.pid = kPid;
      kernel.stream = kStream;
      kernel.correlation = correlation;
      kernel.name = kernel.short_name = i % 4 == 3 ? relu : gemm;
      kernel.grid = 132 * 16;
      kernel.block = 128;
      writer.Add(kernel);
      if (run.copies && i == 10) {
        writer.Add(example::ApiRow{host + 5 * kUs, host + 8 * kUs, kPid, kPid, ++correlation, copy});
        example::CopyRow batch;
        batch.start = kernel.start + 10 * kUs;
        batch.end = batch.start + 100 * kUs;
        batch.pid = kPid;
        batch.stream = kCopyStream;
        batch.correlation = correlation;
        batch.bytes = 4'000'000;
        batch.kind = example::CopyKind::kHostToDevice;
        writer.Add(batch);
      }
      if (run.collectives && i % 20 == 15) {
        writer.Add(example::ApiRow{host + 5 * kUs, host + 8 * kUs, kPid, kPid, ++correlation, launch});
        example::KernelRow all_reduce = kernel;
        all_reduce.start = kernel.start + 5 * kUs;
        all_reduce.end = kernel.start + 15 * kUs;
        all_reduce.stream = kCommStream;
        all_reduce.correlation = correlation;
        all_reduce.name = all_reduce.short_name = reduce;
        writer.Add(all_reduce);
      }
    }
    writer.Add(example::RangeRow{begin, host, kPid, kPid, "iteration " + std::to_string(step), true});
    if (step % 10 == 9)
      writer.Add(example::ApiRow{host + 6 * kUs, host + 7 * kUs, kPid, kPid, ++correlation, wait});
  }
  writer.Finish(device + 1'000'000);
}

class HealthyRun : public testing::TestWithParam<Healthy> {};

TEST_P(HealthyRun, HasNoWarning) {
  const test::ScratchDir folder;
  const auto path = folder.path() / "run.sqlite";
  WriteRun(path, GetParam());
  const Profile profile = LoadProfile(path, {});
  Database database = profile.OpenDatabase();
  const Advice advice = Infer(LoadRules({}, {}), database);
  const auto productive = database.Query(
      "SELECT sum(CASE WHEN bucket LIKE 'compute/%' THEN share END), sum(share) FROM time_ledger");
  ASSERT_GE(AsNumber(productive.rows.at(0).at(0)).value_or(0), 0.95)
      << "the run is not as well as it should be";
  EXPECT_GE(AsNumber(database.Query("SELECT steps FROM run").rows.at(0).at(0)), 19) << "all but a warm-up";
  EXPECT_GE(AsNumber(database.Query("SELECT tensor_core_efficiency FROM run").rows.at(0).at(0)), 0.95);
  for (const Finding& finding : advice.findings)
    if (finding.outcome == Outcome::kFired) {
      EXPECT_EQ(finding.severity, Severity::kInfo) << finding.rule << ": " << finding.problem.text;
    }
}

INSTANTIATE_TEST_SUITE_P(Generated, HealthyRun,
                         testing::Values(Healthy{"compute", false, false}, Healthy{"copies", true, false},
                                         Healthy{"collectives", true, true}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace dladvisor
