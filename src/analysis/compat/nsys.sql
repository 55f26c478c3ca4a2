-- SPDX-License-Identifier: Apache-2.0
-- Most summaries of nsys have a row per name with the same statistics. SQLite has no median: it is the mean of the
-- middle one or two values. nsys strips the version of a function: _v3020, but not _v10000.
-- id: cuda_api_sum
-- doc: CUDA API calls by function (nsys stats cuda_api_sum).
WITH item AS (SELECT iif(substr(name, -6, 2) = '_v', substr(name, 1, length(name) - 6), name) AS name,
      duration_ns AS ns
  FROM api_call),
ranked AS (SELECT name, ns, row_number() OVER (PARTITION BY name ORDER BY ns) AS n,
      count(*) OVER (PARTITION BY name) AS c, avg(ns) OVER (PARTITION BY name) AS mean
  FROM item)
SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS "Time (%)", sum(ns) AS "Total Time (ns)",
    count(*) AS "Num Calls", avg(ns) AS "Avg (ns)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS "Med (ns)", min(ns) AS "Min (ns)",
    max(ns) AS "Max (ns)", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS "StdDev (ns)",
    name AS "Name"
FROM ranked
GROUP BY name
ORDER BY 2 DESC, name;

-- id: cuda_gpu_kern_sum
-- doc: Kernels by name (nsys stats cuda_gpu_kern_sum).
WITH item AS (SELECT name, duration_ns AS ns FROM kernel),
ranked AS (SELECT name, ns, row_number() OVER (PARTITION BY name ORDER BY ns) AS n,
      count(*) OVER (PARTITION BY name) AS c, avg(ns) OVER (PARTITION BY name) AS mean
  FROM item)
SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS "Time (%)", sum(ns) AS "Total Time (ns)",
    count(*) AS "Instances", avg(ns) AS "Avg (ns)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS "Med (ns)", min(ns) AS "Min (ns)",
    max(ns) AS "Max (ns)", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS "StdDev (ns)",
    name AS "Name"
FROM ranked
GROUP BY name
ORDER BY 2 DESC, name;

-- Operations are called as nsys calls them.
-- id: cuda_gpu_mem_time_sum
-- doc: Copies and sets by operation (nsys stats cuda_gpu_mem_time_sum).
WITH item AS (SELECT CASE direction WHEN 'host-to-device' THEN '[CUDA memcpy Host-to-Device]'
      WHEN 'device-to-host' THEN '[CUDA memcpy Device-to-Host]'
      WHEN 'device-to-device' THEN '[CUDA memcpy Device-to-Device]'
      WHEN 'peer-to-peer' THEN '[CUDA memcpy Peer-to-Peer]'
      ELSE '[CUDA memcpy ' || direction || ']' END AS name, duration_ns AS ns
  FROM memcpy
  UNION ALL
  SELECT '[CUDA memset]', duration_ns
  FROM memset),
ranked AS (SELECT name, ns, row_number() OVER (PARTITION BY name ORDER BY ns) AS n,
      count(*) OVER (PARTITION BY name) AS c, avg(ns) OVER (PARTITION BY name) AS mean
  FROM item)
SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS "Time (%)", sum(ns) AS "Total Time (ns)",
    count(*) AS "Count", avg(ns) AS "Avg (ns)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS "Med (ns)", min(ns) AS "Min (ns)",
    max(ns) AS "Max (ns)", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS "StdDev (ns)",
    name AS "Operation"
FROM ranked
GROUP BY name
ORDER BY 2 DESC, name;

-- id: cuda_gpu_mem_size_sum
-- doc: Bytes of copies and sets by operation (nsys stats cuda_gpu_mem_size_sum).
WITH item AS (SELECT CASE direction WHEN 'host-to-device' THEN '[CUDA memcpy Host-to-Device]'
      WHEN 'device-to-host' THEN '[CUDA memcpy Device-to-Host]'
      WHEN 'device-to-device' THEN '[CUDA memcpy Device-to-Device]'
      WHEN 'peer-to-peer' THEN '[CUDA memcpy Peer-to-Peer]'
      ELSE '[CUDA memcpy ' || direction || ']' END AS name, bytes / 1e6 AS mb
  FROM memcpy
  UNION ALL
  SELECT '[CUDA memset]', bytes / 1e6
  FROM memset),
ranked AS (SELECT name, mb, row_number() OVER (PARTITION BY name ORDER BY mb) AS n,
      count(*) OVER (PARTITION BY name) AS c, avg(mb) OVER (PARTITION BY name) AS mean
  FROM item)
SELECT sum(mb) AS "Total (MB)", count(*) AS "Count", avg(mb) AS "Avg (MB)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN mb END) AS "Med (MB)", min(mb) AS "Min (MB)",
    max(mb) AS "Max (MB)", sqrt(sum((mb - mean) * (mb - mean)) / max(c - 1, 1)) AS "StdDev (MB)",
    name AS "Operation"
FROM ranked
GROUP BY name
ORDER BY 1 DESC, name;

-- id: nvtx_sum
-- doc: Ranges by name (nsys stats nvtx_sum).
WITH item AS (SELECT domain || ':' || name AS name, style, duration_ns AS ns
  FROM range
  WHERE NOT open AND style <> 'Mark'),
ranked AS (SELECT name, style, ns, row_number() OVER (PARTITION BY name, style ORDER BY ns) AS n,
      count(*) OVER (PARTITION BY name, style) AS c, avg(ns) OVER (PARTITION BY name, style) AS mean
  FROM item)
SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS "Time (%)", sum(ns) AS "Total Time (ns)",
    count(*) AS "Instances", avg(ns) AS "Avg (ns)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS "Med (ns)", min(ns) AS "Min (ns)",
    max(ns) AS "Max (ns)", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS "StdDev (ns)",
    style AS "Style", name AS "Range"
FROM ranked
GROUP BY name, style
ORDER BY 2 DESC, name;

-- id: nvtx_gpu_proj_sum
-- doc: Ranges projected onto the GPU, by name (nsys stats nvtx_gpu_proj_sum).
WITH item AS (SELECT domain || ':' || name AS name, gpu_end_ns - gpu_start_ns AS ns,
      end_ns - start_ns AS range_ns, operations, level, children
  FROM range_work),
ranked AS (SELECT *, row_number() OVER (PARTITION BY name ORDER BY ns) AS n,
      count(*) OVER (PARTITION BY name) AS c, avg(ns) OVER (PARTITION BY name) AS mean
  FROM item)
SELECT name AS "Range", 'PushPop' AS "Style", sum(ns) AS "Total Proj Time (ns)",
    sum(range_ns) AS "Total Range Time (ns)", count(*) AS "Range Instances", avg(ns) AS "Proj Avg (ns)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS "Proj Med (ns)", min(ns) AS "Proj Min (ns)",
    max(ns) AS "Proj Max (ns)", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS "Proj StdDev (ns)",
    sum(operations) AS "Total GPU Ops", avg(operations) AS "Avg GPU Ops", avg(level) AS "Avg Range Lvl",
    avg(children) AS "Avg Num Child"
FROM ranked
GROUP BY name
ORDER BY 3 DESC, name;

-- Queue time is from the end of the call to the start of the kernel, where that is later; QCount counts those. The
-- median of each time ranks the values anew.
-- id: cuda_kern_exec_sum
-- doc: Kernels by launching call: time of the call, in the queue, and of the kernel (nsys stats cuda_kern_exec_sum).
WITH call AS MATERIALIZED (SELECT pid, tid, correlation, name, start_ns, end_ns FROM api_call),
item AS (SELECT c.pid AS pid, c.tid AS tid, k.device AS device, c.name AS api, k.name AS kernel,
      max(k.end_ns, c.end_ns) - c.start_ns AS t, c.end_ns - c.start_ns AS a,
      iif(k.start_ns > c.end_ns, k.start_ns - c.end_ns, NULL) AS q, k.duration_ns AS k
  FROM kernel AS k
  JOIN call AS c ON c.correlation = k.correlation AND c.pid = k.pid),
ranked AS (SELECT *, row_number() OVER (PARTITION BY pid, tid, device, api, kernel, t IS NULL ORDER BY t) AS
      t_n, count(t) OVER (PARTITION BY pid, tid, device, api, kernel) AS t_c,
      avg(t) OVER (PARTITION BY pid, tid, device, api, kernel) AS t_mean,
      row_number() OVER (PARTITION BY pid, tid, device, api, kernel, a IS NULL ORDER BY a) AS a_n,
      count(a) OVER (PARTITION BY pid, tid, device, api, kernel) AS a_c,
      avg(a) OVER (PARTITION BY pid, tid, device, api, kernel) AS a_mean,
      row_number() OVER (PARTITION BY pid, tid, device, api, kernel, q IS NULL ORDER BY q) AS q_n,
      count(q) OVER (PARTITION BY pid, tid, device, api, kernel) AS q_c,
      avg(q) OVER (PARTITION BY pid, tid, device, api, kernel) AS q_mean,
      row_number() OVER (PARTITION BY pid, tid, device, api, kernel, k IS NULL ORDER BY k) AS k_n,
      count(k) OVER (PARTITION BY pid, tid, device, api, kernel) AS k_c,
      avg(k) OVER (PARTITION BY pid, tid, device, api, kernel) AS k_mean
  FROM item)
SELECT pid AS "PID", tid AS "TID", device AS "DevId", count(*) AS "Count", count(q) AS "QCount",
    avg(t) AS "TAvg (ns)", avg(CASE WHEN 2 * t_n BETWEEN t_c AND t_c + 2 THEN t END) AS "TMed (ns)",
    min(t) AS "TMin (ns)", max(t) AS "TMax (ns)",
    sqrt(sum((t - t_mean) * (t - t_mean)) / max(count(t) - 1, 1)) AS "TStdDev (ns)", avg(a) AS "AAvg (ns)",
    avg(CASE WHEN 2 * a_n BETWEEN a_c AND a_c + 2 THEN a END) AS "AMed (ns)", min(a) AS "AMin (ns)",
    max(a) AS "AMax (ns)", sqrt(sum((a - a_mean) * (a - a_mean)) / max(count(a) - 1, 1)) AS "AStdDev (ns)",
    avg(q) AS "QAvg (ns)", avg(CASE WHEN 2 * q_n BETWEEN q_c AND q_c + 2 THEN q END) AS "QMed (ns)",
    min(q) AS "QMin (ns)", max(q) AS "QMax (ns)",
    sqrt(sum((q - q_mean) * (q - q_mean)) / max(count(q) - 1, 1)) AS "QStdDev (ns)", avg(k) AS "KAvg (ns)",
    avg(CASE WHEN 2 * k_n BETWEEN k_c AND k_c + 2 THEN k END) AS "KMed (ns)", min(k) AS "KMin (ns)",
    max(k) AS "KMax (ns)", sqrt(sum((k - k_mean) * (k - k_mean)) / max(count(k) - 1, 1)) AS "KStdDev (ns)",
    api AS "API Name", kernel AS "Kernel Name"
FROM ranked
GROUP BY pid, tid, device, api, kernel
ORDER BY sum(t) DESC, kernel, api;

-- Without nsys' own marks of when it began and ended to trace a thread.
-- id: osrt_sum
-- doc: Operating-system calls by function (nsys stats osrt_sum).
WITH item AS (SELECT name, duration_ns AS ns FROM os_call WHERE name NOT LIKE
    'OS runtime libraries profiling %'),
ranked AS (SELECT name, ns, row_number() OVER (PARTITION BY name ORDER BY ns) AS n,
      count(*) OVER (PARTITION BY name) AS c, avg(ns) OVER (PARTITION BY name) AS mean
  FROM item)
SELECT round(100.0 * sum(ns) / (SELECT sum(ns) FROM item), 1) AS "Time (%)", sum(ns) AS "Total Time (ns)",
    count(*) AS "Num Calls", avg(ns) AS "Avg (ns)",
    avg(CASE WHEN 2 * n BETWEEN c AND c + 2 THEN ns END) AS "Med (ns)", min(ns) AS "Min (ns)",
    max(ns) AS "Max (ns)", sqrt(sum((ns - mean) * (ns - mean)) / max(c - 1, 1)) AS "StdDev (ns)",
    name AS "Name"
FROM ranked
GROUP BY name
ORDER BY 2 DESC, name;

-- The range of the step is the last that began before the launching call and has not ended: steps of a thread do not
-- overlap. Of several threads with such ranges the one with most counts, as where steps are found.
-- id: jitter_kernel
-- doc: Kernels with the range of the step around their launching call, in order of launch, to compare GPUs step by
--   step; none where no ranges mark the steps, or those of --step-range.
WITH pattern AS (SELECT rtrim(step_pattern, '#') AS head, step_pattern LIKE '%#' AS numbered
  FROM run
  WHERE step_source = 'ranges'),
found AS (SELECT pid, tid, name, start_ns, end_ns, count(*) OVER (PARTITION BY pid, tid) AS ranges
  FROM range, pattern
  WHERE NOT open AND style <> 'Mark' AND iif(numbered, substr(name, 1, length(head)) = head AND substr(name,
      length(head) + 1, 1) BETWEEN '0' AND '9', name = head)),
ordered AS (SELECT *, dense_rank() OVER (PARTITION BY pid ORDER BY ranges DESC, tid) AS place FROM found),
step_range AS MATERIALIZED (SELECT pid, name, start_ns, end_ns FROM ordered WHERE place = 1),
event AS (SELECT pid, start_ns, start_ns AS step_start, 0 AS is_call, NULL AS correlation, NULL AS name,
      NULL AS end_ns
  FROM step_range
  UNION ALL
  SELECT pid, start_ns, NULL, 1, correlation, name, end_ns
  FROM api_call),
call AS MATERIALIZED (SELECT pid, correlation, name, start_ns, end_ns, is_call,
      max(step_start) OVER (PARTITION BY pid ORDER BY start_ns,
      is_call ROWS UNBOUNDED PRECEDING) AS step_start
  FROM event)
SELECT s.name AS nvtx_text, s.start_ns AS nvtx_start, s.end_ns AS nvtx_end, k.device AS device,
    c.name AS crt_name, c.start_ns AS crt_start, c.end_ns AS crt_end, k.name AS kernel_demangled_name,
    k.stream AS kernel_stream, k.start_ns AS kernel_start, k.end_ns AS kernel_end,
    k.duration_ns AS kernel_duration
FROM kernel AS k
JOIN call AS c ON c.correlation = k.correlation AND c.pid = k.pid
JOIN step_range AS s ON s.pid = c.pid AND s.start_ns = c.step_start
WHERE c.is_call AND c.start_ns < s.end_ns
ORDER BY c.start_ns, k.start_ns;
