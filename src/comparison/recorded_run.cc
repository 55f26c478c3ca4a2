// SPDX-License-Identifier: Apache-2.0
#include "src/comparison/recorded_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/gate/runs/metric.h"

namespace dladvisor {
namespace {

// FLOPs of a run are those of its known work; below this share of the kernel time they say too little of it.
constexpr double kLeastKnownWork = 0.5;

// The rank whose work is compared, also of a profile without steps.
std::string ComparedRank(const char* relation) {
  return fmt::format("coalesce({}, (SELECT min(rank) FROM {}))", kPacingRank, relation);
}

std::string Text(const Value& value) { return IsNull(value) ? "" : FormatValue(value, Unit::kNone); }

std::vector<RecordedWork> WorkOf(const Database& db, const std::string& sql) {
  std::vector<RecordedWork> works;
  for (const auto& row : db.Query(sql).rows)
    works.push_back({Text(row[0]), Text(row[1]), Text(row[2]), AsNumber(row[3]).value_or(0),
                     AsNumber(row[4]).value_or(0), AsNumber(row[5])});
  return works;
}

void ReadSteps(const Database& db, RecordedRun& run) {
  const auto read = [&](const std::string& sql) {
    const ResultSet result = db.Query(sql);
    const auto& row = result.rows.at(0);
    run.steps = static_cast<size_t>(AsNumber(row[0]).value_or(0));
    run.step_ns = AsNumber(row[1]);
    // Of the variance by its definition; rounding may take it below zero.
    const double variance = AsNumber(row[2]).value_or(0) - run.step_ns.value_or(0) * run.step_ns.value_or(0);
    if (run.steps > 1)
      run.step_stddev_ns = std::sqrt(std::max(variance, 0.0) * static_cast<double>(run.steps) /
                                     static_cast<double>(run.steps - 1));
  };
  read(
      fmt::format("SELECT count(*), avg(duration_ns), avg(1.0 * duration_ns * duration_ns) FROM step WHERE "
                  "warmup = 0 AND rank = {}",
                  kPacingRank));
  if (run.steps == 0)
    read(
        "SELECT count(*), avg(elapsed_ns), avg(1.0 * elapsed_ns * elapsed_ns) FROM training_log WHERE warmup "
        "= 0 AND elapsed_ns IS NOT NULL");
}

void ReadLedger(const Database& db, RecordedRun& run) {
  const std::string of_steps = fmt::format(
      "SELECT bucket, sum(ns) * 1.0 / (SELECT count(DISTINCT step) FROM step_ledger WHERE rank = {0}) FROM "
      "step_ledger WHERE rank = {0} AND device = {1} GROUP BY bucket",
      ComparedRank("step_ledger"), PacingDevice("step_ledger"));
  const std::string of_window =
      fmt::format("SELECT bucket, ns FROM time_ledger WHERE rank = {} AND ns IS NOT NULL AND device = {}",
                  ComparedRank("time_ledger"), PacingDevice("time_ledger"));
  for (const std::string* sql : {&of_steps, &of_window}) {
    for (const auto& row : db.Query(*sql).rows)
      if (const double ns = AsNumber(row[1]).value_or(0); ns > 0) run.ledger_ns[Text(row[0])] = ns;
    if (!run.ledger_ns.empty() || run.steps > 0) break;
  }
}

void ReadWork(const Database& db, RecordedRun& run) {
  run.operators =
      WorkOf(db, fmt::format("SELECT op, op_type, NULL, calls, busy_ns, NULL FROM op WHERE rank = "
                             "{} AND busy_ns > 0 ORDER BY busy_ns DESC, op",
                             ComparedRank("op")));
  // The bare column `op` beside max() is of the row that has it.
  run.kernels = WorkOf(
      db,
      fmt::format("WITH kind AS MATERIALIZED (SELECT kernel, min(kind) AS kind FROM kernel_name WHERE rank "
                  "= {0} GROUP BY kernel), used AS (SELECT kernel, op, max(gpu_ns), sum(calls) AS calls, "
                  "sum(gpu_ns) AS ns FROM op_kernel WHERE rank = {0} GROUP BY kernel) SELECT kernel, kind, "
                  "op, calls, ns, NULL FROM used LEFT JOIN kind USING (kernel) ORDER BY ns DESC, kernel",
                  ComparedRank("op_kernel")));
  run.shapes = WorkOf(
      db, fmt::format("SELECT op || ' [' || shapes || ']' || CASE WHEN data_type = '' THEN '' ELSE ' ' || "
                      "data_type END AS name, kind, op, sum(calls), sum(gpu_ns), sum(attainable_ns) / "
                      "sum(gpu_ns) FROM op_efficiency WHERE rank = {} AND shapes <> '' AND kind IS NOT NULL "
                      "GROUP BY name ORDER BY sum(gpu_ns) DESC, name",
                      ComparedRank("op_efficiency")));
  const ResultSet flops = db.Query(fmt::format(
      "SELECT sum(flops) FROM op_efficiency WHERE rank = {} AND (SELECT known_work_share FROM run) "
      ">= {}",
      ComparedRank("op_efficiency"), kLeastKnownWork));
  if (!flops.rows.empty()) run.flops = AsNumber(flops.rows[0][0]);
}

void ReadLog(const Database& db, RecordedRun& run) {
  run.timers =
      WorkOf(db,
             "SELECT timer, kind, NULL, 1, avg(coalesce(ns, max_ns)), NULL FROM training_timer JOIN "
             "training_log USING (profile, attempt, iteration) WHERE warmup = 0 GROUP BY timer, kind "
             "ORDER BY 5 DESC, timer");
  const ResultSet work = db.Query(
      "SELECT avg(global_batch), avg(tokens_per_second * elapsed_ns / 1e9) FROM training_log WHERE warmup = "
      "0");
  run.samples = AsNumber(work.rows.at(0)[0]);
  run.tokens = AsNumber(work.rows.at(0)[1]);
  for (const auto& row : db.Query("SELECT name, max(value) FROM training_setting GROUP BY name").rows)
    run.settings[Text(row[0])] = Text(row[1]);
}

void ReadFigures(const Database& db, RecordedRun& run) {
  for (const Measurement& measurement : run.gate_run.measurements)
    if (const MetricKind* kind = FindMetricKind(measurement.metric);
        kind != nullptr && !kind->is_family && kind->unit != Unit::kNanoseconds)
      run.figures.push_back({kind->title, kind->unit, measurement.mean.mean});
  struct Telemetry {
    const char *metric, *title, *value;
  };
  // While the GPUs are in use, where the log tells.
  static constexpr const char* kMean = "avg(coalesce(active_mean, mean))";
  static constexpr Telemetry kTelemetry[] = {
      {"gpu_utilization", "Time with a kernel running (nvidia-smi)", kMean},
      {"memory_utilization", "Time in which memory is read or written", kMean},
      {"power_w", "Power of a GPU", kMean},
      {"sm_clock_hz", "Clock of a GPU", kMean},
      {"temperature_c", "Temperature of a GPU", kMean},
      {"throttled_by_heat", "Time throttled by heat", "avg(mean)"},
      {"throttled_by_power", "Time throttled by power", "avg(mean)"},
      {"memory_used_bytes", "Memory used at most", "max(max)"}};
  for (const Telemetry& telemetry : kTelemetry) {
    const ResultSet result = db.Query(fmt::format("SELECT {}, min(unit) FROM telemetry WHERE metric = '{}'",
                                                  telemetry.value, telemetry.metric));
    if (const auto value = AsNumber(result.rows.at(0)[0]))
      run.figures.push_back(
          {telemetry.title, ParseUnit(Text(result.rows[0][1])).value_or(Unit::kNone), *value});
  }
}

// What benchmarks of links and of servers measured, whose files have nothing else.
void ReadBenchmarks(const Database& db, RecordedRun& run) {
  for (const auto& row :
       db.Query("SELECT coalesce(collective, 'a collective'), gpus, hosts, max(bus_bytes_per_s) "
                "FROM transfer_test GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")
           .rows)
    if (const auto rate = AsNumber(row[3]))
      run.figures.push_back({fmt::format("Bandwidth by the bus of {} over {} GPUs", Text(row[0]),
                                         FormatValue(row[1], Unit::kCount)),
                             Unit::kBytesPerSecond, *rate});
  const ResultSet requests = db.Query(
      "SELECT avg(output_tokens_per_s), avg(first_mean_ns), avg(token_ns) FROM request_benchmark HAVING "
      "count(*) = 1");
  if (requests.rows.empty()) return;
  const auto add = [&](size_t column, const char* title, Unit unit) {
    if (const auto value = AsNumber(requests.rows[0][column])) run.figures.push_back({title, unit, *value});
  };
  add(0, "Tokens generated in a second", Unit::kCount);
  add(1, "Time until the first token", Unit::kNanoseconds);
  add(2, "Time of each further token", Unit::kNanoseconds);
}

}  // namespace

RecordedRun RecordRun(std::string name, const KnowledgeBase& knowledge, Database& db,
                      const std::map<std::string, std::string>& missing_relations) {
  GateRun run = SummarizeRun(std::move(name), knowledge, db, missing_relations);
  return DescribeRun(std::move(run), db);
}

RecordedRun DescribeRun(GateRun gate_run, const Database& db) {
  RecordedRun run;
  run.gate_run = std::move(gate_run);
  const ResultSet summary = db.Query("SELECT step_source, step_pattern, window_ns FROM run");
  if (!summary.rows.empty()) {
    run.step_source = Text(summary.rows[0][0]);
    run.step_pattern = Text(summary.rows[0][1]);
    run.window_ns = AsNumber(summary.rows[0][2]);
  }
  ReadSteps(db, run);
  ReadLedger(db, run);
  if (run.steps == 0 && !run.ledger_ns.empty()) {  // of the same GPU
    run.window_ns = 0;
    for (const auto& [bucket, ns] : run.ledger_ns) *run.window_ns += ns;
  }
  ReadWork(db, run);
  ReadLog(db, run);
  ReadFigures(db, run);
  ReadBenchmarks(db, run);
  run.truncated = AsNumber(db.Query("SELECT max(truncated) FROM profile").rows.at(0)[0]).value_or(0) > 0;
  return run;
}

}  // namespace dladvisor
