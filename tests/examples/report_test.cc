// SPDX-License-Identifier: Apache-2.0
// The report on the two example runs shows the figures of the document that they come from (the "Megatron
// Profiling Workflow" slides, DLProf's dashboard of gpt3_750m_naive and gpt3_750m_second_run). Expected
// values are typed from the slides.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
using nlohmann::json;
using testing::HasSubstr;

struct TopOp {
  int64_t gpu_ns;
  const char* op_type;
  int64_t calls;
  bool eligible, using_tensor_cores;
};

struct Slide {
  const char *run, *name, *wall, *efficiency, *utilization, *memory;
  std::vector<TopOp> ops;
};

const Slide kNaive = {"naive",
                      "gpt3_750m_naive",
                      "1.64",
                      "42.5",
                      "28.1",
                      "Only 38 % of GPU memory is used",
                      {{3'073'524'010, "step", 100, false, false},
                       {2'121'781'520, "save", 1, false, false},
                       {2'113'616'610, "save", 1, false, false},
                       {1'613'730'568, "linear", 2400, true, false},
                       {1'611'664'207, "linear", 2400, true, false},
                       {941'545'051, "copy_", 29200, false, false},
                       {886'010'843, "linear", 1529, true, true},
                       {882'259'289, "multi_tensor_scale", 100, false, false},
                       {871'612'799, "cat", 100, false, false},
                       {856'341'817, "_itruediv__", 100, false, false}}};

const Slide kSecond = {"mixed",
                       "gpt3_750m_second_run",
                       "2.17",
                       "69.2",
                       "16.7",
                       "Only 41 % of GPU memory is used",
                       {{2'492'911'136, "step", 81, false, false},
                        {2'182'500'795, "save", 1, false, false},
                        {2'052'579'284, "save", 1, false, false},
                        {1'317'276'697, "pin_memory", 40, true, true},
                        {788'590'231, "float", 29200, false, false},
                        {715'347'840, "multi_tensor_scale", 81, false, false},
                        {673'714'167, "linear", 2015, true, true},
                        {617'281'886, "copy_", 23652, false, false},
                        {582'065'750, "linear", 1616, true, true},
                        {573'974'613, "linear", 1720, true, true}}};

class MegatronReport : public testing::TestWithParam<Slide> {
 protected:
  // The JSON report of a freshly generated run, and its HTML.
  void SetUp() override {
    const std::string folder = scratch_.path().string(), profile = folder + "/" + GetParam().name + ".sqlite";
    const std::string generator = (test::ProgramPath().parent_path() / "megatron-gpt").string();
    ASSERT_EQ(test::Run(generator + " " + GetParam().run + " -o " + profile).status, 0);
    for (const char* extension : {"json", "html"})
      ASSERT_EQ(test::Run(test::ProgramPath().string() + " report " + profile + " --steps none -o " + folder +
                          "/r." + extension)
                    .status,
                0);
    report_ = json::parse(test::ReadFile(scratch_.path() / "r.json"));
    html_ = test::ReadFile(scratch_.path() / "r.html");
    query_ = test::ProgramPath().string() + " query --steps none " + profile + " ";
    profile_ = profile;
  }

  json Figure(const std::string& id) const {
    for (const json& figure : report_["figures"])
      if (figure["id"] == id) return figure["value"];
    ADD_FAILURE() << "no figure " << id;
    return {};
  }

  const json* Fired(const std::string& rule) const {
    for (const json& finding : report_["findings"])
      if (finding["rule"] == rule && finding["outcome"] == "fired") return &finding;
    return nullptr;
  }

  test::ScratchDir scratch_;
  json report_;
  std::string html_, query_, profile_;
};

TEST_P(MegatronReport, ShowsTheSlidesFigures) {
  const Slide& slide = GetParam();
  EXPECT_EQ(fmt::format("{:.2f}", Figure("wall_clock_time").get<double>() / 60e9), slide.wall);
  EXPECT_EQ(fmt::format("{:.1f}", Figure("tensor_core_efficiency").get<double>() * 100), slide.efficiency);
  EXPECT_EQ(fmt::format("{:.1f}", Figure("gpu_utilization").get<double>() * 100), slide.utilization);
  for (const std::string& text :
       {std::string(slide.wall) + " min", std::string(slide.efficiency) + " %",
        std::string(slide.utilization) + " %", std::string("RTX A6000"),
        std::string("AMD Ryzen Threadripper 3970X 32-Core Processor"), std::string("460.73.01"),
        std::string("PyTorch 1.9.0a0+df837d0"), std::string(slide.name)})
    EXPECT_THAT(html_, HasSubstr(text));
  EXPECT_EQ(Figure("gpu_count"), 1);
  EXPECT_EQ(Figure("cuda_version"), "11.2");
}

TEST_P(MegatronReport, ListsTheSlidesTopTenOps) {
  const json ops = json::parse(
      test::Run(query_ + "'SELECT gpu_ns, op_type, calls, tensor_core_eligible AS e, uses_tensor_cores AS u "
                         "FROM op ORDER BY gpu_ns DESC LIMIT 11' --format json")
          .out);
  ASSERT_EQ(ops.size(), 11u);
  for (size_t i = 0; i < 10; ++i) {
    const TopOp& expected = GetParam().ops[i];
    EXPECT_EQ(ops[i]["gpu_ns"], expected.gpu_ns);
    EXPECT_EQ(ops[i]["op_type"], expected.op_type);
    EXPECT_EQ(ops[i]["calls"], expected.calls);
    EXPECT_EQ(ops[i]["e"], expected.eligible ? 1 : 0);
    EXPECT_EQ(ops[i]["u"], expected.using_tensor_cores ? 1 : 0);
  }
  EXPECT_LT(ops[10]["gpu_ns"], GetParam().ops[9].gpu_ns);
  EXPECT_THAT(html_, HasSubstr(GetParam().ops[0].gpu_ns == 3'073'524'010 ? "data-v=\"3073524010\">3.07 s<"
                                                                         : "data-v=\"2492911136\">2.49 s<"));
}

TEST_P(MegatronReport, RecommendsWhatTheSlidesDo) {
  const json* precision = Fired("mixed-precision-off");
  if (std::string(GetParam().run) == "naive") {
    ASSERT_NE(precision, nullptr);
    EXPECT_THAT((*precision)["problem"].get<std::string>(),
                HasSubstr("61 ops were eligible to use tensor cores but none are using FP16"));
    EXPECT_THAT((*precision)["recommendation"].dump(),
                HasSubstr("Try enabling AMP (Automatic Mixed Precision)"));
  } else {
    EXPECT_EQ(precision, nullptr);
  }
  ASSERT_NE(Fired("debug-api-enabled"), nullptr);
  EXPECT_THAT((*Fired("debug-api-enabled"))["recommendation"].dump(),
              HasSubstr("Do not use the record_function decorator or context manager"));
  ASSERT_NE(Fired("gpu-memory-underused"), nullptr);
  EXPECT_THAT((*Fired("gpu-memory-underused"))["problem"].get<std::string>(), HasSubstr(GetParam().memory));
  EXPECT_THAT((*Fired("gpu-memory-underused"))["recommendation"].dump(), HasSubstr("by at most 2x"));
}

// DLProf found no iterations; the updates of the optimizer show them.
TEST_P(MegatronReport, TellsItsStepsByItsUpdates) {
  const json run = json::parse(test::Run(test::ProgramPath().string() + " query " + profile_ +
                                         " 'SELECT step_source, total_steps, step_ns FROM run' --format json")
                                   .out)[0];
  EXPECT_EQ(run["step_source"], "optimizer steps");
  EXPECT_EQ(run["total_steps"], GetParam().ops[0].calls - 1);  // what is before the first is not known whole
  EXPECT_GT(run["step_ns"], 0);
  EXPECT_EQ(Figure("total_iterations"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Slides, MegatronReport, testing::Values(kNaive, kSecond),
                         [](const auto& parameter) { return std::string(parameter.param.run); });

}  // namespace
}  // namespace dladvisor
