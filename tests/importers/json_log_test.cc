// SPDX-License-Identifier: Apache-2.0
// Telemetry in JSON, as tools and scripts write it.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::Is;
using testing::ElementsAre;
using testing::HasSubstr;
using Metric = TelemetryMetric;

constexpr Ns kSecond = 1'000'000'000;

TEST(GpuJson, LinesWithAListOfGpus) {
  const Trace trace = test::ReadLog(
      R"({"timestamp": "2026-09-03T10:15:00", "phase": "train", "gpus": [{"id": 0, "util": 95, "mem_used": 30000}, {"id": 1, "util": 20, "mem_used": 29000}]}
{"timestamp": "2026-09-03T10:15:01", "phase": "train", "gpus": [{"id": 0, "util": 99, "mem_used": 30000}, {"id": 1, "util": 25, "mem_used": 29000}]}
)");
  EXPECT_EQ(trace.format, "nvidia-smi");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.95), Is(1, 0, 0.2), Is(0, kSecond, 0.99), Is(1, kSecond, 0.25)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed)[1], Is(1, 0, 29000 * test::kMiB));
}

TEST(GpuJson, IndexAmongTheNames) {
  const Trace flat = test::ReadLog(
      R"({"time": 100.0, "gpu0_util": 90, "gpu0_mem_mb": 22000, "gpu1_util": 50, "cpu_percent": 12.0, "ram_percent": 30}
{"time": 101.0, "gpu0_util": 91, "gpu0_mem_mb": 22000, "gpu1_util": 51, "cpu_percent": 12.0, "ram_percent": 30}
)");
  EXPECT_THAT(test::SamplesOf(flat, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.9), Is(1, 0, 0.5), Is(0, kSecond, 0.91), Is(1, kSecond, 0.51)));
  const Trace wandb = test::ReadLog(
      R"({"system.gpu.0.gpu": 98, "system.gpu.0.memory": 61, "system.gpu.0.powerWatts": 280, "system.gpu.0.temp": 64, "system.cpu": 3.5, "_runtime": 15, "_timestamp": 1700000015}
{"system.gpu.0.gpu": 97, "system.gpu.0.memory": 61, "system.gpu.0.powerWatts": 281, "system.gpu.0.temp": 64, "system.cpu": 3.5, "_runtime": 30, "_timestamp": 1700000030}
)");
  EXPECT_THAT(test::SamplesOf(wandb, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.98), Is(0, 15 * kSecond, 0.97)));
  EXPECT_THAT(test::SamplesOf(wandb, Metric::kPower)[0], Is(0, 0, 280));
  EXPECT_EQ(wandb.clock_origin_utc_ns, 1700000015 * kSecond);
}

TEST(GpuJson, SamplesWithinAnObject) {
  const Trace trace = test::ReadLog(
      R"({"run": "a", "samples": [{"timestamp": 10, "gpu": {"utilization": 31, "power_w": 90.5}, "cpu": {"utilization": 100}},
                                 {"timestamp": 12, "gpu": {"utilization": 33, "power_w": 91}, "cpu": {"utilization": 99}}]})");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(0, 0, 0.31), Is(0, 2 * kSecond, 0.33)));
}

TEST(GpuJson, OfTools) {
  const Trace gpustat = test::ReadLog(
      R"({"hostname": "a", "query_time": "2026-09-03T10:20:44", "gpus": [{"index": 3, "uuid": "GPU-1", "name": "NVIDIA A100", "utilization.gpu": 100, "memory.used": 46110, "memory.total": 49140, "power.draw": 298}]})");
  EXPECT_EQ(gpustat.facts.at("profiler"), "gpustat");
  EXPECT_EQ(gpustat.devices[0].ordinal, 3);
  EXPECT_EQ(gpustat.devices[0].name, "NVIDIA A100");
  EXPECT_THAT(test::SamplesOf(gpustat, Metric::kGpuUtilization), ElementsAre(Is(3, 0, 1)));
  const Trace rocm = test::ReadLog(
      R"j({"card0": {"GPU use (%)": "12", "Average Graphics Package Power (W)": "98"}, "card1": {"GPU use (%)": "99"}})j");
  EXPECT_EQ(rocm.facts.at("profiler"), "rocm-smi");
  EXPECT_THAT(test::SamplesOf(rocm, Metric::kGpuUtilization), ElementsAre(Is(0, -1, 0.12), Is(1, -1, 0.99)));
  const Trace amd = test::ReadLog(
      R"j([{"gpu": 0, "usage": {"gfx_activity": {"value": 12, "unit": "%"}}, "mem_usage": {"used_vram": {"value": 283, "unit": "MB"}}}])j");
  EXPECT_EQ(amd.facts.at("profiler"), "amd-smi");
  EXPECT_THAT(test::SamplesOf(amd, Metric::kGpuUtilization), ElementsAre(Is(0, -1, 0.12)));
  EXPECT_THAT(test::SamplesOf(amd, Metric::kMemoryUsed), ElementsAre(Is(0, -1, 283 * test::kMiB)));
}

// Records of a training and results of a benchmark hold a GPU's use beside other things.
TEST(GpuJson, OthersAreNone) {
  const Trace training = test::ReadLog(test::LinesOf(1, 30, 1, [](int step) {
    return fmt::format(R"j({{"step": {}, "loss": 2.5, "step_time": 0.5, "gpu_util": 50}})j", step);
  }));
  EXPECT_EQ(training.format, "training log");
  EXPECT_THAT(test::RefusalOf(R"j([{"batch_size": 1, "latency_ms": 3.5, "gpu_utilization": 41}])j"),
              HasSubstr("JSON"));
  EXPECT_THAT(test::RefusalOf(R"j({"timestamp": 1, "gpus": [{"util": null}]})j"),
              HasSubstr("without a sample"));
  const std::string deep(100'000, '['), ends(deep.size(), ']');
  EXPECT_THAT(test::RefusalOf(R"j({"timestamp": 1, "gpus": [{"util": null}], "time": )j" + deep + ends + "}"),
              HasSubstr("without a sample"));
}

}  // namespace
}  // namespace dladvisor
