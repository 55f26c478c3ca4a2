-- SPDX-License-Identifier: Apache-2.0
-- id: gpus
-- title: GPUs
-- view: GPUs
-- note: One row per rank and device with GPU work.
-- relation: gpu
SELECT rank, device, name, gpu_utilization, tensor_core_efficiency, kernels, kernel_ns, window_ns, busy_ns,
    idle_ns, idle_share, idle_starved_ns, tensor_core_ns, tensor_core_unknown_ns, eligible_ns,
    communication_ns, sm_count, compute_capability, memory_bytes
FROM gpu
ORDER BY (rank, device) NOT IN (SELECT rank, device FROM pacing_gpu), rank, device;

-- id: telemetry
-- title: Telemetry
-- view: GPUs
-- note: From nvidia-smi; clocks are means over the time in which the GPU was busy.
-- relation: telemetry
-- empty: hidden
SELECT profile, device, max(samples) AS samples,
    max(CASE WHEN metric = 'gpu_utilization' THEN mean END) AS gpu_utilization,
    max(CASE WHEN metric = 'memory_used_bytes' THEN max END) AS peak_memory_bytes,
    max(CASE WHEN metric = 'memory_total_bytes' THEN max END) AS total_memory_bytes,
    max(CASE WHEN metric = 'power_w' THEN mean END) AS mean_power,
    max(CASE WHEN metric = 'power_w' THEN limit_value END) AS power_limit,
    max(CASE WHEN metric = 'temperature_c' THEN max END) AS highest_temperature,
    max(CASE WHEN metric = 'sm_clock_hz' THEN busy_mean END) AS mean_sm_clock
FROM telemetry
GROUP BY profile, device
ORDER BY profile, device;

-- id: telemetry_busy
-- title: Telemetry of All GPUs
-- note: Mean over the GPUs whose utilization is known for more than half of the samples; at work, from each one's first busy sample to its last, where all have some. The share of multiprocessors at work is of DCGM.
-- relation: telemetry
-- empty: hidden
SELECT count(*) AS gpus, avg(busy) AS busy_share, CASE WHEN count(at_work) = count(busy) THEN avg(at_work) END AS busy_share_at_work,
    avg(multiprocessors) AS multiprocessors
FROM (SELECT max(CASE WHEN metric = 'gpu_utilization' AND coalesce(still_samples < samples, 1) THEN mean END) AS busy,
    max(CASE WHEN metric = 'gpu_utilization' AND coalesce(still_samples < samples, 1) THEN active_mean END) AS at_work,
    max(CASE WHEN metric = 'sm_active' THEN coalesce(active_mean, mean) END) AS multiprocessors
  FROM telemetry
  GROUP BY profile, device)
HAVING count(*) > 0;

-- id: telemetry_chart
-- title: Telemetry over Time
-- note: Means of up to 160 parts of the log's time; of the memory, the temperature and throttling the most. The first 12 GPUs.
-- relation: telemetry_series
-- empty: hidden
-- max_rows: 2000
WITH placed AS (SELECT *, coalesce(start_ns, sample) AS at, dense_rank() OVER (ORDER BY profile, device) AS gpu FROM telemetry_series),
spans AS (SELECT profile, min(at) AS first, max(at) AS last FROM placed GROUP BY profile),
parts AS (SELECT p.*, CAST((p.at - s.first) * 160 / (s.last - s.first + 1) AS INTEGER) AS part FROM placed AS p JOIN spans AS s ON s.profile = p.profile)
SELECT profile, device, min(at) AS start_ns, max(at) AS end_ns, max(start_ns IS NOT NULL) AS timed,
    avg(gpu_utilization) AS gpu_utilization, avg(power_w) AS power_w, avg(sm_clock_hz) AS sm_clock_hz,
    max(temperature_c) AS temperature_c, max(memory_used_bytes) AS memory_used_bytes,
    max(throttled_by_heat) AS throttled_by_heat
FROM parts
WHERE gpu <= 12
GROUP BY profile, device, part
ORDER BY profile, device, part;

-- id: launches
-- title: Launches
-- view: GPUs
-- note: How the host fed the GPU.
-- relation: launch
SELECT rank, device, launches, graph_launches, avg_api_ns, median_queue_delay_ns, tiny_kernels, tiny_share,
    min_latency_ns
FROM launch
ORDER BY (rank, device) NOT IN (SELECT rank, device FROM pacing_gpu), rank, device;

-- id: gpu_metrics
-- title: GPU Metrics
-- view: GPUs
-- note: Sampled hardware counters.
-- relation: gpu_metric
SELECT profile, device, metric, samples, avg, min, max FROM gpu_metric ORDER BY profile, device, metric;
