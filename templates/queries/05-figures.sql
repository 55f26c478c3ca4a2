-- SPDX-License-Identifier: Apache-2.0
-- Of the GPU that sets the pace, as the ledger of the headline; where that is not known of the one whose window
-- (step) is longest, of several alike of the one that computes most, so that a GPU that was only lent to the process
-- does not make the loss.
-- id: lost_per_step
-- title: Lost per Step
-- unit: ns
-- relation: time_ledger
-- column: ns_per_step
-- unknown: no iterations were detected
SELECT lost
FROM (SELECT rank, device, sum(ns_per_step) AS total,
      sum(CASE WHEN bucket LIKE 'compute/%' THEN 0 ELSE ns_per_step END) AS lost
  FROM time_ledger
  GROUP BY rank, device)
WHERE total IS NOT NULL
ORDER BY (rank, device) IN (SELECT rank, device FROM pacing_gpu) DESC, total DESC, lost, rank, device
LIMIT 1;

-- id: step_time
-- title: Step Time
-- unit: ns
-- relation: time_ledger
-- column: ns_per_step
-- unknown: no iterations were detected
SELECT total
FROM (SELECT rank, device, sum(ns_per_step) AS total,
      sum(CASE WHEN bucket LIKE 'compute/%' THEN 0 ELSE ns_per_step END) AS lost
  FROM time_ledger
  GROUP BY rank, device
  UNION ALL
  SELECT 0, 0, step_ns, 0
  FROM run
  WHERE gpus = 0 AND step_source = 'ranges')
WHERE total IS NOT NULL
ORDER BY (rank, device) IN (SELECT rank, device FROM pacing_gpu) DESC, total DESC, lost, rank, device
LIMIT 1;

-- id: lost_in_window
-- title: Lost in the Analysed Time
-- unit: ns
-- relation: time_ledger
-- column: ns
-- unknown: no GPU work was recorded
SELECT lost
FROM (SELECT rank, device, sum(ns) AS total, sum(CASE WHEN bucket LIKE 'compute/%' THEN 0 ELSE ns END) AS lost
  FROM time_ledger
  GROUP BY rank, device)
WHERE total IS NOT NULL
ORDER BY (rank, device) IN (SELECT rank, device FROM pacing_gpu) DESC, total DESC, lost, rank, device
LIMIT 1;

-- id: window
-- title: Analysed Time
-- unit: ns
-- relation: time_ledger
-- column: ns
-- unknown: no GPU work was recorded
SELECT total
FROM (SELECT rank, device, sum(ns) AS total, sum(CASE WHEN bucket LIKE 'compute/%' THEN 0 ELSE ns END) AS lost
  FROM time_ledger
  GROUP BY rank, device)
WHERE total IS NOT NULL
ORDER BY (rank, device) IN (SELECT rank, device FROM pacing_gpu) DESC, total DESC, lost, rank, device
LIMIT 1;

-- id: wall_clock_time
-- title: Wall Clock Time
-- unit: ns
-- relation: run
-- column: wall_ns
-- unknown: nothing was recorded
SELECT nullif(coalesce(program_ns, wall_ns), 0) FROM run;

-- id: gpu_span
-- title: Span of Calls and GPU Work
-- unit: ns
-- relation: run
-- column: gpu_span_ns
-- unknown: it is about the wall clock time, or the profile does not say how long the program ran
-- empty: hidden
SELECT iif(1.25 * gpu_span_ns < program_ns, nullif(gpu_span_ns, 0), NULL) FROM run;

-- id: tensor_core_efficiency
-- title: Tensor Core Kernel Efficiency
-- unit: ratio
-- relation: run
-- column: tensor_core_efficiency
-- unknown: no kernel ran in an op that is eligible for tensor cores
SELECT tensor_core_efficiency FROM run;

-- id: gpu_utilization
-- title: GPU Utilization
-- unit: ratio
-- relation: run
-- column: gpu_utilization
-- unknown: no GPU work was recorded
SELECT gpu_utilization FROM run;

-- id: total_iterations
-- title: Total Iterations
-- unit: count
-- relation: step
-- column: step
-- unknown: no iterations were detected
SELECT coalesce(nullif(count(*), 0), (SELECT iterations FROM training))
FROM step
WHERE rank = (SELECT min(rank) FROM step);

-- id: profiled_iterations
-- title: Profiled Iterations
-- unit: count
-- relation: run
-- column: steps
-- unknown: no iterations were detected
SELECT nullif(steps, 0) FROM run;

-- id: start_iteration
-- title: Start Iteration
-- relation: run
-- column: first_step
-- unknown: no iterations were detected
SELECT first_step FROM run;

-- id: stop_iteration
-- title: Stop Iteration
-- relation: run
-- column: last_step
-- unknown: no iterations were detected
SELECT last_step FROM run;

-- id: average_iteration_time
-- title: Average Iteration Time
-- unit: ns
-- relation: run
-- column: step_ns
-- unknown: no iterations were detected
SELECT step_ns FROM run;

-- id: total_kernel_time
-- title: Total Kernel GPU Time
-- unit: ns
-- relation: run
-- column: kernel_ns
-- unknown: no kernel was recorded
SELECT nullif(kernel_ns, 0) FROM run;

-- id: eligible_ops
-- title: Ops Eligible for Tensor Cores
-- unit: count
-- relation: run
-- column: eligible_ops
-- unknown: no op was recorded
SELECT eligible_ops FROM run;

-- id: memory_used_share
-- title: GPU Memory Used
-- unit: ratio
-- relation: run
-- column: memory_used_share
-- unknown: the profile does not say how much GPU memory was used
SELECT memory_used_share FROM run;

-- Of one rank alone nothing is compared, though it may have several GPUs.
-- id: ranks
-- title: Ranks
-- unit: count
-- relation: run
-- column: ranks
-- unknown: nothing was recorded
SELECT ranks FROM run;

-- id: gpus
-- title: GPUs with Work
-- unit: count
-- relation: run
-- column: gpus
-- unknown: nothing was recorded
SELECT gpus FROM run;

-- id: gpu_operations
-- title: GPU Operations
-- unit: count
-- relation: profile
-- column: kernels
-- unknown: no profile was read
SELECT sum(kernels + copies + sets + graph_launches) FROM profile;

-- id: step_source
-- title: Iterations Found From
-- unit: text
-- relation: run
-- column: step_source
-- unknown: no iterations were detected
SELECT step_source FROM run;

-- id: step_pattern
-- title: Iteration Range
-- unit: text
-- relation: run
-- column: step_pattern
-- unknown: no range marks iterations
SELECT step_pattern FROM run;

-- Profiles of one machine show the same GPUs; those in containers of one GPU each show too few.
-- id: gpu_count
-- title: GPU Count
-- unit: count
-- relation: system
-- column: gpu_count
-- unknown: the profile does not say
SELECT max(sum(of_host), (SELECT gpus FROM run))
FROM (SELECT max(gpu_count) AS of_host FROM system GROUP BY host);

-- What the systems of all profiles have, each once; of many the first four and how many more there are.
-- id: gpu_names
-- title: GPU Name(s)
-- unit: text
-- relation: system
-- column: gpu_names
-- unknown: the profile does not say
SELECT group_concat(gpu_names, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '')
FROM (SELECT gpu_names, count(*) OVER () AS total
  FROM system
  WHERE gpu_names IS NOT NULL
  GROUP BY gpu_names
  ORDER BY min(profile)
  LIMIT 4);

-- id: undeclared_gpus
-- title: GPUs of Unknown Peaks
-- unit: text
-- relation: gpu
-- column: name
-- unknown: there is none
SELECT group_concat(DISTINCT coalesce(name, 'without a name'))
FROM gpu
WHERE kernels > 0 AND (rank, device) NOT IN (SELECT rank, device FROM gpu_peak);

-- id: cpu_model
-- title: CPU Model
-- unit: text
-- relation: system
-- column: cpu_model
-- unknown: the profile does not say
SELECT group_concat(cpu_model, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '')
FROM (SELECT cpu_model, count(*) OVER () AS total
  FROM system
  WHERE cpu_model IS NOT NULL
  GROUP BY cpu_model
  ORDER BY min(profile)
  LIMIT 4);

-- id: driver_version
-- title: GPU Driver Version
-- unit: text
-- relation: system
-- column: driver_version
-- unknown: the profile does not say
SELECT group_concat(driver_version, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '')
FROM (SELECT driver_version, count(*) OVER () AS total
  FROM system
  WHERE driver_version IS NOT NULL
  GROUP BY driver_version
  ORDER BY min(profile)
  LIMIT 4);

-- id: framework
-- title: Framework
-- unit: text
-- relation: system
-- column: framework
-- unknown: the profile does not say
SELECT group_concat(framework, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '')
FROM (SELECT coalesce(framework, framework_name) AS framework, count(*) OVER () AS total
  FROM system
  WHERE coalesce(framework, framework_name) IS NOT NULL
  GROUP BY 1
  ORDER BY min(profile)
  LIMIT 4);

-- id: cuda_version
-- title: CUDA Version
-- unit: text
-- relation: system
-- column: cuda_version
-- unknown: the profile does not say
SELECT group_concat(cuda_version, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '')
FROM (SELECT cuda_version, count(*) OVER () AS total
  FROM system
  WHERE cuda_version IS NOT NULL
  GROUP BY cuda_version
  ORDER BY min(profile)
  LIMIT 4);

-- id: profiler
-- title: Profiler
-- unit: text
-- relation: system
-- column: profiler
-- unknown: the profile does not say
SELECT group_concat(profiler, '; ') || iif(max(total) > 4, '; and ' || (max(total) - 4) || ' more', '')
FROM (SELECT profiler, count(*) OVER () AS total
  FROM system
  WHERE profiler IS NOT NULL
  GROUP BY profiler
  ORDER BY min(profile)
  LIMIT 4);

-- Of samples in which next to no kernel ran.
-- id: idle_power
-- title: Idle Power per GPU
-- unit: watts
-- relation: telemetry_series
-- column: power_w
-- unknown: no log of power was given, or no GPU was idle in it
SELECT avg(power_w) FROM telemetry_series WHERE gpu_utilization < 0.05;

-- id: mean_power
-- title: Mean Power per GPU
-- unit: watts
-- relation: telemetry
-- column: mean
-- unknown: no log of power was given
SELECT avg(mean) FROM telemetry WHERE metric = 'power_w';
