// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dladvisor {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

struct Read {
  GatePolicy policy;
  std::vector<std::string> problems;
};

Read ReadText(const std::string& text) {
  Problems problems;
  Read read;
  const auto yaml = YamlFile::Parse("dladvisor.yaml", text, problems);
  if (yaml) read.policy = ReadGatePolicy(*yaml, yaml->root(), problems);
  read.problems = problems.Lines();
  return read;
}

TEST(Policy, StepTimeGatesWhereNothingIsSaid) {
  const GatePolicy policy;
  EXPECT_EQ(policy.Find("step.time")->level, Level::kError);
  EXPECT_EQ(policy.Find("gpu.utilization"), nullptr);
}

TEST(Policy, ReadsLimitsWithTheirUnits) {
  const Read read = ReadText(R"(
false_alarms: 0.5 %
on_inconclusive: fail
on_unknown: fail
new_findings: warn
trend: error
aggregate: median
allow: [gpu.model]
metrics:
  step.time: {max: 450 ms, regression: 2 %, floor: 1 ms, run_to_run: 5 %}
  gpu.utilization: {min: 0.85, level: warn}
  memory.peak: {max: 30 GiB, gated: false, reason: the new model is larger}
  op.time/*conv*: {regression: 10 %, aggregate: pessimistic}
  op.flops_per_s/*mm*: {min: 200 TFLOP/s}
  tensor_core.efficiency: explain
)");
  EXPECT_THAT(read.problems, testing::IsEmpty());
  const GatePolicy& policy = read.policy;
  EXPECT_DOUBLE_EQ(policy.false_alarms, 0.005);
  EXPECT_TRUE(policy.fail_on_inconclusive);
  EXPECT_TRUE(policy.fail_on_unknown);
  EXPECT_EQ(policy.new_findings, Level::kWarn);
  EXPECT_EQ(policy.trend, Level::kError);
  EXPECT_EQ(policy.aggregate, Aggregation::kMedian);
  EXPECT_THAT(policy.allow, ElementsAre("gpu.model"));
  const MetricPolicy* step = policy.Find("step.time");
  EXPECT_DOUBLE_EQ(*step->max, 450e6);
  EXPECT_DOUBLE_EQ(step->regression, 0.02);
  EXPECT_DOUBLE_EQ(step->floor, 1e6);
  EXPECT_DOUBLE_EQ(*step->run_to_run, 0.05);
  EXPECT_DOUBLE_EQ(*policy.Find("gpu.utilization")->min, 0.85);
  EXPECT_EQ(policy.Find("gpu.utilization")->level, Level::kWarn);
  EXPECT_DOUBLE_EQ(*policy.Find("memory.peak")->max, 30.0 * (1 << 30));
  EXPECT_FALSE(policy.Find("memory.peak")->gated);
  EXPECT_EQ(policy.Find("op.time//train/conv2d/forward")->aggregate, Aggregation::kPessimistic);
  EXPECT_EQ(policy.Find("op.time//train/linear"), nullptr);
  EXPECT_DOUBLE_EQ(*policy.Find("op.flops_per_s/aten::addmm")->min, 200e12);
  EXPECT_EQ(policy.Find("tensor_core.efficiency")->level, Level::kExplain);
}

TEST(Policy, StepTimeGatesAlsoBesideOthers) {
  EXPECT_EQ(ReadText("metrics: {gpu.utilization: {min: 85 %}}").policy.Find("step.time")->level,
            Level::kError);
  EXPECT_EQ(ReadText("metrics: {step.time: off}").policy.Find("step.time")->level, Level::kOff);
}

TEST(Policy, RefusesWhatItDoesNotKnowWithTheNearest) {
  const auto problem = [](const std::string& text) {
    const Read read = ReadText(text);
    return read.problems.empty() ? "" : read.problems[0];
  };
  EXPECT_EQ(problem("metrics: {step.tme: {}}").substr(0, 20), "dladvisor.yaml:1:11:");
  EXPECT_THAT(problem("metrics: {step.tme: {}}"), HasSubstr("did you mean step.time?"));
  EXPECT_THAT(problem("on_inconclusiv: fail"), HasSubstr("did you mean on_inconclusive?"));
  EXPECT_THAT(problem("metrics: {step.time: {regresion: 3 %}}"), HasSubstr("did you mean regression?"));
  EXPECT_THAT(problem("metrics: {step.time: {max: 450}}"), HasSubstr("such as 450 ms"));
  EXPECT_THAT(problem("metrics: {step.time: {max: 30 GiB}}"), HasSubstr("such as 450 ms"));
  EXPECT_THAT(problem("metrics: {op.flops_per_s/*: {min: 200}}"), HasSubstr("such as 200 TFLOP/s"));
  EXPECT_THAT(problem("metrics: {step.time: {level: errror}}"), HasSubstr("did you mean error?"));
  EXPECT_THAT(problem("metrics: {step.time: {gated: false}}"), HasSubstr("give the 'reason' too"));
  EXPECT_THAT(problem("waivers: [{rule: x, reason: y, until: soon}]"), HasSubstr("'until' must be a day"));
  EXPECT_THAT(problem("waivers: [{reason: y, until: 2026-01-01}]"),
              HasSubstr("names a 'rule' or a 'metric'"));
  EXPECT_THAT(problem("waivers: [{metric: step.tme, reason: y, until: 2026-01-01}]"),
              HasSubstr("there is no metric 'step.tme' (did you mean step.time?)"));
  EXPECT_THAT(problem("metrics: {step.time: {merges: 15}}"), HasSubstr("'merges' needs 'creep'"));
  EXPECT_THAT(problem("waivers: [{rule: x, until: 2026-01-01}]"), HasSubstr("a waiver lacks 'reason'"));
  EXPECT_THAT(problem("mode: reprt"), HasSubstr("did you mean report?"));
  EXPECT_THAT(problem("error_rules: nwe"), HasSubstr("did you mean new?"));
  EXPECT_THAT(problem("metrics: {step.time: {merges: 3}}"), HasSubstr("from 8 to 200"));
  EXPECT_THAT(problem("metrics: {step.time: {creep: 3 %}}"), HasSubstr("'creep' needs 'merges'"));
  EXPECT_THAT(problem("metrics: {step.time: {min: 5 ms, max: 1 ms}}"), HasSubstr("'min' is above 'max'"));
  for (const char* day : {"2026-02-31", "2026-13-01", "2026-00-10", "2026-06-1", "26-06-01"})
    EXPECT_THAT(problem(std::string("waivers: [{rule: x, reason: y, until: ") + day + "}]"),
                HasSubstr("'until' must be a day"))
        << day;
  EXPECT_THAT(problem("waivers: [{rule: x, reason: y, until: 2028-02-29}]"), testing::IsEmpty());
  EXPECT_THAT(problem("allow: [gpu.modell]"), HasSubstr("did you mean gpu.model?"));
  EXPECT_THAT(problem("allow: [host]"), HasSubstr("is none of"));  // does not block anyhow
  EXPECT_THAT(problem("false_alarms: 60 %"), HasSubstr("at most 20 %"));
  EXPECT_THAT(problem("metrics: {step.time: {regression: 3}}"), HasSubstr("such as 85 %"));
  for (const char* key : {"regression", "run_to_run"})
    EXPECT_THAT(problem(std::string("metrics: {step.time: {") + key + ": 500 %}}"),
                HasSubstr(std::string("'") + key + "' is at most 100 %: 5 % is written 5 % or 0.05"));
  EXPECT_THAT(problem("metrics: {step.time: {merges: 15, creep: 500 %}}"), HasSubstr("'creep' is at most"));
  EXPECT_THAT(problem("metrics: {throughput: {max: 120}}"),
              HasSubstr("'max' would fail where throughput is better: 'min' says how little it may be"));
  EXPECT_THAT(problem("metrics: {step.time: {floor: 5 %}}"), HasSubstr("; 'regression' is a share"));
  EXPECT_THAT(problem("metrics: {op.time/.*conv.*: warn}"), HasSubstr("has .* as regular expressions do"));
  EXPECT_THAT(problem("metrics: {range.time/model.layers.*: warn}"), testing::IsEmpty());
  EXPECT_THAT(problem("metrics: {op.time/*: warn, op.time/*conv*: error}"),
              HasSubstr("'op.time/*conv*' never counts, as 'op.time/*' above fits all of it"));
  EXPECT_THAT(problem("metrics: {op.time/*conv*: error, op.time/*: warn}"), testing::IsEmpty());
  EXPECT_THAT(problem("waivers: [{rule: x, reason: y, until: 2028-02-29}, {rule: x, reason: z, until: "
                      "2028-03-01}]"),
              HasSubstr("there already is a waiver of 'x'"));
  EXPECT_THAT(problem("metrics: {step.time: {tolerance: 5 %}}"), HasSubstr("did you mean regression?"));
  EXPECT_THAT(problem("metrics: {step.time: {level: fail}}"), HasSubstr("did you mean error?"));
  EXPECT_THAT(problem("on_inconclusive: error"), HasSubstr("did you mean fail?"));
  EXPECT_THAT(problem("aggregate: average"), HasSubstr("did you mean mean?"));
  EXPECT_THAT(problem("mode: warn"), HasSubstr("did you mean report?"));
  EXPECT_THAT(problem("metrics: [step.time]"), HasSubstr("must be a mapping"));
}

}  // namespace
}  // namespace dladvisor
