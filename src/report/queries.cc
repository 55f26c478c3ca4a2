#include "src/report/queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace dladvisor {
namespace {

// Of the GPU whose window (step) is longest; of several alike, of the one that computes most, so that a GPU
// that was only lent to the process does not make the loss.
std::string LedgerSql(const std::string& value, const std::string& column) {
  return "SELECT " + value + " FROM (SELECT rank, device, sum(" + column +
         ") AS total, sum(CASE WHEN bucket LIKE 'compute/%' THEN 0 ELSE " + column +
         " END) AS lost FROM time_ledger GROUP BY rank, device) WHERE total IS NOT NULL ORDER BY total DESC, "
         "lost, rank, device LIMIT 1";
}

// What the systems of all profiles have, each once; of many the first four and how many more there are.
std::string SystemSql(const std::string& column) {
  return fmt::format(
      "SELECT group_concat({0}, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '') "
      "FROM (SELECT {0}, count(*) OVER () AS total FROM system WHERE {0} IS NOT NULL GROUP BY {0} ORDER BY "
      "min(profile) LIMIT 4)",
      column);
}

// Profiles of one machine show the same GPUs; those in containers of one GPU each show too few.
constexpr const char* kGpuCountSql =
    "SELECT max(sum(of_host), (SELECT gpus FROM run)) FROM (SELECT max(gpu_count) AS of_host FROM system "
    "GROUP "
    "BY host)";

std::vector<FigureQuery> MakeFigures() {
  return {
      {"lost_per_step", "Lost per Step", Unit::kNanoseconds, "time_ledger", "ns_per_step",
       LedgerSql("lost", "ns_per_step"), "no iterations were detected"},
      {"step_time", "Step Time", Unit::kNanoseconds, "time_ledger", "ns_per_step",
       LedgerSql("total", "ns_per_step"), "no iterations were detected"},
      {"lost_in_window", "Lost in the Analysed Time", Unit::kNanoseconds, "time_ledger", "ns",
       LedgerSql("lost", "ns"), "no GPU work was recorded"},
      {"window", "Analysed Time", Unit::kNanoseconds, "time_ledger", "ns", LedgerSql("total", "ns"),
       "no GPU work was recorded"},
      {"wall_clock_time", "Wall Clock Time", Unit::kNanoseconds, "run", "wall_ns",
       "SELECT nullif(wall_ns, 0) FROM run", "nothing was recorded"},
      {"tensor_core_efficiency", "Tensor Core Kernel Efficiency", Unit::kRatio, "run",
       "tensor_core_efficiency", "SELECT tensor_core_efficiency FROM run",
       "no kernel ran in an op that is eligible for tensor cores"},
      {"gpu_utilization", "GPU Utilization", Unit::kRatio, "run", "gpu_utilization",
       "SELECT gpu_utilization FROM run", "no GPU work was recorded"},
      {"total_iterations", "Total Iterations", Unit::kCount, "step", "step",
       "SELECT coalesce(nullif(count(*), 0), (SELECT iterations FROM training)) FROM step WHERE rank = "
       "(SELECT min(rank) "
       "FROM step)",
       "no iterations were detected"},
      {"profiled_iterations", "Profiled Iterations", Unit::kCount, "run", "steps",
       "SELECT nullif(steps, 0) FROM run", "no iterations were detected"},
      {"start_iteration", "Start Iteration", Unit::kNone, "run", "first_step", "SELECT first_step FROM run",
       "no iterations were detected"},
      {"stop_iteration", "Stop Iteration", Unit::kNone, "run", "last_step", "SELECT last_step FROM run",
       "no iterations were detected"},
      {"average_iteration_time", "Average Iteration Time", Unit::kNanoseconds, "run", "step_ns",
       "SELECT step_ns FROM run", "no iterations were detected"},
      {"total_kernel_time", "Total Kernel GPU Time", Unit::kNanoseconds, "run", "kernel_ns",
       "SELECT nullif(kernel_ns, 0) FROM run", "no kernel was recorded"},
      {"eligible_ops", "Ops Eligible for Tensor Cores", Unit::kCount, "run", "eligible_ops",
       "SELECT eligible_ops FROM run", "no op was recorded"},
      {"memory_used_share", "GPU Memory Used", Unit::kRatio, "run", "memory_used_share",
       "SELECT memory_used_share FROM run", "the profile does not say how much GPU memory was used"},
      {"ranks", "Ranks", Unit::kCount, "run", "ranks", "SELECT ranks FROM run", "nothing was recorded"},
      {"gpus", "GPUs with Work", Unit::kCount, "run", "gpus", "SELECT gpus FROM run", "nothing was recorded"},
      {"gpu_operations", "GPU Operations", Unit::kCount, "profile", "kernels",
       "SELECT sum(kernels + copies + sets + graph_launches) FROM profile", "no profile was read"},
      {"step_source", "Iterations Found From", Unit::kText, "run", "step_source",
       "SELECT step_source FROM run", "no iterations were detected"},
      {"step_pattern", "Iteration Range", Unit::kText, "run", "step_pattern", "SELECT step_pattern FROM run",
       "no range marks iterations"},
      {"gpu_count", "GPU Count", Unit::kCount, "system", "gpu_count", kGpuCountSql,
       "the profile does not say"},
      {"gpu_names", "GPU Name(s)", Unit::kText, "system", "gpu_names", SystemSql("gpu_names"),
       "the profile does not say"},
      {"cpu_model", "CPU Model", Unit::kText, "system", "cpu_model", SystemSql("cpu_model"),
       "the profile does not say"},
      {"driver_version", "GPU Driver Version", Unit::kText, "system", "driver_version",
       SystemSql("driver_version"), "the profile does not say"},
      {"framework", "Framework", Unit::kText, "system", "framework", SystemSql("framework"),
       "the profile does not say"},
      {"cuda_version", "CUDA Version", Unit::kText, "system", "cuda_version", SystemSql("cuda_version"),
       "the profile does not say"},
      {"profiler", "Profiler", Unit::kText, "system", "profiler", SystemSql("profiler"),
       "the profile does not say"},
  };
}

// Over the rows of a group: 1 where any is known to, NULL where none is and some are not known.
const std::string kUsesTensorCores =
    "CASE WHEN max(uses_tensor_cores) = 1 THEN 1 WHEN count(uses_tensor_cores) < count(*) THEN NULL ELSE 0 "
    "END "
    "AS uses_tensor_cores";

// Of all ranks: op_kernel is kept of some alone where there are many. Kernels on tensor cores make their op
// eligible.
std::string KernelTimeSql() {
  return "SELECT category, gpu_ns FROM (SELECT 'Using Tensor Cores' AS category, sum(tensor_core_ns) AS "
         "gpu_ns FROM gpu UNION ALL SELECT 'Eligible, not using', sum(eligible_ns - tensor_core_ns - "
         "eligible_unknown_ns) FROM gpu UNION ALL SELECT 'Use not known', sum(tensor_core_unknown_ns) FROM "
         "gpu "
         "UNION ALL SELECT 'Not eligible', sum(kernel_ns - eligible_ns - tensor_core_unknown_ns + "
         "eligible_unknown_ns) FROM gpu) WHERE gpu_ns > 0 ORDER BY gpu_ns DESC, category";
}

// The categories of PyTorch's TensorBoard plugin, in its order.
std::string ExecutionSummarySql() {
  constexpr std::pair<const char*, const char*> kCategories[] = {
      {"Kernel", "kernel_ns"},   {"Memcpy", "memcpy_ns"},
      {"Memset", "memset_ns"},   {"Communication", "communication_ns"},
      {"Runtime", "runtime_ns"}, {"DataLoader", "dataloader_ns"},
      {"CPU Exec", "cpu_ns"},    {"Other", "other_ns"}};
  std::string sql;
  int position = 0;
  for (const auto& [name, column] : kCategories)
    sql += fmt::format(
        "{}SELECT rank, '{}' AS category, avg({}) AS ns, ratio(sum({}), sum(total_ns)) AS share, {} AS "
        "position FROM "
        "execution_summary GROUP BY rank",
        sql.empty() ? "" : " UNION ALL ", name, column, column, position++);
  return "SELECT rank, category, ns, share FROM (" + sql + ") ORDER BY rank, position";
}

// Bars for a chart of iterations: each alone, or where there are more than 160 the means of neighbours.
std::string IterationChartSql(const std::string& iteration, const std::string& ns, const std::string& from) {
  return fmt::format(
      "WITH numbered AS (SELECT {0} AS iteration, {1} AS ns, warmup, row_number() OVER ({2}) - 1 AS n, "
      "count(*) OVER () AS total {3}), placed AS (SELECT ns, warmup, n / ((total + 159) / 160) AS bar, "
      "first_value(iteration) OVER w AS first, last_value(iteration) OVER w AS last FROM numbered WINDOW w "
      "AS "
      "(PARTITION BY n / ((total + 159) / 160) ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED "
      "FOLLOWING)) SELECT first, last, count(*) AS iterations, avg(ns) AS mean_ns, max(ns) AS slowest_ns, "
      "min(warmup) AS warmup FROM placed GROUP BY bar ORDER BY bar",
      iteration, ns, iteration == "step" ? "ORDER BY step" : "ORDER BY attempt, iteration", from);
}

// Enough events to draw what is allocated: of each of so many equal parts of the time the least, the most and
// the last.
std::string MemoryCurveSql() {
  return "WITH event AS (SELECT rowid AS n, device, start_ns, allocated_bytes, reserved_bytes FROM "
         "memory_event WHERE device IS NOT NULL AND allocated_bytes IS NOT NULL), span AS (SELECT "
         "min(start_ns) AS first, max(start_ns) - min(start_ns) + 1 AS ns, 260 / count(DISTINCT device) AS "
         "parts FROM event), placed AS (SELECT event.*, (start_ns - first) * parts / ns AS part FROM event, "
         "span), extreme AS (SELECT *, min(allocated_bytes) OVER w AS least, max(allocated_bytes) OVER w AS "
         "most, max(n) OVER w AS last FROM placed WINDOW w AS (PARTITION BY device, part)) SELECT device, "
         "start_ns, allocated_bytes, reserved_bytes FROM extreme WHERE n = last OR allocated_bytes IN "
         "(least, "
         "most) GROUP BY device, part, allocated_bytes, n = last ORDER BY device, min(n)";
}

constexpr size_t kMaxPasses = 4000;
constexpr size_t kMaxBuckets = 24;  // of a ledger

// The passes of the typical step of the pipeline with the longest bubble; where there are too many, of every
// second stage, third, ...
std::string PipelineScheduleSql() {
  return fmt::format(
      "WITH drawn AS MATERIALIZED (SELECT pipeline, typical_step FROM pipeline_bubble ORDER BY bubble_ns "
      "DESC, pipeline LIMIT 1), pass AS MATERIALIZED (SELECT rank, device, phase, micro_batch, chunk, "
      "start_ns, end_ns FROM pipeline_event WHERE step = (SELECT typical_step FROM drawn) AND start_ns IS "
      "NOT NULL), placed AS MATERIALIZED (SELECT s.pipeline, s.stage, s.rank, p.phase, p.micro_batch, "
      "p.chunk, p.start_ns, p.end_ns FROM pass AS p JOIN (SELECT pipeline, stage, rank, device FROM "
      "pipeline_stage WHERE pipeline = (SELECT pipeline FROM drawn)) AS s ON s.rank = p.rank AND s.device = "
      "p.device) SELECT pipeline, stage, rank, phase, micro_batch, chunk, start_ns, end_ns FROM placed WHERE "
      "stage % (SELECT CAST(count(*) / {}.0 AS INTEGER) + 1 FROM placed) = 0 ORDER BY stage, start_ns, "
      "end_ns, phase",
      kMaxPasses);
}

std::vector<TableQuery> MakeTables() {
  std::vector<TableQuery> tables = {
      {"resource_usage", "Resource Usage Breakdown",
       "Mean over GPUs; where several overlap, the first one named counts.", "resource_usage",
       "SELECT category, ns, share FROM resource_usage ORDER BY position"},
      {"kernel_gpu_time", "Total Kernel GPU Time",
       "Sum of kernel durations in the analysed time; eligible are those of ops that could use tensor cores.",
       "gpu", KernelTimeSql()},
      {"top_ops", "Top 10 GPU Ops", "Summed over ranks.", "op",
       "SELECT sum(gpu_ns) AS gpu_ns, op, max(op_type) AS op_type, sum(calls) AS calls, "
       "max(tensor_core_eligible) AS tensor_core_eligible, " +
           kUsesTensorCores +
           " FROM op WHERE gpu_ns > 0 GROUP BY op ORDER BY sum(op.gpu_ns) DESC, op LIMIT 10"},
      {"op_type_summary", "Op Type Summary", "Ops by type, in the analysed time.", "op_type",
       "SELECT rank, op_type, ops, calls, gpu_ns, cpu_ns, kernels, tensor_core_eligible, uses_tensor_cores, "
       "tensor_core_ns FROM op_type ORDER BY gpu_ns DESC, rank, op_type"},
      {"group_ops", "Group Ops", "Ops by the leading parts of their path; a group holds its sub-groups.",
       "group_op",
       "SELECT rank, op_group, ops, calls, eligible_ops, tensor_core_ops, gpu_ns, cpu_ns FROM group_op ORDER "
       "BY "
       "gpu_ns DESC, rank, op_group"},
      {"ops", "Ops", "Every op of the analysed time.", "op",
       "SELECT rank, op, op_type, direction, calls, kernels, gpu_ns, cpu_ns, copy_ns, tensor_core_eligible, "
       "uses_tensor_cores, tensor_core_ns, precision, data_type, shapes, inherited_share FROM op ORDER BY "
       "gpu_ns "
       "DESC, rank, op"},
      {"op_kernels", "Kernels by Op", "Kernels under the op that launched them.", "op_kernel",
       "SELECT rank, op, kernel, calls, gpu_ns, avg_gpu_ns, min_gpu_ns, max_gpu_ns, avg_api_ns, "
       "uses_tensor_cores, "
       "precision FROM op_kernel ORDER BY gpu_ns DESC, rank, op, kernel"},
      {"kernels", "Kernels", "Whole profile, also outside the analysed time.", "kernel_name",
       "SELECT rank, device, kernel, total_ns, share, instances, avg_ns, median_ns, min_ns, max_ns, "
       "stddev_ns, "
       "uses_tensor_cores, eligible, precision, grid_avg, block_avg, mean_blocks_per_sm, mean_occupancy FROM "
       "kernel_name ORDER BY total_ns DESC, "
       "rank, "
       "device, kernel"},
      {"kernels_by_iteration", "Kernels by Iteration", "What each iteration ran.", "step",
       "SELECT rank, step, warmup, kernels, kernel_ns, ratio(kernel_ns, kernels) AS avg_ns, tensor_core_ns, "
       "ratio(tensor_core_ns, kernel_ns) AS tensor_core_share FROM step ORDER BY rank, step"},
      {"iterations", "Iterations", "Warm-up iterations are outside the analysed time.", "step",
       "SELECT rank, step, warmup, duration_ns, busy_ns, idle_ns, ratio(kernel_busy_ns, duration_ns) AS "
       "gpu_utilization, copies, syncs, start_ns, end_ns FROM step ORDER BY rank, step"},
      {"iteration_chart", "Duration of the Iterations",
       "Of the first rank; where there are more than 160, means of neighbours.", "step",
       IterationChartSql("step", "duration_ns", "FROM step WHERE rank = (SELECT min(rank) FROM step)"), "",
       true},
      {"gpus", "GPUs", "One row per rank and device with GPU work.", "gpu",
       "SELECT rank, device, name, gpu_utilization, tensor_core_efficiency, kernels, kernel_ns, window_ns, "
       "busy_ns, "
       "idle_ns, idle_share, idle_starved_ns, tensor_core_ns, tensor_core_unknown_ns, eligible_ns, "
       "communication_ns, sm_count, compute_capability, memory_bytes FROM gpu ORDER BY rank, device"},
      {"gpu_summary", "GPU Summary", "Over all steps, as PyTorch's TensorBoard plugin estimates them.",
       "gpu_summary",
       "SELECT s.rank, s.device, g.name, g.memory_bytes, g.compute_capability, s.gpu_utilization, "
       "s.est_sm_efficiency, s.est_achieved_occupancy FROM gpu_summary AS s JOIN gpu AS g ON g.rank = s.rank "
       "AND "
       "g.device = s.device ORDER BY s.rank, s.device",
       "kineto"},
      {"execution_summary", "Execution Summary",
       "Mean over all steps of each rank. Each moment counts once, for the first of these that goes on.",
       "execution_summary", ExecutionSummarySql(), "kineto"},
      {"step_breakdown", "Step Time Breakdown", "All steps, warm-up included.", "execution_summary",
       "SELECT rank, step, total_ns, kernel_ns, communication_ns, memcpy_ns, memset_ns, runtime_ns, "
       "dataloader_ns, "
       "cpu_ns, other_ns FROM execution_summary ORDER BY rank, step",
       "kineto"},
      {"distributed_steps", "Computation and Communication", "All steps, warm-up included.",
       "distributed_step",
       "SELECT rank, step, computation_ns, overlap_ns, communication_ns, other_ns FROM distributed_step "
       "WHERE "
       "overlap_ns + communication_ns > 0 ORDER BY rank, step",
       "kineto"},
      {"operators", "Operators", "Whole profile; self times are without operators called inside.", "operator",
       "SELECT rank, name, calls, device_self_ns, device_total_ns, host_self_ns, host_total_ns, "
       "tensor_core_eligible, tensor_core_self_share, tensor_core_total_share FROM operator ORDER BY "
       "device_self_ns "
       "DESC, host_self_ns DESC, rank, name",
       "kineto"},
      {"modules", "Modules", "Calls of nn.Modules, where stacks were recorded, in the analysed time.",
       "group_op",
       "SELECT rank, op_group AS module, ops, calls, gpu_ns, cpu_ns FROM group_op WHERE "
       "replace(op_group, rtrim(rtrim(op_group, '/'), replace(op_group, '/', '')), '') LIKE 'nn.Module: %' "
       "ORDER BY "
       "gpu_ns DESC, rank, op_group",
       "kineto"},
      {"matrix_products", "Matrix Products", "Where shapes were recorded, in the analysed time.",
       "matrix_product",
       "SELECT rank, op, batch, m, n, k, data_type, aligned, calls, gpu_ns, kernel_share FROM matrix_product "
       "ORDER BY "
       "gpu_ns DESC, rank, op, batch, m, n, k",
       "kineto"},
      {"copies", "Copies", "Whole profile, by direction, kinds of memory and how the host called.",
       "copy_kind",
       "SELECT rank, device, direction, source, destination, blocking, copies, bytes, total_ns, avg_ns, "
       "bytes_per_s, small_copies, pageable_async FROM copy_kind ORDER BY total_ns DESC, rank, device, "
       "direction, "
       "source, destination, blocking"},
      {"synchronisation", "Synchronisation", "Where the host waited for the GPU, in the analysed time.",
       "sync_site",
       "SELECT rank, kind, api, site, calls, calls_per_step, total_ns, max_ns, window_share, gpu_idle_ns "
       "FROM "
       "sync_site ORDER BY total_ns DESC, rank, kind, api, site"},
      {"api_calls", "CUDA API Calls", "Whole profile.", "api_name",
       "SELECT rank, name, calls, total_ns, avg_ns, min_ns, max_ns, errors FROM api_name ORDER BY total_ns "
       "DESC, "
       "rank, name"},
      {"time_ledger", "Time Ledger",
       "Every nanosecond of the analysed time in exactly one bucket, per rank and device.", "time_ledger",
       "SELECT rank, device, bucket, ns, ns_per_step, share FROM time_ledger ORDER BY rank, device, ns DESC, "
       "bucket",
       "", false, kDrawnLedgers * kMaxBuckets},
      {"idle_gaps", "Longest Idle Gaps", "When nothing ran on the GPU.", "idle_gap",
       "SELECT rank, device, start_ns, duration_ns, cause, doing, starved_ns, ended_by, range FROM idle_gap "
       "ORDER "
       "BY "
       "duration_ns DESC, rank, device, start_ns LIMIT 50"},
      {"memory", "Memory", "GPU memory against what the device has.", "memory",
       "SELECT rank, device, total_bytes, peak_bytes, used_share, peak_at_ns, peak_operator, reserved_bytes, "
       "allocations, frees, source FROM memory ORDER BY rank, device"},
      {"memory_curve", "Memory over Time", "What PyTorch's allocator has given to tensors and has reserved.",
       "memory_event", MemoryCurveSql(), "kineto", true},
      {"memory_operators", "Memory by Operator",
       "The 10 that allocate the most GPU memory over the whole profile; self is without operators called "
       "inside, and an increase is what is allocated less what is freed.",
       "memory_operator",
       "SELECT rank, device, name, calls, self_allocated_bytes, allocated_bytes, self_increase_bytes, "
       "increase_bytes, self_allocations, allocations FROM memory_operator WHERE device IS NOT NULL ORDER BY "
       "self_allocated_bytes DESC, allocated_bytes DESC, rank, device, name LIMIT 10",
       "kineto", true},
      {"pipelines", "Pipelines",
       "Of a step, mean of the complete steady ones. Ideal is the bubble that the schedule has by nature.",
       "pipeline_bubble",
       "SELECT pipeline, schedule, stages, missing_stages, micro_batches, chunks, cost_ns, bubble_ratio AS "
       "bubble_share, ideal_ratio AS ideal_share, warmup_bubble_ns, steady_bubble_ns, cooldown_bubble_ns, "
       "imbalance AS imbalance_share, slowest_stage, slowest_rank, typical_step, steps FROM pipeline_bubble "
       "ORDER BY bubble_ns DESC, pipeline",
       "", true},
      {"pipeline_stages", "Stages", "Times of a micro-batch; bubbles of a step.", "pipeline_stage",
       "SELECT pipeline, stage, rank, device, forward_ns, backward_ns, weight_ns, work_ns, busy_ns, "
       "bubble_share, warmup_bubble_ns, steady_bubble_ns, cooldown_bubble_ns, optimizer_ns FROM "
       "pipeline_stage ORDER BY pipeline <> (SELECT pipeline FROM pipeline_bubble ORDER BY bubble_ns DESC, "
       "pipeline LIMIT 1), pipeline, stage",
       "", true},
      {"pipeline_schedule", "Pipeline Schedule",
       "The passes of the typical step of the pipeline with the longest bubble.", "pipeline_event",
       PipelineScheduleSql(), "", true, kMaxPasses},
      {"launches", "Launches", "How the host fed the GPU.", "launch",
       "SELECT rank, device, launches, graph_launches, avg_api_ns, median_queue_delay_ns, tiny_kernels, "
       "tiny_share, "
       "min_latency_ns FROM launch ORDER BY rank, device"},
      {"gpu_metrics", "GPU Metrics", "Sampled hardware counters.", "gpu_metric",
       "SELECT profile, device, metric, samples, avg, min, max FROM gpu_metric ORDER BY profile, device, "
       "metric"},
      {"telemetry", "Telemetry", "What nvidia-smi told; clocks are of the time in which the GPU was busy.",
       "telemetry",
       "SELECT profile, device, max(samples) AS samples, max(CASE WHEN metric = 'gpu_utilization' THEN mean "
       "END) AS "
       "gpu_utilization, max(CASE WHEN metric = 'memory_used_bytes' THEN max END) AS peak_memory_bytes, "
       "max(CASE WHEN metric = 'memory_total_bytes' THEN max END) AS total_memory_bytes, max(CASE WHEN "
       "metric = "
       "'power_w' THEN mean END) AS mean_power, max(CASE WHEN metric = 'power_w' THEN limit_value END) AS "
       "power_limit, max(CASE WHEN metric = 'temperature_c' THEN max END) AS highest_temperature, max(CASE "
       "WHEN metric = 'sm_clock_hz' THEN busy_mean END) AS mean_sm_clock FROM telemetry GROUP BY profile, "
       "device ORDER BY profile, device",
       "", true},
      {"telemetry_busy", "Telemetry of All GPUs", "Mean over the GPUs whose utilization is known.",
       "telemetry",
       "SELECT count(*) AS gpus, avg(busy) AS busy_share FROM (SELECT max(CASE WHEN metric = "
       "'gpu_utilization' THEN mean END) AS busy FROM telemetry GROUP BY profile, device) HAVING count(*) > "
       "0",
       "", true},
      {"training", "Training Log", "What the training printed; times are of iterations after warm-up.",
       "training", "SELECT * FROM training ORDER BY profile", "", true},
      {"training_timers", "Timers of the Training Log",
       "Mean of an iteration after warm-up. Timers may hold others.", "training_timer",
       "SELECT t.profile, t.timer, t.kind, avg(t.ns) AS mean_ns, avg(t.min_ns) AS least_rank_ns, "
       "avg(t.max_ns) AS "
       "most_rank_ns, avg(t.share) AS share FROM training_timer AS t JOIN training_log AS l ON l.profile = "
       "t.profile "
       "AND l.attempt = t.attempt AND l.iteration = t.iteration WHERE NOT l.warmup GROUP BY t.profile, "
       "t.timer, t.kind "
       "ORDER BY t.profile, avg(t.share) DESC, t.timer",
       "", true},
      {"training_iterations", "Lines of the Training Log",
       "Each is a mean over the iterations that it covers.", "training_log",
       "SELECT profile, attempt, iteration, covers, elapsed_ns, excess_ns, warmup, slow, cause, grown_timer, "
       "samples_per_second, tokens_per_second, tflops_per_gpu, loss, loss_scale, grad_norm, learning_rate, "
       "skipped, nan "
       "FROM training_log ORDER BY profile, attempt, iteration",
       "", true},
      {"training_chart", "Duration of the Iterations",
       "Of the first log; where there are more than 160 lines, means of neighbours.", "training_log",
       IterationChartSql("iteration", "elapsed_ns",
                         "FROM training_log WHERE profile = (SELECT min(profile) FROM training_log)"),
       "", true},
      {"slow_line_causes", "Causes of Slow Lines", "After warm-up, in order of appearance.", "training_log",
       "SELECT cause, count(*) AS lines FROM (SELECT cause, row_number() OVER (ORDER BY profile, attempt, "
       "iteration) AS n FROM training_log WHERE cause IS NOT NULL AND NOT warmup) GROUP BY cause ORDER BY "
       "min(n)",
       "", true},
      {"training_memory_peaks", "Peaks of the Training's Memory", "Over all ranks.", "training_memory",
       "SELECT count(*) AS ranks, min(max_allocated_bytes) AS least_bytes, max(max_allocated_bytes) AS "
       "most_bytes, max(device_bytes) AS device_bytes FROM training_memory HAVING count(*) > 0",
       "", true},
      {"training_memory", "Memory of the Training's Ranks",
       "Of PyTorch's allocator, as the log tells it last.", "training_memory",
       "SELECT profile, rank, iteration, max_allocated_bytes, max_reserved_bytes, device_bytes, used_share "
       "FROM "
       "training_memory ORDER BY profile, rank",
       "", true},
      {"training_settings", "Arguments of the Training", "", "training_setting",
       "SELECT profile, name, value FROM training_setting ORDER BY profile, name", "", true},
      {"system", "System", "", "system",
       "SELECT profile, host, os, cpu_model, cpu_cores, gpu_count, gpu_names, driver_version, cuda_version, "
       "framework, profiler, command FROM system ORDER BY profile"},
      {"profiles", "Capture Health", "What was read, and what makes it less than sure.", "profile",
       "SELECT profile, path, format, producer_version, schema_version, session_ns, kernels, copies, sets, "
       "graph_launches, api_calls, syncs, ranges, os_calls, gpu_metric_samples, training_lines, "
       "memory_events, skipped_rows, "
       "unmatched_kernels, unmatched_share, inherited_share, open_ranges, out_of_order, negative_durations, "
       "overhead_ns, overhead_share, diagnostics, missing_tables, notes, truncated, missing_capture FROM "
       "profile ORDER "
       "BY "
       "profile"},
      {"recorded", "Recorded in All Profiles",
       "Whether any is incomplete or has memory events, and whether all have calls, ranges and calls of the "
       "operating system.",
       "profile",
       "SELECT count(*) AS profiles, max(truncated) AS truncated, max(memory_events > 0) AS memory_events, "
       "min(api_calls > 0 AND ranges > 0 AND os_calls > 0) AS calls_ranges_and_os_calls FROM profile HAVING "
       "count(*) > 0",
       "", true},
      {"missing_capture", "Not Captured", "What to capture too, in the words of the profiler.", "profile",
       "SELECT missing_capture, count(*) AS profiles FROM profile WHERE missing_capture IS NOT NULL GROUP BY "
       "missing_capture ORDER BY missing_capture",
       "", true},
      {"diagnostics", "Profiler Diagnostics", "What the profiler itself complained of.", "diagnostic",
       "SELECT profile, severity, text FROM diagnostic ORDER BY profile, severity DESC, n"},
  };
  const auto launches = std::ranges::find(tables, "launches", &TableQuery::id);
  std::vector<TableQuery> of_ranks = RankQueries();
  tables.insert(launches, std::move_iterator(of_ranks.begin()), std::move_iterator(of_ranks.end()));
  return tables;
}

}  // namespace

const std::vector<FigureQuery>& FigureQueries() {
  static const std::vector<FigureQuery> queries = MakeFigures();
  return queries;
}

const std::vector<TableQuery>& TableQueries() {
  static const std::vector<TableQuery> queries = MakeTables();
  return queries;
}

}  // namespace dladvisor
