#include <fmt/format.h>

#include "src/analysis/views.h"

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
      {"nvtx_sum", "Ranges by name (nsys stats nvtx_sum, without its column of styles).",
       Summary("SELECT domain || ':' || name AS name, duration_ns AS ns FROM range WHERE NOT open",
               "Instances", "Range")},
      {"osrt_sum", "Operating-system calls by function (nsys stats osrt_sum).",
       // Without nsys' own marks of when it began and ended to trace a thread.
       Summary("SELECT name, duration_ns AS ns FROM os_call WHERE name NOT LIKE 'OS runtime libraries "
               "profiling %'",
               "Num Calls", "Name")},
  };
  return views;
}

}  // namespace dladvisor
