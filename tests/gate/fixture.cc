// SPDX-License-Identifier: Apache-2.0
#include "tests/gate/fixture.h"

#include <fmt/format.h>

#include <sstream>

namespace dladvisor::test {
namespace {

MetricVerdict Metric(const std::string& name, const std::string& title, double before, double after,
                     Unit unit = Unit::kNanoseconds) {
  MetricVerdict metric;
  metric.metric = name;
  metric.title = title;
  metric.unit = unit;
  metric.baseline = before;
  metric.candidate = after;
  metric.change = after / before - 1;
  return metric;
}

MetricVerdict Gated(MetricVerdict metric, Verdict verdict, Level level, double noise) {
  metric.verdict = verdict;
  metric.level = level;
  metric.low = *metric.change - noise;
  metric.high = *metric.change + noise;
  metric.fails_from = noise + 0.01;
  metric.detectable = noise + 0.02;
  metric.noise = fmt::format("runs differ by {:.1f} % (5 and 3 runs)", noise * 100);
  return metric;
}

RuleVerdict DataLoading() {
  RuleVerdict rule;
  rule.rule = "data-loading";
  rule.title = "The GPU waits for input data";
  rule.category = "input";
  rule.severity = Severity::kError;
  rule.subjects = {R"({"rank":0,"device":1})"};
  rule.change = RuleVerdict::Change::kNew;
  rule.verdict = Verdict::kRegressed;
  rule.level = Level::kError;
  rule.problem = "GPU 1 of rank 0 waits 24.2 % of the step for `DataLoader.__next__`.";
  rule.recommendation = {"Raise `num_workers` of the DataLoader.", "Set `pin_memory=True`."};
  rule.saves_low_ns = 12.5e6;
  rule.saves_high_ns = 38.2e6;
  rule.rule_file = "rules/input/data-loading.yaml";
  rule.rule_line = 1;
  rule.source_file = "training/data.py";
  rule.source_line = 87;
  return rule;
}

RuleVerdict MixedPrecision() {
  RuleVerdict rule;
  rule.rule = "mixed-precision-off";
  rule.title = "Tensor cores are not used";
  rule.category = "tensor-cores";
  rule.subjects = {"{}"};
  rule.level = Level::kWarn;
  rule.problem = "61 ops were eligible to use tensor cores but none are using FP16.";
  rule.recommendation = {"Try enabling AMP (Automatic Mixed Precision)."};
  rule.saves_high_ns = 20e6;
  rule.rule_file = "rules/tensor-cores/mixed-precision-off.yaml";
  rule.rule_line = 1;
  return rule;
}

RuleVerdict PageableCopies() {
  RuleVerdict rule;
  rule.rule = "pageable-copies";
  rule.title = "Copies use pageable memory";
  rule.category = "copies";
  rule.severity = Severity::kInfo;
  rule.subjects = {R"({"rank":0,"device":0})"};
  rule.change = RuleVerdict::Change::kGone;
  rule.problem = "312 copies to GPU 0 use pageable memory.";
  rule.recommendation = {"Pin the memory."};
  rule.rule_file = "team/pageable-copies.yaml";
  rule.rule_line = 3;
  return rule;
}

Trend StepTrend(bool creeps) {
  Trend trend;
  trend.metric = "step.time";
  trend.title = "Step time";
  trend.verdict = creeps ? Verdict::kRegressed : Verdict::kPass;
  for (int i = 0; i < 24; ++i)
    trend.points.push_back(
        {fmt::format("{:07x}", 0xa1b2c3 + 7919 * i),
         158e6 + (i % 3) * 0.4e6 + (creeps && i >= 9 ? 5e6 : 0) + (creeps && i >= 17 ? 7e6 : 0)});
  if (creeps) {
    trend.changes = {{9, 158.4e6, 163.4e6, {}}, {17, 163.4e6, 170.4e6, {"mixed-precision-off"}}};
    trend.why =
        "Since run 10 of 24 the step time rose by 7.6 % in 2 steps, none of which was more than 4.3 %.";
  }
  return trend;
}

GateResult Base() {
  GateResult result;
  result.generator = "dladvisor 0.1.0";
  result.baseline = {{"main-1.digest", "main-2.digest", "main-3.digest"}, 8, 300};
  result.candidate = {{"run-1", "run-2", "run-3"}, 8, 291};
  return result;
}

// Every text of a result.
template <class F>
void ForEachText(GateResult& result, F f) {
  for (std::string* text : {&result.headline, &result.generator, &result.next_step}) f(*text);
  for (Side* side : {&result.baseline, &result.candidate})
    for (std::string& run : side->runs) f(run);
  for (Difference& difference : result.differences)
    for (std::string* text : {&difference.trait, &difference.title, &difference.baseline,
                              &difference.candidate, &difference.note})
      f(*text);
  for (auto* metrics : {&result.metrics, &result.explanation})
    for (MetricVerdict& metric : *metrics)
      for (std::string* text : {&metric.metric, &metric.title, &metric.not_gated, &metric.noise, &metric.why})
        f(*text);
  for (RuleVerdict& rule : result.rules) {
    for (std::string* text : {&rule.rule, &rule.title, &rule.category, &rule.subjects[0], &rule.problem.text,
                              &rule.rule_file, &rule.source_file})
      f(*text);
    for (std::string& text : rule.recommendation) f(text);
  }
  for (Trend& trend : result.trends) {
    for (std::string* text : {&trend.metric, &trend.title, &trend.why}) f(*text);
    for (Trend::Point& point : trend.points) f(point.label);
    for (Trend::Change& change : trend.changes)
      for (std::string& rule : change.appeared) f(rule);
  }
  for (std::string& note : result.notes) f(note);
}

}  // namespace

// Markup, quotes, the ends of a cell, of CDATA and of a workflow command, a terminal escape, a bidirectional
// override, bytes that are not UTF-8, characters that XML forbids, Mustache, a mention and a link.
const std::string kHostileText =
    "</script>]]><img src=x onerror=alert(1)>\"'`|\n::error::x%0A\r\x1b[31m\xE2\x80\xAE gpj.exe\xff\x01"
    "\xEF\xBF\xBE{{headline}} @user [x](http://evil)";

GateResult RegressedGate() {
  GateResult result = Base();
  result.verdict = Verdict::kRegressed;
  result.exit_status = 1;
  result.headline = "Step time regressed by 23.1 % (164 ms to 202 ms, noise 2.1 %): data loading, +38.2 ms.";
  result.next_step = "See rule data-loading: raise `num_workers` of the DataLoader.";
  MetricVerdict step =
      Gated(Metric("step.time", "Step time", 164.2e6, 202.1e6), Verdict::kRegressed, Level::kError, 0.021);
  step.why =
      "The step takes 37.9 ms longer, more than noise (2.1 %) and than what the project calls equal (3 %).";
  MetricVerdict memory = Gated(Metric("memory.peak", "Peak memory", 61.4e9, 66.9e9, Unit::kBytes),
                               Verdict::kRegressed, Level::kWarn, 0.002);
  memory.max = 64e9;
  memory.why = "Peak memory is over its budget.";
  MetricVerdict utilization = Gated(Metric("gpu.utilization", "GPU utilisation", 0.812, 0.664, Unit::kRatio),
                                    Verdict::kInconclusive, Level::kWarn, 0.20);
  utilization.lower_is_better = false;
  utilization.why = "It seems worse, but runs of the same program differ as much.";
  MetricVerdict kernels =
      Gated(Metric("kernel.total", "Kernel time", 121e6, 120.8e6), Verdict::kPass, Level::kError, 0.008);
  MetricVerdict loss;
  loss.metric = "training.loss";
  loss.title = "Loss at step 100";
  loss.unit = Unit::kNone;
  loss.verdict = Verdict::kNotComparable;
  loss.level = Level::kWarn;
  loss.candidate = 3.21;
  loss.why = "The baseline does not have it.";
  result.metrics = {step, memory, utilization, kernels, loss};
  result.explanation = {
      Metric("ledger.time/idle/input", "idle/input", 3.1e6, 41.3e6),
      Metric("ledger.time/idle/sync", "idle/sync", 4.0e6, 2.6e6),
      Metric("ledger.time/communication/exposed", "communication/exposed", 11.2e6, 12.0e6),
      Metric("ledger.time/compute/tensor", "compute/tensor", 96.5e6, 96.1e6),
      Metric("ledger.time/compute/other", "compute/other", 31.9e6, 32.4e6),
      Metric("ledger.time/copy", "copy", 8.1e6, 8.2e6),
      Metric("ledger.time/idle/launch", "idle/launch", 9.4e6, 9.5e6),
      Metric("op.time/train_step/forward/attention", "train_step/forward/attention", 20.1e6, 21.9e6),
      Metric("op.time/train_step/optimizer", "train_step/optimizer", 9.0e6, 8.6e6),
      Metric("kernel.time/ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn",
             "ampere_bf16_s16816gemm", 30.2e6, 30.9e6),
  };
  MetricVerdict fresh;
  fresh.metric = "op.time/train_step/augment";
  fresh.title = "train_step/augment";
  fresh.candidate = 2.2e6;
  result.explanation.push_back(fresh);
  result.rules = {DataLoading(), MixedPrecision(), PageableCopies()};
  result.trends = {StepTrend(true)};
  result.differences = {{"driver", "NVIDIA driver", "535.104.05", "550.54.14", false,
                         "Times of kernels may differ by a few per cent."}};
  result.notes = {"The warm-up, 4 steps of each run, is left out.", "Clocks were not locked."};
  return result;
}

GateResult PassedGate() {
  GateResult result = Base();
  result.headline = "Step time is the same: 164 ms, +0.3 % (noise 1.1 %).";
  MetricVerdict step =
      Gated(Metric("step.time", "Step time", 164.2e6, 164.7e6), Verdict::kPass, Level::kError, 0.011);
  step.why = "The change is within what the project calls equal (3 %).";
  result.metrics = {step, Gated(Metric("memory.peak", "Peak memory", 61.4e9, 61.4e9, Unit::kBytes),
                                Verdict::kPass, Level::kWarn, 0.002)};
  RuleVerdict still = MixedPrecision();
  still.level = Level::kExplain;
  result.rules = {still};
  result.trends = {StepTrend(false)};
  result.explanation = {Metric("ledger.time/idle/input", "idle/input", 3.1e6, 3.2e6)};
  return result;
}

GateResult ImprovedGate() {
  GateResult result = PassedGate();
  result.verdict = Verdict::kImproved;
  result.headline = "Step time improved by 11.7 % (164 ms to 145 ms, noise 1.1 %).";
  result.metrics[0] =
      Gated(Metric("step.time", "Step time", 164.2e6, 145.0e6), Verdict::kImproved, Level::kError, 0.011);
  result.rules.push_back(PageableCopies());
  return result;
}

GateResult InconclusiveGate() {
  GateResult result = PassedGate();
  result.verdict = Verdict::kInconclusive;
  result.headline = "Step time seems 8.1 % longer, which one run a side cannot distinguish from noise.";
  result.next_step = "Measure three runs a side, or keep a history.";
  result.metrics[0] =
      Gated(Metric("step.time", "Step time", 164.2e6, 177.5e6), Verdict::kInconclusive, Level::kError, 0.50);
  result.metrics[0].why = "It is worse by less than runs of the same program may differ by.";
  return result;
}

GateResult NotComparableGate() {
  GateResult result = Base();
  result.verdict = Verdict::kNotComparable;
  result.exit_status = 2;
  result.headline = "The runs are of different GPUs: RTX A6000 and H100.";
  result.next_step = "Take a baseline on this machine with --update, or allow gpu.model to differ.";
  result.differences = {
      {"gpu.model", "Model of the GPUs", "NVIDIA RTX A6000", "NVIDIA H100 80GB HBM3", true, ""},
      {"world_size", "World size", "8", "16", true, "Work is shared by more ranks."},
      {"driver", "NVIDIA driver", "535.104.05", "550.54.14", false, ""}};
  return result;
}

GateResult HostileGate() {
  GateResult result = RegressedGate();
  ForEachText(result, [](std::string& text) {
    if (text.empty()) return;
    const size_t slash =
        text.starts_with("ledger.time/") || text.starts_with("op.time/") || text.starts_with("kernel.time/")
            ? text.find('/') + 1
            : 0;
    text = text.substr(0, slash) + kHostileText + text.substr(slash);
  });
  return result;
}

GateResult HugeGate() {
  GateResult result = RegressedGate();
  for (int i = 0; i < 6000; ++i) {
    RuleVerdict rule = i % 2 == 0 ? DataLoading() : MixedPrecision();
    rule.rule += fmt::format("-{}", i / 4);
    rule.subjects = {fmt::format(R"({{"rank":{0},"op":"{1}{0}"}})", i, std::string(300, 'x'))};
    rule.problem.text += std::string(300, '&');
    result.rules.push_back(rule);
  }
  for (int i = 0; i < 2000; ++i) {
    MetricVerdict metric = result.metrics[i % 4];
    metric.metric += fmt::format(".{}", i);
    metric.title += fmt::format(" {}", i);
    result.metrics.push_back(metric);
    result.explanation.push_back(
        Metric(fmt::format("op.time/{}/{}", i, std::string(500, '*')), "", 1e6 + i, 1e6 + 2 * i));
    result.notes.push_back(fmt::format("Note {}: {}", i, std::string(900, '|')));
    result.baseline.runs.push_back(std::string(200, '_'));
    result.differences.push_back({"t", "T", std::string(400, '<'), "b", false, ""});
  }
  return result;
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace dladvisor::test
