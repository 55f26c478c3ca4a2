// SPDX-License-Identifier: Apache-2.0
// Logs of DCGM, written by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::Is;
using testing::ElementsAre;
using Metric = TelemetryMetric;

TEST(Dcgm, Dmon) {
  const Trace trace = test::ReadLog(
      "#Entity   GPUTL  FBUSD  POWER  TOTEC     TMPTR  SMCLK\n"
      "ID               MB     W      mJ        C      MHz\n"
      "GPU 1     98     1000   250.5  2.07e+11  65     1410\n"
      "GPU 0     0      N/A    59.2   2.07e+11  24     210\n"
      "GPU-I 0   50     N/A    N/A    N/A       N/A    N/A\n"
      "# Entity  GPUTL  FBUSD  POWER  TOTEC     TMPTR  SMCLK\n"
      "      Id\n"
      "    GPU 1     97     1001   251.5  2.07e+11  66     1400\n"
      "    GPU 0     1      5      59.0\n"
      "    GPU 0     1      5      59.");
  EXPECT_EQ(trace.format, "nvidia-smi");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization),
              ElementsAre(Is(1, -1, 0.98), Is(0, -1, 0), Is(1, -1, 0.97)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryUsed),
              ElementsAre(Is(1, -1, 1000 * test::kMiB), Is(1, -1, 1001 * test::kMiB)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmClock),
              ElementsAre(Is(1, -1, 1.41e9), Is(0, -1, 2.1e8), Is(1, -1, 1.4e9)));
  EXPECT_EQ(trace.health.rows_skipped.at("rows"), 1);
}

// Shares of 1, without units, beside which nothing says how busy the GPU is.
TEST(Dcgm, CountersOfProfiling) {
  const Trace trace = test::ReadLog(
      "#Entity   SMACT        TENSO        DRAMA        GRACT\n"
      "ID\n"
      "GPU 0     0.942        0.010        0.351        1.000\n"
      "GPU 0     0.950        0.012        0.349        1.000\n");
  EXPECT_THAT(test::SamplesOf(trace, Metric::kSmActive), ElementsAre(Is(0, -1, 0.942), Is(0, -1, 0.95)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kTensorActive), ElementsAre(Is(0, -1, 0.01), Is(0, -1, 0.012)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kDramActive), ElementsAre(Is(0, -1, 0.351), Is(0, -1, 0.349)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kGpuUtilization), ElementsAre(Is(0, -1, 1), Is(0, -1, 1)));
}

TEST(Dcgm, MetricsOfTheExporter) {
  const std::string labels = R"(gpu="0",UUID="GPU-1",modelName="NVIDIA A100",Hostname="a")",
                    other = R"(gpu="0",UUID="GPU-2",modelName="NVIDIA A100",Hostname="b \"x\"")";
  const auto scrape = [&](const std::string& time, const std::string& util) {
    return "# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
           "DCGM_FI_DEV_GPU_UTIL{" +
           labels + "} " + util + time + "\nDCGM_FI_DEV_GPU_UTIL{" + other + "} 50" + time +
           "\nDCGM_FI_DEV_FB_FREE{" + labels + "} 30" + time + "\nDCGM_FI_DEV_FB_USED{" + labels + "} 10" +
           time + "\nDCGM_FI_DEV_CLOCK_THROTTLE_REASONS{" + labels + "} 4" + time +
           "\nDCGM_FI_PROF_SM_ACTIVE{" + labels + "} 0.5" + time + "\nnot a sample\n";
  };
  const Trace trace = test::ReadLog(scrape(" 1700000000000", "90") + scrape(" 1700000010000", "80"));
  EXPECT_EQ(trace.devices.size(), 2u);
  EXPECT_EQ(trace.devices[0].name, "NVIDIA A100");
  EXPECT_EQ(trace.clock_origin_utc_ns, 1700000000000000000);
  EXPECT_THAT(
      test::SamplesOf(trace, Metric::kGpuUtilization),
      ElementsAre(Is(0, 0, 0.9), Is(1, 0, 0.5), Is(0, 10'000'000'000, 0.8), Is(1, 10'000'000'000, 0.5)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kMemoryTotal),
              ElementsAre(Is(0, 0, 40 * test::kMiB), Is(0, 10'000'000'000, 40 * test::kMiB)));
  EXPECT_THAT(test::SamplesOf(trace, Metric::kThrottledByPower),
              ElementsAre(Is(0, 0, 1), Is(0, 10'000'000'000, 1)));
  EXPECT_EQ(test::SamplesOf(test::ReadLog(scrape("", "90")), Metric::kGpuUtilization).size(), 2u);
}

TEST(Dcgm, WithoutASample) {
  EXPECT_THROW(test::ReadLog("#Entity   GPUTL  FBUSD\nID\n"), Error);
  EXPECT_THROW(test::ReadLog("DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"\nDCGM_FI_DEV_GPU_UTIL{} 5\n"), Error);
}

TEST(Dcgm, JsonOfPrometheusIsNamed) {
  try {
    test::ReadLog(
        R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL"},)"
        R"("values":[[1697040000,"98"]]}]}})");
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_THAT(error.reason(), testing::HasSubstr("an answer of Prometheus"));
    EXPECT_THAT(error.hint(), testing::HasSubstr("dcgmi dmon"));
  }
}

}  // namespace
}  // namespace dladvisor
