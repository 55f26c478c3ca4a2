// SPDX-License-Identifier: Apache-2.0
#include "src/gate/runs/not_measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/analysis/hardware/gpu_peak.h"
#include "tests/gate/facts.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;

ProfileRow ProfileOf(const std::string& format) {
  ProfileRow row;
  row.format = format;
  return row;
}

TEST(NotMeasured, ItIsSaidHowTheProfilerRecordsIt) {
  const test::Facts kineto = test::RunOf({10, 10}).Give(ProfileRelation(), std::vector{ProfileOf("kineto")});
  EXPECT_EQ(WhyNotMeasured(kineto.Build(), "memory.peak"),
            "Allocations of GPU memory were not recorded: profile_memory=True.");
  const test::Facts nsys = test::RunOf({10, 10}).Give(ProfileRelation(), std::vector{ProfileOf("nsys")});
  EXPECT_THAT(WhyNotMeasured(nsys.Build(), "memory.peak"), HasSubstr("--cuda-memory-usage=true"));
}

TEST(NotMeasured, MfuNeedsShapesAndThePeakOfTheGpu) {
  test::Facts facts = test::RunOf({10, 10}).Give(ProfileRelation(), std::vector{ProfileOf("kineto")});
  EXPECT_THAT(WhyNotMeasured(facts.Build(), "run.mfu"),
              HasSubstr("The peaks of NVIDIA A100-SXM4-80GB are not known"));
  facts.Give(GpuPeakRelation(), std::vector{GpuPeakRow{}});
  EXPECT_EQ(WhyNotMeasured(facts.Build(), "run.mfu"),
            "Shapes of operators were not recorded: record_shapes=True.");
  RunRow run;
  run.known_work_share = 0.31;
  facts.Give(RunRelation(), std::vector{run});
  EXPECT_EQ(WhyNotMeasured(facts.Build(), "run.mfu"),
            "The work of 31 % of the kernel time is known, and half of it is needed.");
  run.known_work_share = 0.5;
  facts.Give(RunRelation(), std::vector{run});
  EXPECT_THAT(WhyNotMeasured(facts.Build(), "run.mfu"), HasSubstr("this GPU's peak is not known"));
}

TEST(NotMeasured, MfuNeedsTheNameOfTheGpu) {
  test::Facts facts = test::RunOf({10, 10}).Give(ProfileRelation(), std::vector{ProfileOf("kineto")});
  RunRow run;
  run.known_work_share = 0.9;
  facts.Give(RunRelation(), std::vector{run}).Give(GpuRelation(), std::vector{GpuRow{}});
  for (const char* metric : {"run.mfu", "kernel.efficiency"})
    EXPECT_EQ(WhyNotMeasured(facts.Build(), metric),
              "The profile names no GPU: say in dladvisor.yaml which it is (`hardware: {unnamed: MODEL}`).");
}

TEST(NotMeasured, ALogWithoutIterationsIsNotAskedForRanges) {
  const test::Facts log = test::RunOf({}).Give(ProfileRelation(), std::vector{ProfileOf("nvidia-smi")});
  EXPECT_THAT(WhyNotMeasured(log.Build(), "step.time"), HasSubstr("A log without iterations has no step"));
  const test::Facts trace = test::RunOf({}).Give(ProfileRelation(), std::vector{ProfileOf("kineto")});
  EXPECT_THAT(WhyNotMeasured(trace.Build(), "step.time"), HasSubstr("put a range around each step"));
}

TEST(NotMeasured, OfAFamilyNothingHasTheName) {
  EXPECT_EQ(WhyNotMeasured(test::RunOf({10, 10}).Build(), "kernel.time/"), "Nothing in it has such a name.");
  EXPECT_THAT(WhyNotMeasured(test::RunOf({}).Build(), "kernel.time/"), HasSubstr("put a range"));
}

}  // namespace
}  // namespace dladvisor
