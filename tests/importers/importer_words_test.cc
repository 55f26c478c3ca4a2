// SPDX-License-Identifier: Apache-2.0
#include "src/importers/words/importer_words.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text.h"
#include "src/capture/capability.h"

namespace dladvisor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CaptureOptions, AreOfTheProfiler) {
  const std::vector<std::string> needed = {capability::kDeviceMemory, capability::kRangesOfGpuWork,
                                           capability::kPythonCalls, capability::kOsCalls};
  EXPECT_THAT(CaptureOptions(needed, CaptureWordsOf("nsys")),
              ElementsAre("--trace=cuda,nvtx,osrt", "--cuda-memory-usage=true"));
  EXPECT_THAT(CaptureOptions(needed, CaptureWordsOf("kineto")),
              ElementsAre("activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", "profile_memory=True",
                          "with_stack=True"));
  EXPECT_THAT(CaptureOptions(needed, CaptureWordsOf("nvidia-smi")), IsEmpty());
}

TEST(CaptureOptions, OfSeveralFormatsAreThoseOfEach) {
  EXPECT_THAT(CaptureOptions({capability::kTelemetry}, CaptureWordsOf("nsys")), IsEmpty());
  const auto options = CaptureOptions({capability::kTelemetry, capability::kGpuWork}, CaptureWordsOf(""));
  EXPECT_THAT(options, ElementsAre("--trace=cuda", testing::StartsWith("--query-gpu=clocks.max.sm,")));
}

TEST(CaptureOptions, AreMergedByFlag) {
  const CaptureWords& words = CaptureWordsOf("nsys");
  EXPECT_THAT(
      MergeOptions({"--sample=process-tree", "--trace=osrt,cuda --duration=60", "--trace=cuda"}, words),
      ElementsAre("--trace=cuda,osrt", "--duration=60", "--sample=process-tree"));
  EXPECT_THAT(MergeOptions({"schedule=f(wait=1, active=10)"}, words),
              ElementsAre("schedule=f(wait=1, active=10)"));
}

// A name that no profiler has words for is a typing error in a fact's declaration or in the words.
TEST(Capabilities, CanBeRecordedBySomeProfiler) {
  for (const char* capability :
       {capability::kRangesOfGpuWork, capability::kPythonStacks, capability::kStacksOfOsCalls,
        capability::kThreadStates, capability::kDeviceMemory, capability::kOperatorShapes,
        capability::kCpuPageFaults, capability::kGpuPageFaults, capability::kGpuMetrics,
        capability::kTelemetry, capability::kMoreTime})
    for (const std::string_view name : Split(capability, ' ')) EXPECT_NE(HowToRecord(name), "") << name;
  EXPECT_EQ(HowToRecord(capability::kOsCalls), "nsys: --trace=osrt");
}

}  // namespace
}  // namespace dladvisor
