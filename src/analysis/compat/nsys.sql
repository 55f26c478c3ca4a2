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

-- Contexts, and which part of the shared memory is static, are not kept: those columns are NULL.
-- id: cuda_gpu_trace
-- doc: Kernels, copies and sets in order of time (nsys stats cuda_gpu_trace).
WITH model AS MATERIALIZED (SELECT device, max(name) AS name FROM gpu GROUP BY device),
item AS (SELECT start_ns, duration_ns, correlation, grid_x, grid_y, grid_z, block_x, block_y, block_z,
      registers, NULL AS bytes, NULL AS source, NULL AS destination, device, stream, name
  FROM kernel
  UNION ALL
  SELECT start_ns, duration_ns, correlation, NULL, NULL, NULL, NULL, NULL, NULL, NULL, bytes,
      upper(substr(source, 1, 1)) || substr(source, 2),
      upper(substr(destination, 1, 1)) || substr(destination, 2), device, stream,
      CASE direction WHEN 'host-to-device' THEN '[CUDA memcpy Host-to-Device]'
      WHEN 'device-to-host' THEN '[CUDA memcpy Device-to-Host]'
      WHEN 'device-to-device' THEN '[CUDA memcpy Device-to-Device]'
      WHEN 'peer-to-peer' THEN '[CUDA memcpy Peer-to-Peer]'
      ELSE '[CUDA memcpy ' || direction || ']' END
  FROM memcpy
  UNION ALL
  SELECT start_ns, duration_ns, correlation, NULL, NULL, NULL, NULL, NULL, NULL, NULL, bytes, NULL, NULL,
      device, stream, '[CUDA memset]'
  FROM memset)
SELECT i.start_ns AS "Start (ns)", i.duration_ns AS "Duration (ns)", i.correlation AS "CorrId",
    i.grid_x AS "GrdX", i.grid_y AS "GrdY", i.grid_z AS "GrdZ", i.block_x AS "BlkX", i.block_y AS "BlkY",
    i.block_z AS "BlkZ", i.registers AS "Reg/Trd", NULL AS "StcSMem (MB)", NULL AS "DymSMem (MB)",
    i.bytes / 1e6 AS "Bytes (MB)", i.bytes * 1e3 / nullif(i.duration_ns, 0) AS "Throughput (MB/s)",
    i.source AS "SrcMemKd", i.destination AS "DstMemKd", m.name || ' (' || i.device || ')' AS "Device",
    NULL AS "Ctx", NULL AS "GreenCtx", i.stream AS "Strm", i.name AS "Name"
FROM item AS i
LEFT JOIN model AS m ON m.device = i.device
ORDER BY 1, 2, 3;

-- Threads have names where they launch GPU work; priorities are not kept.
-- id: cuda_api_trace
-- doc: CUDA API calls in order of time (nsys stats cuda_api_trace).
WITH thread AS MATERIALIZED (SELECT thread AS tid, max(name) AS name FROM host_thread GROUP BY thread)
SELECT a.start_ns AS "Start (ns)", a.duration_ns AS "Duration (ns)",
    iif(substr(a.name, -6, 2) = '_v', substr(a.name, 1, length(a.name) - 6), a.name) AS "Name",
    a.result AS "Result", a.correlation AS "CorrID", a.pid AS "Pid", a.tid AS "Tid", NULL AS "T-Pri",
    t.name AS "Thread Name"
FROM api_call AS a
LEFT JOIN thread AS t ON t.tid = a.tid
ORDER BY 1, 2, 5;

-- The level of a range is how many ranges of its thread are open at its start, and its parent the last one before it
-- that is a level up. At one moment ranges that end there come before those that start there, which are in order of
-- length; one without length ends before the next begins.
-- id: nvtx_pushpop_trace
-- doc: Ranges of push and pop in order of time, with what they enclose (nsys stats nvtx_pushpop_trace).
WITH RECURSIVE item AS MATERIALIZED (SELECT row_number() OVER (ORDER BY start_ns, end_ns DESC, pid, tid) AS id,
      start_ns, end_ns, pid, tid, domain || ':' || name AS name
  FROM range
  WHERE style = 'PushPop' AND NOT open),
event AS (SELECT id, pid, tid, start_ns AS at, 1 AS place, 0 AS is_end FROM item
  UNION ALL
  SELECT id, pid, tid, end_ns, end_ns = start_ns, 1 FROM item),
depth AS (SELECT id, pid, tid, is_end, sum(1 - 2 * is_end) OVER (PARTITION BY pid, tid ORDER BY at, place, id,
      is_end ROWS UNBOUNDED PRECEDING) - 1 AS level
  FROM event),
node AS (SELECT id, pid, tid, level AS shared, 1 AS encloses FROM depth WHERE NOT is_end
  UNION ALL
  SELECT id, pid, tid, level - 1, 0 FROM depth WHERE NOT is_end),
parent AS (SELECT id, encloses, shared + 1 AS level, max(iif(encloses, id, NULL)) OVER (PARTITION BY pid, tid,
      shared ORDER BY id ROWS UNBOUNDED PRECEDING) AS parent
  FROM node),
ranked AS MATERIALIZED (SELECT i.*, p.level, p.parent
  FROM parent AS p
  JOIN item AS i ON i.id = p.id
  WHERE NOT p.encloses),
child AS MATERIALIZED (SELECT parent, count(*) AS children, sum(end_ns - start_ns) AS ns
  FROM ranked
  WHERE parent IS NOT NULL
  GROUP BY parent),
tree AS (SELECT id, ':' || id AS stack, '' AS indent FROM ranked WHERE parent IS NULL
  UNION ALL
  SELECT r.id, t.stack || ':' || r.id, t.indent || '--' FROM tree AS t JOIN ranked AS r ON r.parent = t.id)
SELECT r.start_ns AS "Start (ns)", r.end_ns AS "End (ns)", r.end_ns - r.start_ns AS "Duration (ns)",
    ifnull(c.ns, 0) AS "DurChild (ns)", r.end_ns - r.start_ns - ifnull(c.ns, 0) AS "DurNonChild (ns)",
    r.name AS "Name", r.pid AS "PID", r.tid AS "TID", r.level AS "Lvl", ifnull(c.children, 0) AS "NumChild",
    r.id AS "RangeId", r.parent AS "ParentId", t.stack AS "RangeStack",
    t.indent || r.name AS "NameTree"
FROM ranked AS r
JOIN tree AS t ON t.id = r.id
LEFT JOIN child AS c ON c.parent = r.id
ORDER BY r.id;

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
