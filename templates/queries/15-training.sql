-- SPDX-License-Identifier: Apache-2.0
-- id: training
-- title: Training Log
-- view: Training Log
-- note: What the training printed; times are of iterations after warm-up.
-- relation: training
-- empty: hidden
SELECT * FROM training ORDER BY profile;

-- id: training_timers
-- title: Timers of the Training Log
-- view: Training Log
-- note: Mean of an iteration after warm-up. Timers may hold others.
-- relation: training_timer
-- empty: hidden
SELECT t.profile, t.timer, t.kind, avg(t.ns) AS mean_ns, avg(t.min_ns) AS least_rank_ns,
    avg(t.max_ns) AS most_rank_ns,
    ratio(sum(t.share * l.elapsed_ns * l.covers), sum(iif(t.share IS NOT NULL, l.elapsed_ns * l.covers, NULL))) AS share
FROM training_timer AS t
JOIN (SELECT profile, attempt, iteration, min(elapsed_ns) AS elapsed_ns, min(coalesce(covers, 1)) AS covers
    FROM training_log WHERE NOT warmup GROUP BY profile, attempt, iteration) AS l
  ON l.profile = t.profile AND l.attempt = t.attempt AND l.iteration = t.iteration
GROUP BY t.profile, t.timer, t.kind
ORDER BY t.profile, share DESC, t.timer;

-- id: training_iterations
-- title: Lines of the Training Log
-- view: Training Log
-- note: Each is a mean over the iterations that it covers.
-- relation: training_log
-- empty: hidden
SELECT profile, attempt, iteration, covers, elapsed_ns, excess_ns, warmup, slow, cause, grown_timer,
    samples_per_second, tokens_per_second, tflops_per_gpu, loss, loss_scale, grad_norm, learning_rate,
    skipped, nan
FROM training_log
ORDER BY profile, attempt, iteration;

-- id: training_chart
-- title: Duration of the Iterations
-- note: Of the first log; where there are more than 160 lines, means of neighbours.
-- relation: training_log
-- empty: hidden
WITH numbered AS (SELECT iteration AS iteration, elapsed_ns AS ns, warmup, slow AND NOT warmup AS slow, cause,
      samples_per_second, tokens_per_second, tflops_per_gpu, loss_scale,
      row_number() OVER (ORDER BY attempt, iteration) - 1 AS n, count(*) OVER () AS total
  FROM training_log
  WHERE profile = (SELECT min(profile) FROM training_log)),
placed AS (SELECT *, n / ((total + 159) / 160) AS bar, first_value(iteration) OVER w AS first,
      last_value(iteration) OVER w AS last
  FROM numbered
  WINDOW w AS (PARTITION BY n / ((total + 159) / 160) ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING
      AND UNBOUNDED FOLLOWING))
SELECT first, last, count(*) AS iterations, avg(ns) AS mean_ns, max(ns) AS slowest_ns, min(warmup) AS warmup,
    avg(slow) AS slow, max(CASE WHEN slow THEN cause END) AS cause, avg(samples_per_second) AS samples_per_second,
    avg(tokens_per_second) AS tokens_per_second, avg(tflops_per_gpu) AS tflops_per_gpu, min(loss_scale) AS loss_scale
FROM placed
GROUP BY bar
ORDER BY bar;

-- id: slow_line_causes
-- title: Causes of Slow Lines
-- note: After warm-up, in order of appearance.
-- relation: training_log
-- empty: hidden
SELECT cause, count(*) AS lines
FROM (SELECT cause, row_number() OVER (ORDER BY profile, attempt, iteration) AS n
  FROM training_log
  WHERE cause IS NOT NULL AND NOT warmup)
GROUP BY cause
ORDER BY min(n);

-- id: training_memory_peaks
-- title: Peaks of the Training's Memory
-- note: Over all ranks.
-- relation: training_memory
-- empty: hidden
SELECT count(*) AS ranks, coalesce(min(max_allocated_bytes), min(max_reserved_bytes)) AS least_bytes,
    coalesce(max(max_allocated_bytes), max(max_reserved_bytes)) AS most_bytes,
    max(max_allocated_bytes) IS NULL AS reserved, max(device_bytes) AS device_bytes
FROM training_memory
HAVING count(*) > 0;

-- id: training_memory
-- title: Memory of the Training's Ranks
-- view: Training Log
-- note: PyTorch's allocator, by the last line of the log.
-- relation: training_memory
-- empty: hidden
SELECT profile, rank, iteration, max_allocated_bytes, max_reserved_bytes, device_bytes, used_share
FROM training_memory
ORDER BY profile, rank;

-- id: training_settings
-- title: Arguments of the Training
-- view: Training Log
-- relation: training_setting
-- empty: hidden
SELECT profile, name, value FROM training_setting ORDER BY profile, name;
