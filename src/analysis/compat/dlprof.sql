-- SPDX-License-Identifier: Apache-2.0
-- The sections that DLProf writes below each other, each with columns of its own. Without steps DLProf's only
-- iteration begins with the capture and ends with the last event. Means have one decimal; NULL, for what no name
-- shows, stays NULL.
-- id: dlprof_summary
-- doc: DLProf's summary, its sections as one table. Other counts all time without GPU work, input, file access and
--   host work, start-up before the first event too where no steps were found.
WITH time AS (SELECT CASE WHEN steps > 0 THEN window_ns
      ELSE coalesce(window_start_ns - start_up_ns + wall_ns,
      (SELECT max(start_ns + cpu_ns) FROM op_call)) END AS wall, *
  FROM run),
op AS (SELECT op_id, sum(gpu_ns) AS gpu_ns, sum(cpu_ns) AS cpu_ns, max(uses_tensor_cores) AS uses,
      max(tensor_core_eligible) AS eligible
  FROM op_call
  GROUP BY op_id),
work AS (SELECT coalesce(name, api) AS name, kind, duration_ns AS gpu_ns, api_ns, uses_tensor_cores AS uses
  FROM op_work)
SELECT 'System Config' AS "Section", 'GPU Count' AS "Name", gpu_count AS "Value", NULL AS "GPU Time (ns)",
    NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'GPU Name(s)' AS "Name", gpu_names AS "Value", NULL AS "GPU Time (ns)",
    NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'CPU Model' AS "Name", cpu_model AS "Value", NULL AS "GPU Time (ns)",
    NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'GPU Driver Version' AS "Name", driver_version AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'Framework' AS "Name", framework AS "Value", NULL AS "GPU Time (ns)",
    NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'CUDA Version' AS "Name", cuda_version AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'cuDNN Version' AS "Name", cudnn_version AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM system
UNION ALL
SELECT 'System Config' AS "Section", 'NSys Version' AS "Name", producer_version AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM profile
UNION ALL
SELECT 'Summary Report' AS "Section", 'Wall Clock Time (ns)' AS "Name", wall AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'Tensor Core Kernel Utilization %' AS "Name",
    round(100 * tensor_core_efficiency, 1) AS "Value", NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)",
    NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'GPU Utilization %' AS "Name",
    round(100.0 * (gpu_utilization * window_ns) / wall, 1) AS "Value", NULL AS "GPU Time (ns)",
    NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'Tensor Core Kernel Duration %' AS "Name",
    round(100.0 * (SELECT ns FROM resource_usage WHERE category = 'Using Tensor Cores') / wall, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'Non-Tensor Core Kernel Duration %' AS "Name",
    round(100.0 * (SELECT ns FROM resource_usage WHERE category = 'Not Using Tensor Cores') / wall,
    1) AS "Value", NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'Memory Duration %' AS "Name",
    round(100.0 * (SELECT ns FROM resource_usage WHERE category = 'Memory') / wall, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'Dataloader Duration %' AS "Name",
    round(100.0 * (SELECT ns FROM resource_usage WHERE category = 'Dataloader') / wall, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'IO Duration %' AS "Name",
    round(100.0 * (SELECT ns FROM resource_usage WHERE category = 'I/O') / wall, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'CPU Duration %' AS "Name",
    round(100.0 * (SELECT ns FROM resource_usage WHERE category = 'CPU') / wall, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Summary Report' AS "Section", 'Other Duration %' AS "Name",
    round(100.0 * (SELECT wall - sum(ns) FROM resource_usage WHERE category <> 'Other' HAVING count(*) > 0) /
    wall, 1) AS "Value", NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops",
    NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Iterations' AS "Section", 'Total Iterations' AS "Name", max(total_steps, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Iterations' AS "Section", 'Aggregated Iterations' AS "Name", max(steps, 1) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Iterations' AS "Section", 'Start Iteration' AS "Name", coalesce(first_step, 0) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Iterations' AS "Section", 'Stop Iteration' AS "Name", coalesce(last_step, 0) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Iterations' AS "Section", 'Average Iteration Time (ns)' AS "Name", coalesce(step_ns, wall) AS "Value",
    NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)", NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'Iterations' AS "Section", 'Iteration Time Standard Deviation' AS "Name",
    iif(steps > 0, step_stddev_ns, 0.0) AS "Value", NULL AS "GPU Time (ns)", NULL AS "CPU Time (ns)",
    NULL AS "# Ops", NULL AS "# Kernels"
FROM time
UNION ALL
SELECT 'All Ops' AS "Section", 'All ops' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(cpu_ns), 0) AS "CPU Time (ns)",
    count(*) AS "# Ops", NULL AS "# Kernels"
FROM op
WHERE true
UNION ALL
SELECT 'All Ops' AS "Section", 'Ops using TC' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(cpu_ns), 0) AS "CPU Time (ns)",
    count(*) AS "# Ops", NULL AS "# Kernels"
FROM op
WHERE uses
UNION ALL
SELECT 'All Ops' AS "Section", 'Ops eligible for TC but not using' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(cpu_ns), 0) AS "CPU Time (ns)",
    count(*) AS "# Ops", NULL AS "# Kernels"
FROM op
WHERE eligible AND NOT coalesce(uses, false)
UNION ALL
SELECT 'All Ops' AS "Section", 'All other ops' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(cpu_ns), 0) AS "CPU Time (ns)",
    count(*) AS "# Ops", NULL AS "# Kernels"
FROM op
WHERE NOT eligible AND NOT coalesce(uses, false)
UNION ALL
SELECT 'All Kernels' AS "Section", 'All kernels' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(api_ns), 0) AS "CPU Time (ns)", NULL AS "# Ops",
    count(DISTINCT name) AS "# Kernels"
FROM work
WHERE true
UNION ALL
SELECT 'All Kernels' AS "Section", 'Kernels using TC' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(api_ns), 0) AS "CPU Time (ns)", NULL AS "# Ops",
    count(DISTINCT name) AS "# Kernels"
FROM work
WHERE kind = 'kernel' AND uses
UNION ALL
SELECT 'All Kernels' AS "Section", 'Memory' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(api_ns), 0) AS "CPU Time (ns)", NULL AS "# Ops",
    count(DISTINCT name) AS "# Kernels"
FROM work
WHERE kind <> 'kernel'
UNION ALL
SELECT 'All Kernels' AS "Section", 'All other kernels' AS "Name", NULL AS "Value",
    coalesce(sum(gpu_ns), 0) AS "GPU Time (ns)", coalesce(sum(api_ns), 0) AS "CPU Time (ns)", NULL AS "# Ops",
    count(DISTINCT name) AS "# Kernels"
FROM work
WHERE kind = 'kernel' AND NOT coalesce(uses, false);

-- id: dlprof_detail
-- doc: DLProf's detailed report: ops, each call of a path within an iteration one of its own (op sums them).
SELECT op_id AS "Op ID", op AS "Op Name", direction AS "Direction", op_type AS "Op Type",
    count(*) AS "No. Calls", iif(max(tensor_core_eligible), 'yes', iif(max(tensor_core_eligible) = 0, 'no',
    NULL)) AS "TC Eligible", iif(max(uses_tensor_cores), 'yes', iif(max(uses_tensor_cores) = 0, 'no', NULL))
    AS "Using TC", sum(cpu_ns) AS "Total CPU Time (ns)", round(avg(cpu_ns), 1) AS "Avg. CPU Time (ns)",
    min(cpu_ns) AS "Min CPU Time (ns)", max(cpu_ns) AS "Max CPU Time (ns)",
    sum(gpu_ns) AS "Total GPU Time (ns)", round(avg(gpu_ns), 1) AS "Avg. GPU Time (ns)",
    min(gpu_ns) AS "Min GPU Time (ns)", max(gpu_ns) AS "Max GPU Time (ns)",
    sum(overhead_ns) AS "Total CPU Overhead (ns)", round(avg(overhead_ns), 1) AS "Avg. CPU Overhead (ns)",
    min(overhead_ns) AS "Min CPU Overhead (ns)", max(overhead_ns) AS "Max CPU Overhead (ns)",
    sum(idle_ns) AS "Total GPU Idle (ns)", round(avg(idle_ns), 1) AS "Avg. GPU Idle (ns)",
    min(idle_ns) AS "Min GPU Idle (ns)", max(idle_ns) AS "Max GPU Idle (ns)", data_type AS "Data Type",
    stack AS "Stack Trace"
FROM op_call
GROUP BY op_id
ORDER BY op_id;

-- id: dlprof_op_type
-- doc: DLProf's op type summary.
SELECT op_type AS "Op Type", count(DISTINCT op_id) AS "# Ops", count(*) AS "# Calls",
    sum(cpu_ns) AS "Total CPU Time (ns)", round(avg(cpu_ns), 1) AS "Avg. CPU Time (ns)",
    min(cpu_ns) AS "Min CPU Time (ns)", max(cpu_ns) AS "Max CPU Time (ns)",
    sum(gpu_ns) AS "Total GPU Time (ns)", round(avg(gpu_ns), 1) AS "Avg. GPU Time (ns)",
    min(gpu_ns) AS "Min GPU Time (ns)", max(gpu_ns) AS "Max GPU Time (ns)",
    sum(overhead_ns) AS "Total CPU Overhead (ns)", round(avg(overhead_ns), 1) AS "Avg. CPU Overhead (ns)",
    min(overhead_ns) AS "Min CPU Overhead (ns)", max(overhead_ns) AS "Max CPU Overhead (ns)",
    sum(idle_ns) AS "Total GPU Idle (ns)", round(avg(idle_ns), 1) AS "Avg. GPU Idle (ns)",
    min(idle_ns) AS "Min GPU Idle (ns)", max(idle_ns) AS "Max GPU Idle (ns)"
FROM op_call
GROUP BY op_type
ORDER BY op_type;

-- A row per prefix of paths and one for everything; statistics are over iterations, summed within each.
-- id: dlprof_group_op
-- doc: DLProf's group op report: ops summed by prefix of path; means, least and most over iterations.
WITH RECURSIVE prefix(op, at) AS (SELECT DISTINCT op, 1
  FROM op_call
  WHERE op LIKE '/%'
  UNION ALL
  SELECT op, at + instr(substr(op, at + 1), '/')
  FROM prefix
  WHERE instr(substr(op, at + 1), '/') > 0),
member AS (SELECT op, substr(op, 1, at) AS name
  FROM prefix
  UNION ALL
  SELECT DISTINCT op, '_CompleteModel_'
  FROM op_call),
op AS (SELECT op, step, count(*) AS calls, sum(cpu_ns) AS cpu_ns, sum(gpu_ns) AS gpu_ns,
      sum(overhead_ns) AS overhead_ns, sum(idle_ns) AS idle_ns
  FROM op_call
  GROUP BY op, step),
node AS (SELECT op, count(DISTINCT iif(tensor_core_eligible, op_id, NULL)) AS eligible,
      count(DISTINCT iif(uses_tensor_cores, op_id, NULL)) AS tc_ops
  FROM op_call
  GROUP BY op),
iteration AS (SELECT name, step, sum(calls) AS calls, sum(cpu_ns) AS cpu_ns, sum(gpu_ns) AS gpu_ns,
      sum(overhead_ns) AS overhead_ns, sum(idle_ns) AS idle_ns
  FROM op
  JOIN member USING (op)
  GROUP BY name, step),
ops AS (SELECT name, sum(eligible) AS eligible, sum(tc_ops) AS tc_ops
  FROM node
  JOIN member USING (op)
  GROUP BY name)
SELECT name AS "Name", sum(calls) AS "Num Calls Aggregated", min(eligible) AS "Num TC Eligible Ops",
    min(tc_ops) AS "Num Ops Using TC", sum(cpu_ns) AS "Total CPU Time (ns)",
    round(avg(cpu_ns), 1) AS "Avg. CPU Time (ns)", min(cpu_ns) AS "Min CPU Time (ns)",
    max(cpu_ns) AS "Max CPU Time (ns)", sum(gpu_ns) AS "Total GPU Time (ns)",
    round(avg(gpu_ns), 1) AS "Avg. GPU Time (ns)", min(gpu_ns) AS "Min GPU Time (ns)",
    max(gpu_ns) AS "Max GPU Time (ns)", sum(overhead_ns) AS "Total CPU Overhead (ns)",
    round(avg(overhead_ns), 1) AS "Avg. CPU Overhead (ns)", min(overhead_ns) AS "Min CPU Overhead (ns)",
    max(overhead_ns) AS "Max CPU Overhead (ns)", sum(idle_ns) AS "Total GPU Idle (ns)",
    round(avg(idle_ns), 1) AS "Avg. GPU Idle (ns)", min(idle_ns) AS "Min GPU Idle (ns)",
    max(idle_ns) AS "Max GPU Idle (ns)"
FROM iteration
JOIN ops USING (name)
GROUP BY name
ORDER BY name;

-- id: dlprof_kernel
-- doc: DLProf's kernel report: kernels by op.
SELECT name AS "Kernel Name", op_id AS "Op ID", op AS "Op Name", direction AS "Direction",
    iif(max(w.uses_tensor_cores), 'yes', iif(max(w.uses_tensor_cores) = 0, 'no', NULL)) AS "Uses TC",
    sum(duration_ns) AS "Total GPU Time (ns)", round(avg(duration_ns), 1) AS "Avg GPU Time (ns)",
    min(duration_ns) AS "Min GPU Time (ns)", max(duration_ns) AS "Max GPU Time (ns)",
    sum(w.api_ns) AS "Total API Time (ns)", round(avg(w.api_ns), 1) AS "Avg API Time (ns)",
    min(w.api_ns) AS "Min API Time (ns)", max(w.api_ns) AS "Max API Time (ns)"
FROM op_work AS w
LEFT JOIN op_call AS c ON c.op_call = w.op_call
WHERE kind = 'kernel'
GROUP BY op_id, name
ORDER BY op, name, op_id;

-- DLProf writes a tensor's shape as <32, 84> and separates tensors by semicolons.
-- id: dlprof_iteration
-- doc: DLProf's iteration report: every kernel. Without Parameters and Output Shapes, which DLProf infers, and its
--   letters for the dimensions of convolutions and linear layers.
SELECT coalesce(step, 0) AS "Iteration", op_id AS "Op ID", op AS "Op Name", direction AS "Direction",
    op_type AS "Op Type", name AS "Kernel Name", device AS "Device ID", w.start_ns AS "GPU Start Time (ns)",
    duration_ns AS "GPU Duration (ns)", api_start_ns AS "API Call Start (ns)",
    w.api_ns AS "API Call Time (ns)", iif(w.uses_tensor_cores, 'yes', iif(w.uses_tensor_cores = 0, 'no',
    NULL)) AS "Uses TC", grid_x AS "Grid X", grid_y AS "Grid Y", grid_z AS "Grid Z", block_x AS "Block X",
    block_y AS "Block Y", block_z AS "Block Z", data_type AS "Data Types",
    replace(replace(replace(shapes, ',)', ')'), '(', '<'), ')', '>') AS "Input Shapes", NULL AS "Parameters",
    NULL AS "Output Shapes", long_name AS "Long Kernel Name"
FROM op_work AS w
LEFT JOIN op_call AS c ON c.op_call = w.op_call
WHERE kind = 'kernel'
ORDER BY 1, op, name, w.start_ns;

-- id: dlprof_tensor_core
-- doc: DLProf's tensor core report: ops that could use tensor cores.
WITH kernel AS (SELECT op_id, name, sum(duration_ns) AS ns, max(w.uses_tensor_cores) AS uses
  FROM op_work AS w
  JOIN op_call AS c ON c.op_call = w.op_call
  WHERE kind = 'kernel' AND c.tensor_core_eligible
  GROUP BY op_id, name
  ORDER BY op_id, name),
op AS (SELECT DISTINCT op_id, op, direction, op_type, uses_tensor_cores FROM op_call)
SELECT op_id AS "Op ID", op AS "Op Name", direction AS "Direction", op_type AS "Op Type",
    iif(uses_tensor_cores, 'yes', iif(uses_tensor_cores = 0, 'no', NULL)) AS "Uses TC",
    sum(ns) AS "Total GPU Time (ns)", sum(iif(uses, ns, 0)) AS "TC GPU Time (ns)",
    sum(iif(uses, 0, ns)) AS "Non-TC GPU Time (ns)",
    round(100.0 * sum(iif(uses, ns, 0)) / nullif(sum(ns), 0), 1) AS "TC Utilization (%)",
    count(*) AS "Total Kernel Count", count(iif(uses, 1, NULL)) AS "TC Kernel Count",
    coalesce(group_concat(iif(uses, name, NULL), ', '), '') AS "TC Kernel Names",
    count(iif(uses, NULL, 1)) AS "Non-TC Kernel Count",
    coalesce(group_concat(iif(uses, NULL, name), ', '), '') AS "Non-TC Kernel Names"
FROM kernel
JOIN op USING (op_id)
GROUP BY op_id
ORDER BY op_id;

-- id: dlprof_expert_systems
-- doc: DLProf's expert systems feedback: the findings of dladvisor's rules, most severe first.
SELECT problem AS "Problem", recommendation AS "Recommendation"
FROM finding
WHERE outcome = 'fired'
ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, saves_high_ns DESC, rule, subject;
