#include <fmt/format.h>

#include "src/analysis/compat/views.h"

namespace dladvisor {
namespace {

// A row per value of `name` with the statistics that all of nsys' summaries have. SQLite has no median: it is
// the mean of the middle one or two values.
std::string Summary(const std::string& from, const std::string& count, const std::string& label) {
  return fmt::format(
      "WITH item AS ({}), ranked AS (SELECT name, ns, row_number() OVER (PARTITION BY name ORDER BY ns) AS "
      "n, "
      "count(*) OVER (PARTITION BY name) AS c, avg(ns) OVER (PARTITION BY name) AS mean FROM item) "
      "SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS \"Time (%)\", "
      "sum(ns) AS \"Total Time (ns)\", count(*) AS \"{}\", avg(ns) AS \"Avg (ns)\", "
      "avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS \"Med (ns)\", min(ns) AS \"Min (ns)\", "
      "max(ns) AS \"Max (ns)\", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS \"StdDev (ns)\", "
      "name AS \"{}\" FROM ranked GROUP BY name ORDER BY 2 DESC, name",
      from, count, label);
}

// The operation as nsys writes it.
constexpr const char* kOperation =
    "CASE direction WHEN 'host-to-device' THEN '[CUDA memcpy Host-to-Device]' WHEN 'device-to-host' THEN "
    "'[CUDA memcpy Device-to-Host]' WHEN 'device-to-device' THEN '[CUDA memcpy Device-to-Device]' WHEN "
    "'peer-to-peer' THEN '[CUDA memcpy Peer-to-Peer]' ELSE '[CUDA memcpy ' || direction || ']' END";

std::string SizeSummary() {
  return fmt::format(
      "WITH item AS (SELECT {} AS name, bytes / 1e6 AS mb FROM memcpy UNION ALL SELECT '[CUDA memset]', "
      "bytes / 1e6 "
      "FROM memset), ranked AS (SELECT name, mb, row_number() OVER (PARTITION BY name ORDER BY mb) AS n, "
      "count(*) OVER "
      "(PARTITION BY name) AS c, avg(mb) OVER (PARTITION BY name) AS mean FROM item) "
      "SELECT sum(mb) AS \"Total (MB)\", count(*) AS \"Count\", avg(mb) AS \"Avg (MB)\", "
      "avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN mb END) AS \"Med (MB)\", min(mb) AS \"Min (MB)\", "
      "max(mb) AS \"Max (MB)\", sqrt(sum((mb - mean) * (mb - mean)) / max(c - 1, 1)) AS \"StdDev (MB)\", "
      "name AS \"Operation\" FROM ranked GROUP BY name ORDER BY 1 DESC, name",
      kOperation);
}

std::string RangeSummary() {
  return "WITH item AS (SELECT domain || ':' || name AS name, style, duration_ns AS ns FROM range WHERE NOT "
         "open AND style <> 'Mark'), ranked AS (SELECT name, style, ns, row_number() OVER (PARTITION BY "
         "name, "
         "style ORDER BY ns) AS n, count(*) OVER (PARTITION BY name, style) AS c, avg(ns) OVER (PARTITION BY "
         "name, style) AS mean FROM item) SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS "
         "\"Time (%)\", sum(ns) AS \"Total Time (ns)\", count(*) AS \"Instances\", avg(ns) AS \"Avg (ns)\", "
         "avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS \"Med (ns)\", min(ns) AS \"Min (ns)\", "
         "max(ns) AS \"Max (ns)\", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS \"StdDev (ns)\", "
         "style AS \"Style\", name AS \"Range\" FROM ranked GROUP BY name, style ORDER BY 2 DESC, name";
}

std::string ProjectionSummary() {
  return "WITH item AS (SELECT domain || ':' || name AS name, gpu_end_ns - gpu_start_ns AS ns, end_ns - "
         "start_ns AS range_ns, operations, level, children FROM range_work), ranked AS (SELECT *, "
         "row_number() OVER (PARTITION BY name ORDER BY ns) AS n, count(*) OVER (PARTITION BY name) AS c, "
         "avg(ns) OVER (PARTITION BY name) AS mean FROM item) SELECT name AS \"Range\", 'PushPop' AS "
         "\"Style\", sum(ns) AS \"Total Proj Time (ns)\", sum(range_ns) AS \"Total Range Time (ns)\", "
         "count(*) "
         "AS \"Range Instances\", avg(ns) AS \"Proj Avg (ns)\", avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN "
         "ns END) AS \"Proj Med (ns)\", min(ns) AS \"Proj Min (ns)\", max(ns) AS \"Proj Max (ns)\", "
         "sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS \"Proj StdDev (ns)\", sum(operations) AS "
         "\"Total GPU Ops\", avg(operations) AS \"Avg GPU Ops\", avg(level) AS \"Avg Range Lvl\", "
         "avg(children) AS \"Avg Num Child\" FROM ranked GROUP BY name ORDER BY 3 DESC, name";
}

// Columns of a duration: count, mean, median, least, most, deviation. The median ranks the values anew.
std::string Columns(const std::string& prefix, const std::string& value) {
  return fmt::format(
      "avg({1}) AS \"{0}Avg (ns)\", avg(CASE WHEN 2 * {1}_n BETWEEN {1}_c AND {1}_c + 2 THEN {1} END) AS "
      "\"{0}Med (ns)\", min({1}) AS \"{0}Min (ns)\", max({1}) AS \"{0}Max (ns)\", sqrt(sum(({1} - {1}_mean) "
      "* "
      "({1} - {1}_mean)) / max(count({1}) - 1, 1)) AS \"{0}StdDev (ns)\"",
      prefix, value);
}

std::string Ranked(const std::string& value) {
  return fmt::format(
      "row_number() OVER (PARTITION BY pid, tid, device, api, kernel, {0} IS NULL ORDER BY {0}) AS {0}_n, "
      "count({0}) OVER (PARTITION BY pid, tid, device, api, kernel) AS {0}_c, avg({0}) OVER (PARTITION BY "
      "pid, "
      "tid, device, api, kernel) AS {0}_mean",
      value);
}

// Queue time is from the end of the call to the start of the kernel, where that is later; QCount counts
// those.
std::string ExecutionSummary() {
  return "WITH call AS MATERIALIZED (SELECT pid, tid, correlation, name, start_ns, end_ns FROM api_call), "
         "item "
         "AS (SELECT c.pid AS pid, c.tid AS tid, k.device AS device, c.name AS api, k.name AS kernel, "
         "max(k.end_ns, c.end_ns) - c.start_ns AS t, c.end_ns - c.start_ns AS a, iif(k.start_ns > c.end_ns, "
         "k.start_ns - c.end_ns, NULL) AS q, k.duration_ns AS k FROM kernel AS k JOIN call AS c ON "
         "c.correlation = k.correlation AND c.pid = k.pid), ranked AS (SELECT *, " +
         Ranked("t") + ", " + Ranked("a") + ", " + Ranked("q") + ", " + Ranked("k") +
         " FROM item) SELECT pid AS \"PID\", tid AS \"TID\", device AS \"DevId\", count(*) AS \"Count\", "
         "count(q) AS \"QCount\", " +
         Columns("T", "t") + ", " + Columns("A", "a") + ", " + Columns("Q", "q") + ", " + Columns("K", "k") +
         ", api AS \"API Name\", kernel AS \"Kernel Name\" FROM ranked GROUP BY pid, tid, device, api, "
         "kernel "
         "ORDER BY sum(t) DESC, kernel, api";
}

// The range of the step is the last that began before the launching call and has not ended: steps of a thread
// do not overlap. Of several threads with such ranges the one with most counts, as where steps are found.
std::string JitterKernels() {
  return "WITH pattern AS (SELECT rtrim(step_pattern, '#') AS head, step_pattern LIKE '%#' AS numbered FROM "
         "run WHERE step_source = 'ranges'), found AS (SELECT pid, tid, name, start_ns, end_ns, count(*) "
         "OVER "
         "(PARTITION BY pid, tid) AS ranges FROM range, pattern WHERE NOT open AND style <> 'Mark' AND "
         "iif(numbered, substr(name, 1, length(head)) = head AND substr(name, length(head) + 1, 1) BETWEEN "
         "'0' AND '9', name = head)), ordered AS (SELECT *, dense_rank() OVER (PARTITION BY pid ORDER BY "
         "ranges DESC, tid) AS place FROM found), step_range AS MATERIALIZED (SELECT pid, name, start_ns, "
         "end_ns FROM ordered WHERE place = 1), event AS (SELECT pid, start_ns, start_ns AS step_start, 0 AS "
         "is_call, NULL AS correlation, NULL AS name, NULL AS end_ns FROM step_range UNION ALL SELECT pid, "
         "start_ns, NULL, 1, correlation, name, end_ns FROM api_call), call AS MATERIALIZED (SELECT pid, "
         "correlation, name, start_ns, end_ns, is_call, max(step_start) OVER (PARTITION BY pid ORDER BY "
         "start_ns, is_call ROWS UNBOUNDED PRECEDING) AS step_start FROM event) SELECT s.name AS nvtx_text, "
         "s.start_ns AS nvtx_start, s.end_ns AS nvtx_end, k.device AS device, c.name AS crt_name, c.start_ns "
         "AS crt_start, c.end_ns AS crt_end, k.name AS kernel_demangled_name, k.stream AS kernel_stream, "
         "k.start_ns AS kernel_start, k.end_ns AS kernel_end, k.duration_ns AS kernel_duration FROM kernel "
         "AS "
         "k JOIN call AS c ON c.correlation = k.correlation AND c.pid = k.pid JOIN step_range AS s ON s.pid "
         "= "
         "c.pid AND s.start_ns = c.step_start WHERE c.is_call AND c.start_ns < s.end_ns ORDER BY c.start_ns, "
         "k.start_ns";
}

}  // namespace

const std::vector<View>& NsysViews() {
  static const std::vector<View> views = {
      {"cuda_api_sum", "CUDA API calls by function (nsys stats cuda_api_sum).",
       // As nsys strips the version of a function: _v3020, but not _v10000.
       Summary("SELECT iif(substr(name, -6, 2) = '_v', substr(name, 1, length(name) - 6), name) AS name, "
               "duration_ns AS ns FROM api_call",
               "Num Calls", "Name")},
      {"cuda_gpu_kern_sum", "Kernels by name (nsys stats cuda_gpu_kern_sum).",
       Summary("SELECT name, duration_ns AS ns FROM kernel", "Instances", "Name")},
      {"cuda_gpu_mem_time_sum", "Copies and sets by operation (nsys stats cuda_gpu_mem_time_sum).",
       Summary(
           fmt::format("SELECT {} AS name, duration_ns AS ns FROM memcpy UNION ALL SELECT '[CUDA memset]', "
                       "duration_ns FROM memset",
                       kOperation),
           "Count", "Operation")},
      {"cuda_gpu_mem_size_sum", "Bytes of copies and sets by operation (nsys stats cuda_gpu_mem_size_sum).",
       SizeSummary()},
      {"nvtx_sum", "Ranges by name (nsys stats nvtx_sum).", RangeSummary()},
      {"nvtx_gpu_proj_sum", "Ranges projected onto the GPU, by name (nsys stats nvtx_gpu_proj_sum).",
       ProjectionSummary()},
      {"cuda_kern_exec_sum",
       "Kernels by launching call: time of the call, in the queue, and of the kernel (nsys stats "
       "cuda_kern_exec_sum).",
       ExecutionSummary()},
      {"osrt_sum", "Operating-system calls by function (nsys stats osrt_sum).",
       // Without nsys' own marks of when it began and ended to trace a thread.
       Summary("SELECT name, duration_ns AS ns FROM os_call WHERE name NOT LIKE 'OS runtime libraries "
               "profiling %'",
               "Num Calls", "Name")},
      {"jitter_kernel",
       "Kernels with the range of the step around their launching call, in order of launch, to compare GPUs "
       "step by step; none where no ranges tell the steps, or those of --step-range.",
       JitterKernels()},
  };
  return views;
}

}  // namespace dladvisor
