#include <fmt/format.h>

#include <string>
#include <string_view>

#include "src/analysis/compat/views.h"

namespace dladvisor {
namespace {

// Four columns of one time, "Total CPU Time (ns)" and so on; DLProf prints means with one decimal.
std::string Statistics(std::string_view column, std::string_view title) {
  return fmt::format(
      "sum({0}) AS \"Total {1} (ns)\", round(avg({0}), 1) AS \"Avg. {1} (ns)\", min({0}) AS "
      "\"Min {1} (ns)\", max({0}) AS \"Max {1} (ns)\"",
      column, title);
}

std::string AllStatistics() {
  return Statistics("cpu_ns", "CPU Time") + ", " + Statistics("gpu_ns", "GPU Time") + ", " +
         Statistics("overhead_ns", "CPU Overhead") + ", " + Statistics("idle_ns", "GPU Idle");
}

// NULL, for what no name tells, stays NULL.
std::string YesNo(std::string_view value) {
  return fmt::format("iif({0}, 'yes', iif({0} = 0, 'no', NULL))", value);
}

std::string Detail() {
  return fmt::format(
      "SELECT op_id AS \"Op ID\", op AS \"Op Name\", direction AS \"Direction\", op_type AS \"Op Type\", "
      "count(*) AS \"No. Calls\", {} AS \"TC Eligible\", {} AS \"Using TC\", {}, data_type AS \"Data Type\", "
      "stack AS \"Stack Trace\" FROM op_call GROUP BY op_id ORDER BY op_id",
      YesNo("max(tensor_core_eligible)"), YesNo("max(uses_tensor_cores)"), AllStatistics());
}

std::string OpType() {
  return fmt::format(
      "SELECT op_type AS \"Op Type\", count(DISTINCT op_id) AS \"# Ops\", count(*) AS \"# Calls\", {} FROM "
      "op_call GROUP BY op_type ORDER BY op_type",
      AllStatistics());
}

// A row per prefix of paths and one for everything; statistics are over iterations, summed within each.
std::string GroupOp() {
  return fmt::format(
      "WITH RECURSIVE prefix(op, at) AS (SELECT DISTINCT op, 1 FROM op_call WHERE op LIKE '/%' UNION ALL "
      "SELECT op, at + instr(substr(op, at + 1), '/') FROM prefix WHERE instr(substr(op, at + 1), '/') > 0), "
      "member AS (SELECT op, substr(op, 1, at) AS name FROM prefix UNION ALL "
      "SELECT DISTINCT op, '_CompleteModel_' FROM op_call), "
      "op AS (SELECT op, step, count(*) AS calls, sum(cpu_ns) AS cpu_ns, sum(gpu_ns) AS gpu_ns, "
      "sum(overhead_ns) AS overhead_ns, sum(idle_ns) AS idle_ns FROM op_call GROUP BY op, step), "
      "node AS (SELECT op, count(DISTINCT iif(tensor_core_eligible, op_id, NULL)) AS eligible, "
      "count(DISTINCT iif(uses_tensor_cores, op_id, NULL)) AS tc_ops FROM op_call GROUP BY op), "
      "iteration AS (SELECT name, step, sum(calls) AS calls, sum(cpu_ns) AS cpu_ns, sum(gpu_ns) AS gpu_ns, "
      "sum(overhead_ns) AS overhead_ns, sum(idle_ns) AS idle_ns FROM op JOIN member USING (op) GROUP BY "
      "name, "
      "step), "
      "ops AS (SELECT name, sum(eligible) AS eligible, sum(tc_ops) AS tc_ops FROM node JOIN member USING "
      "(op) "
      "GROUP BY name) "
      "SELECT name AS \"Name\", sum(calls) AS \"Num Calls Aggregated\", min(eligible) AS "
      "\"Num TC Eligible Ops\", min(tc_ops) AS \"Num Ops Using TC\", {} FROM iteration JOIN ops USING (name) "
      "GROUP BY name ORDER BY name",
      AllStatistics());
}

std::string Kernel() {
  return fmt::format(
      "SELECT name AS \"Kernel Name\", op_id AS \"Op ID\", op AS \"Op Name\", direction AS \"Direction\", "
      "{} AS \"Uses TC\", sum(duration_ns) AS \"Total GPU Time (ns)\", round(avg(duration_ns), 1) AS "
      "\"Avg GPU Time (ns)\", min(duration_ns) AS \"Min GPU Time (ns)\", max(duration_ns) AS "
      "\"Max GPU Time (ns)\", sum(w.api_ns) AS \"Total API Time (ns)\", round(avg(w.api_ns), 1) AS "
      "\"Avg API Time (ns)\", min(w.api_ns) AS \"Min API Time (ns)\", max(w.api_ns) AS \"Max API Time (ns)\" "
      "FROM op_work AS w LEFT JOIN op_call AS c ON c.op_call = w.op_call WHERE kind = 'kernel' GROUP BY "
      "op_id, "
      "name ORDER BY op, name, op_id",
      YesNo("max(w.uses_tensor_cores)"));
}

std::string Iteration() {
  // DLProf writes a tensor's shape as <32, 84> and separates tensors by semicolons.
  return fmt::format(
      "SELECT coalesce(step, 0) AS \"Iteration\", op_id AS \"Op ID\", op AS \"Op Name\", direction AS "
      "\"Direction\", op_type AS \"Op Type\", name AS \"Kernel Name\", device AS \"Device ID\", w.start_ns "
      "AS "
      "\"GPU Start Time (ns)\", duration_ns AS \"GPU Duration (ns)\", api_start_ns AS \"API Call Start "
      "(ns)\", "
      "w.api_ns AS \"API Call Time (ns)\", {} AS \"Uses TC\", grid_x AS \"Grid X\", grid_y AS \"Grid Y\", "
      "grid_z AS \"Grid Z\", block_x AS \"Block X\", block_y AS \"Block Y\", block_z AS \"Block Z\", "
      "data_type AS \"Data Types\", replace(replace(replace(shapes, ',)', ')'), '(', '<'), ')', '>') AS "
      "\"Input Shapes\", NULL AS \"Parameters\", NULL AS \"Output Shapes\", long_name AS \"Long Kernel "
      "Name\" "
      "FROM op_work AS w LEFT JOIN op_call AS c ON c.op_call = w.op_call WHERE kind = 'kernel' "
      "ORDER BY 1, op, name, w.start_ns",
      YesNo("w.uses_tensor_cores"));
}

std::string TensorCore() {
  return fmt::format(
      "WITH kernel AS (SELECT op_id, name, sum(duration_ns) AS ns, max(w.uses_tensor_cores) AS uses FROM "
      "op_work AS w JOIN op_call AS c ON c.op_call = w.op_call WHERE kind = 'kernel' AND "
      "c.tensor_core_eligible GROUP BY op_id, name ORDER BY op_id, name), "
      "op AS (SELECT DISTINCT op_id, op, direction, op_type, uses_tensor_cores FROM op_call) "
      "SELECT op_id AS \"Op ID\", op AS \"Op Name\", direction AS \"Direction\", op_type AS \"Op Type\", "
      "{} AS \"Uses TC\", sum(ns) AS \"Total GPU Time (ns)\", sum(iif(uses, ns, 0)) AS \"TC GPU Time (ns)\", "
      "sum(iif(uses, 0, ns)) AS \"Non-TC GPU Time (ns)\", round(100.0 * sum(iif(uses, ns, 0)) / "
      "nullif(sum(ns), 0), 1) AS \"TC Utilization (%)\", count(*) AS \"Total Kernel Count\", "
      "count(iif(uses, 1, NULL)) AS \"TC Kernel Count\", coalesce(group_concat(iif(uses, name, NULL), ', '), "
      "'') AS \"TC Kernel Names\", count(iif(uses, NULL, 1)) AS \"Non-TC Kernel Count\", "
      "coalesce(group_concat(iif(uses, NULL, name), ', '), '') AS \"Non-TC Kernel Names\" "
      "FROM kernel JOIN op USING (op_id) GROUP BY op_id ORDER BY op_id",
      YesNo("uses_tensor_cores"));
}

// One table of the sections that DLProf writes below each other, each with columns of its own.
std::string Summary() {
  std::string sql =
      // Without steps DLProf's only iteration begins with the capture and ends with the last event.
      "WITH time AS (SELECT CASE WHEN steps > 0 THEN window_ns ELSE coalesce(window_start_ns - start_up_ns + "
      "wall_ns, (SELECT max(start_ns + cpu_ns) FROM op_call)) END AS wall, * FROM run), "
      "op AS (SELECT op_id, sum(gpu_ns) AS gpu_ns, sum(cpu_ns) AS cpu_ns, max(uses_tensor_cores) AS uses, "
      "max(tensor_core_eligible) AS eligible FROM op_call GROUP BY op_id), "
      "work AS (SELECT coalesce(name, api) AS name, kind, duration_ns AS gpu_ns, api_ns, uses_tensor_cores "
      "AS "
      "uses FROM op_work) ";
  std::string select =
      "SELECT '{}' AS \"Section\", '{}' AS \"Name\", {} AS \"Value\", {} AS "
      "\"GPU Time (ns)\", {} AS \"CPU Time (ns)\", {} AS \"# Ops\", {} AS \"# Kernels\" FROM {} ";
  const char* separator = "";
  const auto add = [&](const char* section, const char* name, const std::string& value, const char* from) {
    sql += separator +
           fmt::format(fmt::runtime(select), section, name, value, "NULL", "NULL", "NULL", "NULL", from);
    separator = "UNION ALL ";
  };
  const auto share = [](const char* ns) { return fmt::format("round(100.0 * ({}) / wall, 1)", ns); };
  const auto category = [&](const char* name) {
    return share(fmt::format("SELECT ns FROM resource_usage WHERE category = '{}'", name).c_str());
  };
  constexpr const char* kSystem = "System Config";
  add(kSystem, "GPU Count", "gpu_count", "system");
  add(kSystem, "GPU Name(s)", "gpu_names", "system");
  add(kSystem, "CPU Model", "cpu_model", "system");
  add(kSystem, "GPU Driver Version", "driver_version", "system");
  add(kSystem, "Framework", "framework", "system");
  add(kSystem, "CUDA Version", "cuda_version", "system");
  add(kSystem, "cuDNN Version", "cudnn_version", "system");
  add(kSystem, "NSys Version", "producer_version", "profile");
  constexpr const char* kReport = "Summary Report";
  add(kReport, "Wall Clock Time (ns)", "wall", "time");
  add(kReport, "Tensor Core Kernel Utilization %", "round(100 * tensor_core_efficiency, 1)", "time");
  add(kReport, "GPU Utilization %", share("gpu_utilization * window_ns"), "time");
  add(kReport, "Tensor Core Kernel Duration %", category("Using Tensor Cores"), "time");
  add(kReport, "Non-Tensor Core Kernel Duration %", category("Not Using Tensor Cores"), "time");
  add(kReport, "Memory Duration %", category("Memory"), "time");
  add(kReport, "Dataloader Duration %", category("Dataloader"), "time");
  add(kReport, "IO Duration %", category("I/O"), "time");
  add(kReport, "CPU Duration %", category("CPU"), "time");
  add(kReport, "Other Duration %",
      share("SELECT wall - sum(ns) FROM resource_usage WHERE category <> 'Other' HAVING count(*) > 0"),
      "time");
  constexpr const char* kIterations = "Iterations";
  add(kIterations, "Total Iterations", "max(total_steps, 1)", "time");
  add(kIterations, "Aggregated Iterations", "max(steps, 1)", "time");
  add(kIterations, "Start Iteration", "coalesce(first_step, 0)", "time");
  add(kIterations, "Stop Iteration", "coalesce(last_step, 0)", "time");
  add(kIterations, "Average Iteration Time (ns)", "coalesce(step_ns, wall)", "time");
  add(kIterations, "Iteration Time Standard Deviation", "iif(steps > 0, step_stddev_ns, 0.0)", "time");

  const auto ops = [&](const char* name, const char* where) {
    sql += separator + fmt::format(fmt::runtime(select), "All Ops", name, "NULL", "coalesce(sum(gpu_ns), 0)",
                                   "coalesce(sum(cpu_ns), 0)", "count(*)", "NULL",
                                   std::string("op WHERE ") + where);
  };
  ops("All ops", "true");
  ops("Ops using TC", "uses");
  ops("Ops eligible for TC but not using", "eligible AND NOT coalesce(uses, false)");
  ops("All other ops", "NOT eligible AND NOT coalesce(uses, false)");
  const auto kernels = [&](const char* name, const char* where) {
    sql += separator + fmt::format(fmt::runtime(select), "All Kernels", name, "NULL",
                                   "coalesce(sum(gpu_ns), 0)", "coalesce(sum(api_ns), 0)", "NULL",
                                   "count(DISTINCT name)", std::string("work WHERE ") + where);
  };
  kernels("All kernels", "true");
  kernels("Kernels using TC", "kind = 'kernel' AND uses");
  kernels("Memory", "kind <> 'kernel'");
  kernels("All other kernels", "kind = 'kernel' AND NOT coalesce(uses, false)");
  return sql;
}

}  // namespace

const std::vector<View>& DlprofViews() {
  static const std::vector<View> views = {
      {"dlprof_summary",
       "DLProf's summary, its sections as one table. Other counts all time without GPU work, input, file "
       "access and host work, start-up before the first event too where no steps were found.",
       Summary()},
      {"dlprof_detail",
       "DLProf's detailed report: ops, each call of a path within an iteration one of its own (op sums "
       "them).",
       Detail()},
      {"dlprof_op_type", "DLProf's op type summary.", OpType()},
      {"dlprof_group_op",
       "DLProf's group op report: ops summed by prefix of path; means, least and most over iterations.",
       GroupOp()},
      {"dlprof_kernel", "DLProf's kernel report: kernels by op.", Kernel()},
      {"dlprof_iteration",
       "DLProf's iteration report: every kernel. Without Parameters and Output Shapes, which DLProf infers, "
       "and its letters for the dimensions of convolutions and linear layers.",
       Iteration()},
      {"dlprof_tensor_core", "DLProf's tensor core report: ops that could use tensor cores.", TensorCore()},
      {"dlprof_expert_systems",
       "DLProf's expert systems feedback: the findings of dladvisor's rules, most severe first.",
       "SELECT problem AS \"Problem\", recommendation AS \"Recommendation\" FROM finding WHERE outcome = "
       "'fired' ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, saves_high_ns "
       "DESC, rule, subject"},
  };
  return views;
}

}  // namespace dladvisor
