// SPDX-License-Identifier: Apache-2.0
// The report of a log of telemetry.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "src/report/report.h"
#include "tests/report/fixture.h"

namespace dladvisor {
namespace {

std::string HeadlineBy(const std::string& tool) {
  test::FakeRun run;
  run.Give("profile",
           {{{"profile", int64_t{0}}, {"format", "nvidia-smi"}, {"telemetry_samples", int64_t{8}}}});
  run.Give("system", {{{"profile", int64_t{0}}, {"profiler", tool}}});
  run.Give("telemetry", {{{"profile", int64_t{0}},
                          {"device", int64_t{0}},
                          {"metric", "temperature"},
                          {"samples", int64_t{8}},
                          {"mean", 40.0}}});
  return test::Render(run, ReportFormat::kText);
}

TEST(TelemetrySection, NpusAreNoGpus) {
  EXPECT_THAT(HeadlineBy("npu-smi 24.1"), testing::HasSubstr("A log of npu-smi 24.1, not a trace: 1 NPU;"));
  EXPECT_THAT(HeadlineBy("nvidia-smi 580"),
              testing::HasSubstr("A log of nvidia-smi 580, not a trace: 1 GPU;"));
}

}  // namespace
}  // namespace dladvisor
