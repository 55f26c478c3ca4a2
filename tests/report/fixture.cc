#include "tests/report/fixture.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <utility>

namespace dladvisor::test {
namespace {

// "relation: *key type unit, column type unit, column? type unit capture".
constexpr const char* kContract = R"(
run: name t, ranks i count, gpus i count, wall_ns i ns, window_ns? i ns, steps i count, first_step? i, last_step? i, step_ns? r ns, step_source? t, step_pattern? t, gpu_utilization? r ratio --trace=cuda, tensor_core_efficiency? r ratio, kernel_ns? i ns, eligible_ops? i count, memory_used_share? r ratio --cuda-memory-usage=true
profile: *profile i, path t, format t, producer_version? t, schema_version? t, session_ns? i ns, kernels i count, copies i count, sets i count, graph_launches i count, api_calls i count, syncs i count, ranges i count, os_calls i count, gpu_metric_samples i count, training_lines i count, memory_events i count, skipped_rows i count, unmatched_kernels i count, unmatched_share? r ratio, inherited_share? r ratio, open_ranges i count, out_of_order i count, negative_durations i count, overhead_ns i ns, overhead_share? r ratio, diagnostics i count, missing_tables t, notes t, truncated i, missing_capture? t, duplicate_of? i
diagnostic: *profile i, *n i, severity i, text t
system: *profile i, host? t, cpu_model? t, cpu_cores? i count, gpu_count? i count, gpu_names? t, driver_version? t, cuda_version? t, framework? t, os? t, profiler? t, command? t
gpu: *rank i, *device i, name? t, sm_count? i count, compute_capability? t, memory_bytes? i bytes, kernels i count, kernel_ns i ns, window_ns i ns, busy_ns i ns, gpu_utilization? r ratio, idle_ns i ns, idle_share? r ratio, idle_starved_ns? i ns, tensor_core_ns i ns, tensor_core_unknown_ns i ns, eligible_ns i ns, eligible_unknown_ns i ns, tensor_core_efficiency? r ratio, communication_ns i ns
step: *rank i, *step i, start_ns i ns, end_ns i ns, duration_ns i ns, busy_ns i ns, kernel_busy_ns i ns, idle_ns i ns, kernels i count, kernel_ns i ns, tensor_core_ns i ns, copies i count, syncs i count, warmup i
op: *rank i, *op t, op_type t, direction? t, calls i count, kernels i count, cpu_ns i ns, gpu_ns i ns, copy_ns i ns, tensor_core_eligible i, uses_tensor_cores? i, tensor_core_ns i ns, precision? t, data_type? t, shapes? t, inherited_share r ratio
op_type: *rank i, *op_type t, ops i count, calls i count, cpu_ns i ns, gpu_ns i ns, kernels i count, tensor_core_eligible i, uses_tensor_cores? i, tensor_core_ns i ns
group_op: *rank i, *op_group t, ops i count, calls i count, eligible_ops i count, tensor_core_ops i count, cpu_ns i ns, gpu_ns i ns
op_kernel: *rank i, *op t, *kernel t, calls i count, gpu_ns i ns, avg_gpu_ns r ns, min_gpu_ns i ns, max_gpu_ns i ns, avg_api_ns? r ns, uses_tensor_cores? i, precision? t
kernel_name: *rank i, *device i, *kernel t, instances i count, total_ns i ns, avg_ns r ns, median_ns r ns, min_ns i ns, max_ns i ns, stddev_ns? r ns, share? r ratio, grid_avg r, block_avg r, uses_tensor_cores? i, eligible i, precision? t, mean_blocks_per_sm? r, mean_occupancy? r ratio
copy_kind: *rank i, *device i, *direction t, *source t, *destination t, *blocking? t, copies i count, bytes i bytes, total_ns i ns, avg_ns r ns, bytes_per_s? r bytes/s, small_copies i count, pageable_async i
api_name: *rank i, *name t, calls i count, total_ns i ns, avg_ns r ns, min_ns i ns, max_ns i ns, errors i count
sync_site: *rank i, *kind t, *api t, *site t, calls i count, total_ns i ns, calls_per_step? r count, max_ns i ns, window_share? r ratio, gpu_idle_ns? i ns
idle_gap: *rank i, *device i, *start_ns i ns, duration_ns i ns, cause t, starved_ns? i ns, ended_by t, range? t, doing? t
time_ledger: *rank i, *device i, *bucket t, ns? i ns, ns_per_step? r ns, share? r ratio
resource_usage: *category t, position i, ns? i ns, share? r ratio
launch: *rank i, *device i, launches i count, graph_launches i count, avg_api_ns? r ns, median_queue_delay_ns? r ns, tiny_kernels i count, tiny_share? r ratio, min_latency_ns? i ns
memory: *rank i, *device i, total_bytes? i bytes, peak_bytes? i bytes, used_share? r ratio, peak_at_ns? i ns, peak_operator? t, reserved_bytes? i bytes, allocations? i count, frees? i count, source? t
memory_event: start_ns i ns, device? i, allocated_bytes? i bytes, reserved_bytes? i bytes
memory_operator: *rank i, *device? i, *name t, calls i count, self_allocated_bytes i bytes, allocated_bytes i bytes, self_increase_bytes i bytes, increase_bytes i bytes, self_allocations i count, allocations i count
gpu_metric: *profile i, *device i, *metric t, samples i count, avg r, min r, max r
pipeline_event: *rank i, *event i, device i, step? i, phase t, chunk? i, micro_batch? i, start_ns? i ns, end_ns? i ns
pipeline_stage: *pipeline i, *stage i, rank i, device i, forward_ns r ns, backward_ns r ns, weight_ns? r ns, work_ns r ns, busy_ns r ns, bubble_share? r ratio, warmup_bubble_ns? r ns, steady_bubble_ns? r ns, cooldown_bubble_ns? r ns, optimizer_ns? r ns
pipeline_bubble: *pipeline i, schedule? t, stages i count, missing_stages i count, micro_batches i count, chunks i count, steps i count, typical_step i, cost_ns r ns, bubble_ns r ns, bubble_ratio? r ratio, ideal_ratio? r ratio, warmup_bubble_ns? r ns, steady_bubble_ns? r ns, cooldown_bubble_ns? r ns, imbalance? r ratio, slowest_stage i, slowest_rank i
telemetry: *profile i, *device? i, *metric t, samples i count, mean r, max r, limit_value? r, busy_mean? r
training: *profile i, program t, lines i count, attempts i count, iterations? i count, first_iteration? i, last_iteration? i, planned? i, mean_ns? r ns, median_ns? r ns, slowest_ns? r ns, samples_per_second? r, tokens_per_second? r, skipped? i count, nan? i count, slow_lines? i count, slow_ns? r ns, world_size? i count, tensor_parallel? i count, pipeline_parallel? i count, data_parallel? i count, micro_batch? i count, global_batch? i count, micro_batches? i count, precision? t, bubble_share? r ratio
training_log: *profile i, *attempt i, *iteration i, covers? i count, elapsed_ns? r ns, excess_ns? r ns, warmup i, slow? i, cause? t, grown_timer? t, samples_per_second? r, tokens_per_second? r, tflops_per_gpu? r, loss? r, loss_scale? r, grad_norm? r, learning_rate? r, skipped? i count, nan? i count
training_timer: *profile i, *attempt i, *iteration i, *timer t, kind t, ns? r ns, min_ns? r ns, max_ns? r ns, share? r ratio
training_memory: *profile i, *rank? i, iteration i, max_allocated_bytes? i bytes, max_reserved_bytes? i bytes, device_bytes? i bytes, used_share? r ratio
training_setting: *profile i, *name t, value t
rank: *rank i, *device i, profile i, node? i, host? t, cohort? i, steps i count, not_compared? t, own_ns? r ns, excess_ns? r ns, kernel_ns? r ns, gap_ns? r ns, start_gap_ns? r ns, waiting_ns? r ns
rank_step: *rank i, *device i, *step i, own_ns i ns, excess_ns r ns, kernel_ns i ns, gap_ns i ns, start_gap_ns i ns, waiting_ns i ns
jitter: *cohort i, peers i count, steps i count, kernels_per_step i count, magnitude_ns r ns, magnitude_share? r ratio, worst_step i, worst_ns r ns, max_rank i, max_device i, min_rank i, min_device i, typical_rank i, typical_device i, kernel_excess_ns r ns, gap_excess_ns r ns, start_excess_ns r ns
straggler: *rank? i, *device? i, *first_step i, last_step i, probability r, first_position? i
divergence: *rank i, *device i, *step i, *position i, kernel t, duration_ns i ns, gap_ns i ns, end_ns i ns, duration_excess_ns r ns, gap_excess_ns r ns, end_excess_ns r ns, delay_ns? i ns
collective_group: *collective t, *stream i, *ranks t, size i count, node? i, steps i count, calls_per_step r count, transfer_ns r ns, waiting_ns r ns, median_ns r ns, bytes? r bytes, bus_bandwidth? r bytes/s, last_rank? i, last_steps? i count, last_probability? r, excess_ns? r ns, slowest_steps? i count, probability? r
collective_wait: *rank i, *device i, *collective t, calls_per_step r count, transfer_ns r ns, waiting_ns r ns, exposed_transfer_ns r ns, exposed_waiting_ns r ns
clock: *rank i, *device i, node? i, offset_ns i ns, uncertainty_ns? i ns, skew_ns? i ns, drift_ppm r, collectives i count
)";

Column ParseColumn(std::istringstream words, bool* key) {
  Column column;
  std::string type, unit;
  words >> column.name >> type >> unit >> column.capture;
  *key = column.name.front() == '*';
  if (*key) column.name.erase(0, 1);
  column.nullable = column.name.back() == '?';
  if (column.nullable) column.name.pop_back();
  column.type = type == "t" ? Type::kText : type == "r" ? Type::kReal : Type::kInteger;
  column.unit = ParseUnit(unit).value_or(type == "t" ? Unit::kText : Unit::kNone);
  return column;
}

}  // namespace

// Markup, a terminal escape, a right-to-left override, invalid UTF-8, a table's end, mustache.
const std::string kHostileName =
    "</script><img src=x onerror=alert(1)>\"'`|\n\x1b[31m\xE2\x80\xAE gpj.exe\xff{{headline}} @user "
    "[x](http://evil)";

std::vector<Schema> ReportSchemas() {
  std::vector<Schema> schemas;
  std::istringstream lines(kContract);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    Schema schema{line.substr(0, colon), "", {}, {}};
    std::istringstream columns(line.substr(colon + 1));
    for (std::string column; std::getline(columns, column, ',');) {
      bool key = false;
      schema.columns.push_back(ParseColumn(std::istringstream(column), &key));
      if (key) schema.key.push_back(schema.columns.back().name);
    }
    schemas.push_back(std::move(schema));
  }
  return schemas;
}

FakeRun& FakeRun::Give(const std::string& relation, const std::vector<Row>& rows) {
  auto& all = rows_[relation];
  all.insert(all.end(), rows.begin(), rows.end());
  return *this;
}

Database FakeRun::Build(const std::vector<std::string>& absent) {
  Database db;
  size_t used = 0;
  for (const Schema& schema : ReportSchemas()) {
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
        table.AddRow(std::move(values));
      }
    }
    if (std::find(absent.begin(), absent.end(), schema.name) != absent.end()) continue;
    tables_.push_back(std::move(table));
    db.Add(tables_.back());
  }
  if (used != rows_.size()) std::abort();
  return db;
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

}  // namespace dladvisor::test
