// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/capture_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/report/fixture.h"

namespace dladvisor {
namespace {
using I = int64_t;
using test::Row;

std::string InputsOf(const std::vector<Row>& profiles, const Row& run) {
  test::FakeRun fake;
  fake.Give("profile", profiles).Give("run", {run});
  const Advice advice;
  return InputsText(BuildReport(fake.Build(), advice, {}));
}

TEST(InputsText, SaysWhatWasReadAndAnalysed) {
  const Row run = {{"first_step", I{3}}, {"last_step", I{107}}, {"step_source", std::string("ranges")}};
  EXPECT_EQ(
      InputsOf({{{"profile", I{0}},
                 {"path", std::string("run.sqlite")},
                 {"format", std::string("nsys")},
                 {"producer_version", std::string("2026.1")},
                 {"clock_origin_utc_ns", I{1'767'225'600'000'000'000}}}},
               run),
      "Read: run.sqlite (nsys 2026.1, recorded 2026-01-01 00:00 UTC). Analysed: steps 3 to 107, found from "
      "ranges.");
}

TEST(InputsText, LeavesOutWhatIsNotKnown) {
  std::vector<Row> profiles;
  for (I i = 0; i < 5; ++i)
    profiles.push_back({{"profile", i},
                        {"path", std::string(1, static_cast<char>('a' + i))},
                        {"format", std::string("kineto")}});
  EXPECT_EQ(InputsOf(profiles, {}), "Read: a (kineto), b (kineto), c (kineto) and 2 more.");
}

std::vector<std::string> TranslatedOf(const Row& profile, const std::vector<std::string>& capture) {
  test::FakeRun fake;
  fake.Give("profile", {profile});
  Advice advice;
  advice.findings.push_back(test::MakeFinding("r", Severity::kInfo, Outcome::kUnknown));
  advice.findings[0].capture = capture;
  TranslateCapture(advice, fake.Build());
  return advice.findings[0].capture;
}

TEST(TranslateCapture, AsksForWhatWasNotRecorded) {
  using testing::ElementsAre;
  using testing::IsEmpty;
  const std::vector<std::string> all = {"gpu-work", "ranges", "python-calls", "os-calls"};
  const char* const activities = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]";
  Row trace = {{"profile", I{0}}, {"format", std::string("kineto")}, {"ranges", I{5}}};
  EXPECT_THAT(TranslatedOf(trace, all), ElementsAre(activities, "with_stack=True"));
  EXPECT_THAT(TranslatedOf(trace, {"os-calls"}), IsEmpty());  // which PyTorch does not record
  trace["kernels"] = I{3};
  trace["python_frames"] = I{9};
  EXPECT_THAT(TranslatedOf(trace, all), ElementsAre(activities));  // the calls that launch are not there
  trace["api_calls"] = I{3};
  EXPECT_THAT(TranslatedOf(trace, all), IsEmpty());
  EXPECT_THAT(TranslatedOf({{"profile", I{0}}, {"format", std::string("nsys")}, {"os_calls", I{5}}}, all),
              ElementsAre("--trace=cuda,nvtx"));
}

TEST(CaptureFlags, LeavesOutWhatHasNoWords) {
  test::FakeRun fake;
  Advice advice;
  advice.findings.push_back(test::MakeFinding("r", Severity::kInfo, Outcome::kUnknown));
  advice.findings[0].capture = {""};
  EXPECT_THAT(CaptureFlags(BuildReport(fake.Build(), advice, {})), testing::IsEmpty());
}

// Peaks that are missing leave as much unknown as shapes do.
TEST(TranslateCapture, AsksForNoShapesThatWereRecorded) {
  test::FakeRun fake;
  fake.Give("profile", {{{"profile", I{0}}, {"format", std::string("kineto")}}});
  fake.Give("run", {{{"known_work_share", 0.0}}});
  const auto asked = [&fake] {
    Advice advice;
    advice.findings.push_back(test::MakeFinding("r", Severity::kInfo, Outcome::kUnknown));
    advice.findings[0].capture = {"operator-shapes"};
    TranslateCapture(advice, fake.Build());
    return advice.findings[0].capture;
  };
  EXPECT_THAT(asked(), testing::ElementsAre("record_shapes=True"));
  fake.Give("run", {{{"known_work_share", 0.3}}});
  EXPECT_THAT(asked(), testing::IsEmpty());
}

TEST(HardwareToDeclare, NamesTheGpusThatComputedAndAreUnknown) {
  const auto line = [](const std::vector<Row>& gpus, const std::vector<Row>& peaks) {
    test::FakeRun fake;
    fake.Give("gpu", gpus).Give("gpu_peak", peaks);
    const Advice advice;
    return HardwareToDeclare(BuildReport(fake.Build(), advice, {}));
  };
  const auto gpu = [](I device, const char* name, I kernels) {
    return Row{{"rank", I{0}}, {"device", device}, {"name", std::string(name)}, {"kernels", kernels}};
  };
  EXPECT_THAT(line({gpu(0, "NVIDIA L4", 9), gpu(1, "Mystery: 9", 9), gpu(2, "Idle", 0)},
                   {{{"rank", I{0}}, {"device", I{0}}}}),
              testing::StartsWith("hardware: {gpus: [{model: \"Mystery: 9\", names: [\"Mystery: 9\"], "));
  EXPECT_EQ(line({gpu(0, "NVIDIA L4", 9)}, {{{"rank", I{0}}, {"device", I{0}}}}), "");
  const Row unnamed = {{"rank", I{0}}, {"device", I{3}}, {"kernels", I{9}}};
  EXPECT_EQ(line({unnamed}, {}), "hardware: {unnamed: MODEL}");
  EXPECT_THAT(line({unnamed, gpu(1, "Mystery: 9", 9)}, {}), testing::EndsWith("}], unnamed: MODEL}"));
}

// Between backticks Markdown would show what escapes the brackets.
TEST(HardwareToDeclare, CanBeCopiedFromMarkdown) {
  test::FakeRun fake;
  fake.Give("gpu",
            {{{"rank", I{0}}, {"device", I{0}}, {"name", std::string("Mystery_9")}, {"kernels", I{9}}}});
  const Advice advice;
  EXPECT_THAT(RenderReport(BuildReport(fake.Build(), advice, {}), ReportFormat::kMarkdown),
              testing::HasSubstr("<code>hardware: {gpus: \\[{model: \"Mystery\\_9\", names: "));
}

}  // namespace
}  // namespace dladvisor
