-- SPDX-License-Identifier: Apache-2.0
-- id: kernels_by_iteration
-- title: Kernels by Iteration
-- view: Kernels by Iteration
-- note: What each iteration ran.
-- relation: step
SELECT rank, step, warmup, kernels, kernel_ns, ratio(kernel_ns, kernels) AS avg_ns, tensor_core_ns,
    ratio(tensor_core_ns, kernel_ns) AS tensor_core_share
FROM step
ORDER BY rank NOT IN (SELECT rank FROM pacing_gpu), rank, step;

-- id: iterations
-- title: Iterations
-- view: Iterations
-- drawn: iteration bars
-- note: Warm-up iterations are outside the analysed time.
-- relation: step
SELECT rank, step, warmup, duration_ns, busy_ns, idle_ns,
    ratio(kernel_busy_ns, duration_ns) AS gpu_utilization, copies, syncs, start_ns, end_ns
FROM step
ORDER BY rank NOT IN (SELECT rank FROM pacing_gpu), rank, step;

-- Each iteration alone, or where there are more than 160 the means of neighbours.
-- id: iteration_chart
-- title: Duration of the Iterations
-- note: Of one rank, in a job the one that sets the pace; where there are more than 160, means of neighbours.
-- relation: step
-- empty: hidden
WITH numbered AS (SELECT step AS iteration, duration_ns AS ns, warmup,
      row_number() OVER (ORDER BY step) - 1 AS n, count(*) OVER () AS total
  FROM step
  WHERE rank = (SELECT rank FROM step ORDER BY rank NOT IN (SELECT rank FROM pacing_gpu), rank LIMIT 1)),
placed AS (SELECT ns, warmup, n / ((total + 159) / 160) AS bar, first_value(iteration) OVER w AS first,
      last_value(iteration) OVER w AS last
  FROM numbered
  WINDOW w AS (PARTITION BY n / ((total + 159) / 160) ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING
      AND UNBOUNDED FOLLOWING))
SELECT first, last, count(*) AS iterations, avg(ns) AS mean_ns, max(ns) AS slowest_ns, min(warmup) AS warmup
FROM placed
GROUP BY bar
ORDER BY bar;
