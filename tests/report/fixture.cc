// SPDX-License-Identifier: Apache-2.0
#include "tests/report/fixture.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "src/fleet/load_profiles.h"
#include "tests/support/plain_spaces.h"

namespace dladvisor::test {
// Markup, a terminal escape, a right-to-left override, invalid UTF-8, a table's end, mustache.
const std::string kHostileName =
    "</script><img src=x onerror=alert(1)>\"'`|\n\x1b[31m\xE2\x80\xAE gpj.exe\xff{{headline}} @user "
    "[x](http://evil)";

FakeRun& FakeRun::Give(const std::string& relation, const std::vector<Row>& rows) {
  auto& all = rows_[relation];
  all.insert(all.end(), rows.begin(), rows.end());
  return *this;
}

Database FakeRun::Build(const std::vector<std::string>& absent) {
  Database db;
  size_t used = 0;
  for (const Schema* of : AllSchemas()) {
    const Schema& schema = *of;
    Table table(schema);
    const auto given = rows_.find(schema.name);
    if (given != rows_.end()) {
      ++used;
      for (const Row& row : given->second) {
        std::vector<Value> values(schema.columns.size());
        for (const auto& [name, value] : row) {
          const auto column = schema.Find(name);
          if (!column) std::abort();
          values[*column] = value;
        }
        table.AddRow(values);
      }
    }
    if (std::find(absent.begin(), absent.end(), schema.name) != absent.end()) continue;
    tables_.push_back(std::make_shared<Table>(std::move(table)));
    db.Add(*tables_.back());
  }
  if (used != rows_.size()) std::abort();
  return db;
}

FakeRun RunWithLedger(const std::vector<std::pair<const char*, int64_t>>& buckets) {
  FakeRun run;
  run.Give("run", {{{"ranks", int64_t{1}}, {"gpus", int64_t{1}}, {"tensor_core_efficiency", 0.5}}});
  for (const auto& [bucket, ns] : buckets)
    run.Give("time_ledger", {{{"rank", int64_t{0}}, {"device", int64_t{0}}, {"bucket", bucket}, {"ns", ns}}});
  return run;
}

FakeRun TypicalRun() {
  using I = int64_t;
  FakeRun run;
  run.Give("run", {{{"name", "gpt3_750m_naive"},
                    {"ranks", I{1}},
                    {"gpus", I{1}},
                    {"wall_ns", I{98'400'000'000}},
                    {"window_ns", I{36'000'000}},
                    {"kernel_ns", I{11'000'000}},
                    {"steps", I{3}},
                    {"first_step", I{1}},
                    {"last_step", I{3}},
                    {"step_ns", 12e6},
                    {"step_source", "ranges"},
                    {"step_pattern", "ProfilerStep#"},
                    {"gpu_utilization", 0.281},
                    {"tensor_core_efficiency", 0.425},
                    {"eligible_ops", I{61}}}});
  run.Give("profile", {{{"profile", I{0}},
                        {"path", "run.sqlite"},
                        {"format", "nsys"},
                        {"kernels", I{4200}},
                        {"copies", I{120}},
                        {"sets", I{8}},
                        {"graph_launches", I{0}},
                        {"overhead_share", 0.012}}});
  run.Give("diagnostic",
           {{{"profile", I{0}}, {"n", I{0}}, {"severity", I{2}}, {"text", "Some events were lost."}}});
  run.Give("system", {{{"profile", I{0}},
                       {"cpu_model", "AMD Ryzen Threadripper 3970X 32-Core Processor"},
                       {"gpu_count", I{1}},
                       {"gpu_names", "RTX A6000"},
                       {"driver_version", "460.73.01"},
                       {"cuda_version", "11.2"},
                       {"framework", "PyTorch 1.9.0a0+df837d0"}}});
  run.Give("gpu", {{{"rank", I{0}},
                    {"device", I{0}},
                    {"name", "RTX A6000"},
                    {"kernels", I{4200}},
                    {"kernel_ns", I{11'000'000}},
                    {"tensor_core_ns", I{4'000'000}},
                    {"tensor_core_unknown_ns", I{2'000'000}},
                    {"eligible_ns", I{7'000'000}},
                    {"eligible_unknown_ns", I{1'500'000}},
                    {"window_ns", I{36'000'000}},
                    {"gpu_utilization", 0.281}}});
  for (I step = 0; step < 4; ++step)
    run.Give("step", {{{"rank", I{0}},
                       {"step", step},
                       {"start_ns", step * 12'000'000},
                       {"end_ns", (step + 1) * 12'000'000},
                       {"duration_ns", step == 0 ? I{20'000'000} : I{12'000'000} + step * 1000},
                       {"kernel_busy_ns", I{3'372'000}},
                       {"kernels", I{1000}},
                       {"kernel_ns", I{3'400'000}},
                       {"tensor_core_ns", I{850'000}},
                       {"warmup", I{step == 0}}}});
  run.Give("op", {{{"rank", I{0}},
                   {"op", "/module/pretrain/train/train_step/FP32Optimizer::step/wrapper/step"},
                   {"op_type", "step"},
                   {"calls", I{100}},
                   {"gpu_ns", I{3'073'524'010}},
                   {"tensor_core_eligible", I{0}},
                   {"uses_tensor_cores", I{0}}},
                  {{"rank", I{0}},
                   {"op", kHostileName},
                   {"op_type", "linear"},
                   {"calls", I{29200}},
                   {"gpu_ns", I{941'545'051}},
                   {"tensor_core_eligible", I{1}}}});
  run.Give("op_kernel", {{{"rank", I{0}},
                          {"op", kHostileName},
                          {"kernel", "triton_poi_fused_0"},
                          {"calls", I{29200}},
                          {"gpu_ns", I{941'545'051}}}});
  run.Give("kernel_name",
           {{{"rank", I{0}},
             {"device", I{0}},
             {"kernel", "void cutlass::Kernel<" + std::string(600, 'x') + ">(" + kHostileName + ")"},
             {"instances", I{29200}},
             {"total_ns", I{941'545'051}},
             {"share", 0.23},
             {"uses_tensor_cores", I{1}},
             {"eligible", I{1}}},
            {{"rank", I{0}},
             {"device", I{0}},
             {"kernel", "triton_poi_fused_0"},
             {"instances", I{100}},
             {"total_ns", I{58'454'949}},
             {"eligible", I{0}}}});
  const auto bucket = [](const char* name, I ns) {
    return Row{{"rank", I{0}},
               {"device", I{0}},
               {"bucket", name},
               {"ns", ns},
               {"ns_per_step", static_cast<double>(ns) / 3},
               {"share", static_cast<double>(ns) / 36e6}};
  };
  run.Give("time_ledger", {bucket("compute/tensor", 6'000'000), bucket("compute/other", 3'000'000),
                           bucket("communication/exposed", 3'000'000), bucket("copy", 1'500'000),
                           bucket("idle/launch", 15'000'000), bucket("idle/sync", 7'500'000)});
  const auto usage = [](I position, const char* category, double share) {
    return Row{{"position", position},
               {"category", category},
               {"share", share},
               {"ns", static_cast<I>(36e6 * share)}};
  };
  run.Give("resource_usage",
           {usage(0, "Using Tensor Cores", 0.125), usage(1, "Not Using Tensor Cores", 0.156),
            usage(2, "Memory", 0.05), usage(3, "CPU", 0.5), usage(4, "Other", 0.169)});
  return run;
}

ConditionTrace Compared(const std::string& left, const std::string& op, const std::string& right, Value here,
                        Value limit, Unit unit) {
  ConditionTrace trace;
  trace.sql = left + " " + op + " " + right;
  trace.holds = true;
  trace.compared = {{left, op, right, std::move(here), std::move(limit), unit, "Why this much."}};
  return trace;
}

Finding MakeFinding(const std::string& rule, Severity severity, Outcome outcome) {
  Finding finding;
  finding.rule = rule;
  finding.title = "Title of " + rule;
  finding.severity = severity;
  finding.outcome = outcome;
  finding.problem = "Problem of " + rule + ".\n";
  finding.recommendation = {"Fix " + rule + ".\n"};
  return finding;
}

Advice TypicalAdvice() {
  Advice advice;
  Finding starved = MakeFinding("cpu-launch-starvation", Severity::kError, Outcome::kFired);
  starved.problem = "GPU 0 is idle 62.5 % of the step; in 80.0 % of that time no kernel had been launched.\n";
  starved.recommendation = {
      "Capture the step in a CUDA graph, or compile it (`torch.compile(mode=\"reduce-overhead\")`).\n",
      "Remove calls that make the host wait inside the step (`.item()`, `.cpu()`)."};
  starved.subject = {{"rank", int64_t{0}, Unit::kNone}, {"device", int64_t{0}, Unit::kNone}};
  starved.saves = SavingClaim{"idle/launch", 1.5e6, 5e6, 8e6};
  starved.why = {{"idle_share > :min_idle",
                  true,
                  {{"idle_share", 0.625, Unit::kRatio}, {"min_idle", 0.15, Unit::kRatio}},
                  {{"idle_share", ">", ":min_idle", 0.625, 0.15, Unit::kRatio}}}};
  starved.evidence.columns = {{"range", Unit::kText}, {"duration_ns", Unit::kNanoseconds}};
  starved.evidence.rows = {{Value("forward " + kHostileName), Value(int64_t{4'321'000})}};
  starved.evidence_sql = "SELECT range, duration_ns FROM idle_gap WHERE rank = 0";
  starved.references = {"https://pytorch.org/docs/stable/notes/cuda.html", "javascript:alert(1)"};
  Finding idle = MakeFinding("gpu-underutilized", Severity::kWarning, Outcome::kFired);
  idle.problem = "GPU 0 computes 28.1 % of the time.";
  idle.caused_by = 0;
  starved.causes = {1};
  Finding unknown = MakeFinding("gpu-memory-underused", Severity::kInfo, Outcome::kUnknown);
  unknown.missing = {"memory.used_share"};
  unknown.lacks = {"memory.used_share is unknown"};
  unknown.capture = {"--cuda-memory-usage=true", "--trace=nvtx"};
  Finding other_unknown = MakeFinding("os-waits", Severity::kInfo, Outcome::kUnknown);
  other_unknown.missing = {"profile.os_calls"};
  other_unknown.capture = {"--trace=cuda,osrt"};
  Finding suppressed = MakeFinding("pageable-copies", Severity::kWarning, Outcome::kSuppressed);
  suppressed.suppressed_by = "capture-distorted";
  advice.findings = {starved,    idle,
                     unknown,    other_unknown,
                     suppressed, MakeFinding("rank-imbalance", Severity::kWarning, Outcome::kClear)};
  const auto rule = [](const char* id, size_t fired, size_t clear, size_t unknown_count,
                       size_t suppressed_count) {
    RuleSummary summary;
    summary.id = id;
    summary.title = "Title of " + summary.id;
    summary.fired = fired;
    summary.clear = clear;
    summary.unknown = unknown_count;
    summary.suppressed = suppressed_count;
    summary.subjects = fired + clear + unknown_count + suppressed_count;
    return summary;
  };
  advice.rules = {rule("cpu-launch-starvation", 1, 0, 0, 0), rule("gpu-memory-underused", 0, 0, 1, 0),
                  rule("gpu-underutilized", 1, 0, 0, 0),     rule("os-waits", 0, 0, 1, 0),
                  rule("pageable-copies", 0, 0, 0, 1),       rule("rank-imbalance", 0, 1, 0, 0)};
  advice.coverage = {6, 4, 1};
  return advice;
}

std::string Render(FakeRun run, const Advice& advice, ReportFormat format, const ReportOptions& options) {
  const Database db = run.Build();
  return PlainSpaces(RenderReport(BuildReport(db, advice, options), format));
}

std::string Render(FakeRun run, ReportFormat format) { return Render(std::move(run), Advice(), format); }

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

}  // namespace dladvisor::test
