-- SPDX-License-Identifier: Apache-2.0
-- Distributions have the columns of pandas' describe(). Kernels, copies and sets have the names that the profiler
-- gives them, and are those that profiled_work.h counts.

-- id: hta_temporal_breakdown
-- doc: GPU time of ranks in us (HTA get_temporal_breakdown).
SELECT rank, idle_ns / 1e3 AS "idle_time(us)", compute_ns / 1e3 AS "compute_time(us)",
    non_compute_ns / 1e3 AS "non_compute_time(us)", kernel_ns / 1e3 AS "kernel_time(us)",
    round(100 * idle_share, 2) AS idle_time_pctg, round(100 * compute_share, 2) AS compute_time_pctg,
    round(100 * non_compute_share, 2) AS non_compute_time_pctg
FROM temporal_breakdown
ORDER BY rank;

-- id: hta_comm_comp_overlap
-- doc: Communication that computation hides (HTA get_comm_comp_overlap).
SELECT rank, round(100 * overlap_share, 2) AS comp_comm_overlap_pctg FROM communication_overlap ORDER BY rank;

-- id: hta_gpu_kernel_type
-- doc: Busy GPU time in us by type, of all ranks (HTA get_gpu_kernel_breakdown).
SELECT kernel_type, sum(total_ns) / 1e3 AS sum,
    round(100.0 * sum(total_ns) / (SELECT sum(total_ns) FROM kernel_breakdown), 1) AS percentage
FROM kernel_breakdown
GROUP BY kernel_type
ORDER BY 2 DESC;

-- id: hta_gpu_kernel_breakdown
-- doc: GPU operations by name in us (HTA get_gpu_kernel_breakdown).
WITH step AS (SELECT max(end_ns) AS last,
    count(DISTINCT name) AS n FROM range WHERE name LIKE 'ProfilerStep#%'),
call AS MATERIALIZED (SELECT pid, correlation, min(start_ns) AS called FROM api_call GROUP BY pid,
    correlation),
communicating AS MATERIALIZED (SELECT DISTINCT kernel AS name FROM kernel_name WHERE communication),
item AS (SELECT pid, correlation, duration_ns AS ns, name,
      iif(name IN (SELECT name FROM communicating), 'COMMUNICATION', 'COMPUTATION') AS kernel_type
  FROM kernel
  UNION ALL
  SELECT pid, correlation, duration_ns, 'Memcpy ' || CASE direction WHEN 'host-to-device' THEN 'HtoD'
      WHEN 'device-to-host' THEN 'DtoH' WHEN 'device-to-device' THEN 'DtoD' WHEN 'peer-to-peer' THEN 'PtoP'
      ELSE 'HtoH' END || ' (' || CASE source WHEN 'pageable' THEN 'Pageable' WHEN 'pinned' THEN 'Pinned'
      WHEN 'device' THEN 'Device' WHEN 'array' THEN 'Array' WHEN 'managed' THEN 'Managed'
      ELSE 'Host' END || ' -> ' || CASE destination WHEN 'pageable' THEN 'Pageable'
      WHEN 'pinned' THEN 'Pinned' WHEN 'device' THEN 'Device' WHEN 'array' THEN 'Array'
      WHEN 'managed' THEN 'Managed' ELSE 'Host' END || ')', 'MEMORY'
  FROM memcpy
  UNION ALL
  SELECT pid, correlation, duration_ns, 'Memset (Device)', 'MEMORY'
  FROM memset),
counted AS (SELECT item.*
  FROM item
  LEFT JOIN call USING (pid, correlation)
  WHERE (SELECT n FROM step) < 2 OR called <= (SELECT last FROM step)),
ranked AS (SELECT *, avg(ns) OVER (PARTITION BY kernel_type, name) AS m FROM counted)
SELECT name, sum(ns) / 1e3 AS "sum (us)", max(ns) / 1e3 AS "max (us)", min(ns) / 1e3 AS "min (us)",
    sqrt(sum((ns - m) * (ns - m)) / max(count(*) - 1, 1)) / 1e3 AS stddev, avg(ns) / 1e3 AS "mean (us)",
    kernel_type
FROM ranked
GROUP BY kernel_type, name
ORDER BY kernel_type, name;

-- id: hta_idle_time_breakdown
-- doc: Gaps of streams by cause in us (HTA get_idle_time_breakdown).
SELECT rank, stream, category AS idle_category, idle_ns / 1e3 AS idle_time, idle_share AS idle_time_ratio
FROM idle_breakdown
ORDER BY rank, stream, category;

-- id: hta_idle_interval_stats
-- doc: Lengths of those gaps in us (HTA get_idle_time_breakdown).
SELECT category AS idle_category, rank, stream, count, mean_ns / 1e3 AS mean, stddev_ns / 1e3 AS std,
    min_ns / 1e3 AS min, q25_ns / 1e3 AS "25%", median_ns / 1e3 AS "50%", q75_ns / 1e3 AS "75%",
    max_ns / 1e3 AS max
FROM idle_breakdown
ORDER BY rank, stream, category;

-- id: hta_queue_length_summary
-- doc: Length of streams' queues (HTA get_queue_length_summary).
SELECT rank, stream, count, mean / 1 AS mean, stddev / 1 AS std, min / 1 AS min, q25 / 1 AS "25%",
    median / 1 AS "50%", q75 / 1 AS "75%", max / 1 AS max
FROM queue_length
ORDER BY rank, stream;

-- id: hta_memory_bw_summary
-- doc: Bandwidth of copies and sets in GB/s (HTA get_memory_bw_summary).
SELECT rank, CASE operation WHEN 'host-to-device' THEN 'Memcpy HtoD' WHEN 'device-to-host' THEN 'Memcpy DtoH'
    WHEN 'device-to-device' THEN 'Memcpy DtoD' WHEN 'peer-to-peer' THEN 'Memcpy PtoP'
    WHEN 'memset' THEN 'Memset' ELSE 'Memcpy Unknown' END AS name, count, mean / 1e9 AS mean,
    stddev / 1e9 AS std, min / 1e9 AS min, q25 / 1e9 AS "25%", median / 1e9 AS "50%", q75 / 1e9 AS "75%",
    max / 1e9 AS max
FROM memory_bandwidth
ORDER BY rank, name;

-- id: hta_cuda_kernel_launch_stats
-- doc: Launches one by one in us (HTA get_cuda_kernel_launch_stats).
WITH call AS MATERIALIZED (SELECT pid, correlation, start_ns, end_ns
  FROM api_call
  WHERE name IN ('cudaLaunchKernel', 'cudaLaunchKernelExC', 'cudaMemcpyAsync', 'cudaMemsetAsync')),
op AS (SELECT pid, correlation, start_ns, duration_ns
  FROM kernel
  UNION ALL
  SELECT pid, correlation, start_ns, duration_ns
  FROM memcpy
  UNION ALL
  SELECT pid, correlation, start_ns, duration_ns
  FROM memset),
step AS (SELECT max(end_ns) AS last, count(DISTINCT name) AS n FROM range WHERE name LIKE 'ProfilerStep#%')
SELECT c.correlation AS correlation, (c.end_ns - c.start_ns) / 1e3 AS cpu_duration,
    o.duration_ns / 1e3 AS gpu_duration, max(o.start_ns - c.end_ns, 0) / 1e3 AS launch_delay
FROM call AS c
JOIN op AS o USING (pid, correlation)
WHERE (SELECT n FROM step) < 2 OR c.start_ns <= (SELECT last FROM step)
ORDER BY c.start_ns;

-- id: hta_aten_op_kernels_and_delay
-- doc: Kernels of ATen operators in us (HTA get_aten_op_kernels_and_delay).
SELECT rank, operator AS aten_op_name, kernels AS kernel_sequence, occurrences AS occurrence_count,
    mean_launch_delay_ns / 1e3 AS avg_aten_op_launch_delay, mean_start_delay_ns / 1e3 AS avg_runtime_delay
FROM operator_sequence
ORDER BY rank, occurrences DESC, operator, kernels;

-- id: tb_execution_summary
-- doc: Time of steps in us by what went on (TensorBoard plugin, overview).
SELECT rank, step, kernel_ns / 1e3 AS Kernel, memcpy_ns / 1e3 AS Memcpy, memset_ns / 1e3 AS Memset,
    communication_ns / 1e3 AS Communication, runtime_ns / 1e3 AS Runtime, dataloader_ns / 1e3 AS DataLoader,
    cpu_ns / 1e3 AS CpuOp, other_ns / 1e3 AS Other, total_ns / 1e3 AS Total
FROM execution_summary
ORDER BY rank, start_ns;

-- id: tb_execution_average
-- doc: Mean of the steps of a rank in us (TensorBoard plugin, overview).
WITH mean AS (SELECT rank, avg(kernel_ns) AS kernel_ns, avg(memcpy_ns) AS memcpy_ns,
      avg(memset_ns) AS memset_ns, avg(communication_ns) AS communication_ns, avg(runtime_ns) AS runtime_ns,
      avg(dataloader_ns) AS dataloader_ns, avg(cpu_ns) AS cpu_ns, avg(other_ns) AS other_ns,
      avg(total_ns) AS total_ns
  FROM execution_summary
  GROUP BY rank)
SELECT rank, kernel_ns / 1e3 AS Kernel, memcpy_ns / 1e3 AS Memcpy, memset_ns / 1e3 AS Memset,
    communication_ns / 1e3 AS Communication, runtime_ns / 1e3 AS Runtime, dataloader_ns / 1e3 AS DataLoader,
    cpu_ns / 1e3 AS CpuOp, other_ns / 1e3 AS Other, total_ns / 1e3 AS Total
FROM mean
ORDER BY rank;

-- id: tb_gpu_summary
-- doc: How well GPUs are filled; occupancy in % (TensorBoard plugin, overview).
SELECT rank, device, gpu_utilization, est_sm_efficiency AS sm_efficiency,
    100 * est_achieved_occupancy AS achieved_occupancy
FROM gpu_summary
ORDER BY rank, device;

-- id: tb_operator
-- doc: Operators by name in us (TensorBoard plugin, operator view).
SELECT name, calls, host_total_ns / 1e3 AS host_duration, device_total_ns / 1e3 AS device_duration,
    host_self_ns / 1e3 AS self_host_duration, device_self_ns / 1e3 AS self_device_duration,
    tensor_core_eligible AS tc_eligible, coalesce(tensor_core_self_share, 0) AS tc_self_ratio,
    coalesce(tensor_core_total_share, 0) AS tc_total_ratio
FROM operator
ORDER BY self_device_duration DESC, self_host_duration DESC, name;

-- id: tb_operator_input
-- doc: Operators by name and input shapes in us (TensorBoard plugin, operator view).
SELECT name, input_shapes AS input_shape, calls, host_total_ns / 1e3 AS host_duration,
    device_total_ns / 1e3 AS device_duration, host_self_ns / 1e3 AS self_host_duration,
    device_self_ns / 1e3 AS self_device_duration, tensor_core_eligible AS tc_eligible,
    coalesce(tensor_core_self_share, 0) AS tc_self_ratio,
    coalesce(tensor_core_total_share, 0) AS tc_total_ratio
FROM operator_input
ORDER BY self_device_duration DESC, self_host_duration DESC, name;

-- id: tb_kernel
-- doc: Kernels by name in us; occupancy in % (TensorBoard plugin, kernel view).
SELECT kernel AS name, max(uses_tensor_cores) AS tc_used, sum(instances) AS count, sum(total_ns) / 1e3 AS sum,
    1.0 * sum(total_ns) / sum(instances) / 1e3 AS mean, max(max_ns) / 1e3 AS max, min(min_ns) / 1e3 AS min,
    coalesce(sum(mean_blocks_per_sm * total_ns) / sum(total_ns), 0) AS blocks_per_sm,
    coalesce(100 * sum(mean_occupancy * total_ns) / sum(total_ns), 0) AS occupancy
FROM kernel_name
GROUP BY kernel
ORDER BY sum DESC, name;

-- id: tb_kernel_operator
-- doc: Kernels by name, operator and shape in us (TensorBoard plugin, kernel view).
SELECT kernel AS name, operator AS op_name, grid, block, registers AS regs_per_thread,
    shared_bytes AS shared_memory, sum(calls) AS calls, sum(total_ns) / 1e3 AS total_duration,
    min(min_ns) / 1e3 AS min_duration, max(max_ns) / 1e3 AS max_duration,
    sum(mean_blocks_per_sm * total_ns) / sum(total_ns) AS blocks_per_sm,
    100 * sum(mean_occupancy * total_ns) / sum(total_ns) AS occupancy, max(uses_tensor_cores) AS tc_used,
    max(tensor_core_eligible) AS op_tc_eligible
FROM operator_kernel
GROUP BY kernel, operator, grid, block, registers, shared_bytes
ORDER BY total_duration DESC, name;

-- id: tb_memory
-- doc: Memory by device and operator in KB (TensorBoard plugin, memory view).
SELECT coalesce('GPU' || device, 'CPU') AS device, name, calls, increase_bytes / 1024.0 AS size_increase,
    self_increase_bytes / 1024.0 AS self_size_increase, allocations AS allocation_count,
    self_allocations AS self_allocation_count, allocated_bytes / 1024.0 AS allocation_size,
    self_allocated_bytes / 1024.0 AS self_allocation_size
FROM memory_operator
ORDER BY device, name;

-- id: tb_memory_curve
-- doc: Memory over time in ms and KB (TensorBoard plugin, memory view).
SELECT coalesce('GPU' || device, 'CPU') AS device, start_ns / 1e6 AS time,
    allocated_bytes / 1024.0 AS allocated, reserved_bytes / 1024.0 AS reserved
FROM memory_event
WHERE allocated_bytes IS NOT NULL
ORDER BY memory_event.device, start_ns;
