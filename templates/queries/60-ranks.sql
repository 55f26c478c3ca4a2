-- SPDX-License-Identifier: Apache-2.0
-- id: headline_ledger
-- title: Time Ledger of the Headline
-- note: Of the GPU that the headline speaks of: the one that sets the pace (pacing_gpu).
-- relation: time_ledger
-- empty: hidden
SELECT rank, device, bucket, ns, ns_per_step, share
FROM time_ledger
WHERE (rank, device) = (SELECT rank, device
  FROM (SELECT 0 AS n, rank, device FROM pacing_gpu UNION ALL SELECT 1, rank, device FROM time_ledger)
  ORDER BY n, rank, device
  LIMIT 1)
ORDER BY ns DESC, bucket;

-- As the timeline has it beside the culprit (50-timeline.sql): the typical one of jitter, else the one in the middle by
-- time of its own.
-- id: typical_ledger
-- title: Time Ledger of a Typical GPU
-- note: Of a GPU in the middle by time of its own.
-- relation: time_ledger
-- empty: hidden
WITH placed AS (SELECT t.rank, t.device, row_number() OVER (ORDER BY p.rank IS NULL, r.own_ns DESC, t.rank, t.device) AS place,
    count(*) OVER () AS gpus
  FROM (SELECT DISTINCT rank, device FROM time_ledger) t LEFT JOIN rank r USING (rank, device)
    LEFT JOIN pacing_gpu p USING (rank, device))
SELECT rank, device, bucket, ns, ns_per_step, share
FROM time_ledger
WHERE (rank, device) = (SELECT rank, device
  FROM placed
  WHERE place > 1
  ORDER BY (rank, device) NOT IN (SELECT typical_rank, typical_device FROM jitter WHERE cohort = 0 AND peers > 2),
      abs(place - gpus / 2 - 1)
  LIMIT 1)
ORDER BY ns DESC, bucket;

-- id: exposed_waiting
-- title: Waiting in Collectives
-- note: Of the communication that nothing hides the part in which a GPU waits for others, per step where there are steps.
-- relation: collective_wait
-- empty: hidden
-- max_rows: 4096
SELECT rank, device, sum(exposed_waiting_ns) AS waiting_ns
FROM collective_wait
GROUP BY rank, device
ORDER BY rank, device;

-- id: profiles_to_open
-- title: Profiles to Open
-- note: The slowest, a typical and the fastest GPU of the worst step, and when that step runs on the clock of its
--   profile.
-- relation: jitter
-- empty: hidden
WITH pace AS (SELECT 0 AS n, 'slowest' AS pace, max_rank AS rank, max_device AS device, worst_step AS step
  FROM jitter
  WHERE cohort = 0
  UNION ALL
  SELECT 1, 'typical', typical_rank, typical_device, worst_step
  FROM jitter
  WHERE cohort = 0 AND peers > 2
  UNION ALL
  SELECT 2, 'fastest', min_rank, min_device, worst_step
  FROM jitter
  WHERE cohort = 0)
SELECT pace, p.rank AS rank, p.device AS device, node, p.step AS step, start_ns / 1e9 AS start_s,
    end_ns / 1e9 AS end_s, excess_ns, path
FROM pace AS p
LEFT JOIN (SELECT rank, device, profile, node FROM rank) AS r ON r.rank = p.rank AND r.device = p.device
LEFT JOIN (SELECT profile, path FROM profile) AS f ON f.profile = r.profile
LEFT JOIN (SELECT rank, step, start_ns, end_ns FROM step) AS s ON s.rank = p.rank AND s.step = p.step
LEFT JOIN (SELECT rank, device, step, excess_ns FROM rank_step) AS o ON o.rank = p.rank
    AND o.device = p.device AND o.step = p.step
WHERE (SELECT count(*) FROM profile) > 1
ORDER BY n;

-- Of one rank alone nothing is compared, though it may have several GPUs.
-- id: ranks
-- title: Ranks
-- view: Ranks
-- drawn: rank plots
-- note: Means of a step, most behind first. Local time is without collectives and waiting for them; excess
--   is that minus the mean of the GPUs that run the same kernels.
-- relation: rank
-- empty: hidden
SELECT rank, device, node, host, steps, own_ns, excess_ns, kernel_ns, gap_ns, start_gap_ns, waiting_ns,
    not_compared
FROM rank
WHERE (SELECT count(DISTINCT rank) FROM rank) > 1
ORDER BY excess_ns DESC, rank, device;

-- id: ranks_not_compared
-- title: Ranks Not Compared
-- note: Why, and the first of them.
-- relation: rank
-- empty: hidden
WITH left_out AS (SELECT not_compared, rank,
      row_number() OVER (PARTITION BY not_compared ORDER BY rank, device) AS n
  FROM rank
  WHERE not_compared IS NOT NULL)
SELECT not_compared, count(*) AS gpus, min(count(*), 8) AS listed,
    group_concat(CASE WHEN n <= 8 THEN rank END, ', ') AS first_ranks
FROM left_out
WHERE (SELECT count(DISTINCT rank) FROM rank) > 1
GROUP BY not_compared
ORDER BY not_compared;

-- The heat map has room for 1,400 cells in 50 columns. Of several GPUs or steps in a cell the one that is farthest
-- from the mean is shown; GPUs are put together by whole nodes of 8 where they are that many.
-- The rows are many, the places few: CROSS JOIN has SQLite look up the places of each row.
-- id: rank_steps
-- title: Ranks by Step
-- note: Local time minus its mean over the GPUs of the step. Where GPUs or steps share a cell it is that of the one
--   farthest from the mean.
-- relation: rank_step
-- empty: hidden
-- max_rows: 1500
WITH gpu_number AS MATERIALIZED (SELECT rank, device, row_number() OVER (ORDER BY rank, device) - 1 AS n,
      count(*) OVER () AS total
  FROM (SELECT DISTINCT rank, device FROM rank_step)),
step_number AS MATERIALIZED (SELECT step, row_number() OVER (ORDER BY step) - 1 AS n,
      count(*) OVER () AS total, (count(*) OVER () + 50 - 1) / 50 AS size
  FROM (SELECT DISTINCT step FROM rank_step)),
space AS (SELECT 1400 / ((max(total) + max(size) - 1) / max(size)) AS most FROM step_number),
line AS (SELECT rank, device, n, (total + most - 1) / most AS size FROM gpu_number, space),
gpu_line AS MATERIALIZED (SELECT rank, device, n / CASE WHEN size > 8 THEN (size + 7) / 8 * 8
    ELSE size END AS line FROM line),
gpu_place AS MATERIALIZED (SELECT rank, device, line, min(rank) OVER w AS first_rank,
      max(rank) OVER w AS last_rank
  FROM gpu_line
  WINDOW w AS (PARTITION BY line)),
step_place AS MATERIALIZED (SELECT step, n / size AS place, min(step) OVER w AS first_step,
      max(step) OVER w AS last_step
  FROM step_number
  WINDOW w AS (PARTITION BY n / size))
SELECT g.line AS line, s.place AS place, first_rank, last_rank, first_step, last_step,
    max(abs(r.excess_ns)) AS distance_ns, r.excess_ns AS excess_ns, r.rank AS rank, r.device AS device,
    r.step AS step
FROM rank_step AS r
CROSS JOIN gpu_place AS g ON g.rank = r.rank AND g.device = r.device
CROSS JOIN step_place AS s ON s.step = r.step
WHERE (SELECT count(DISTINCT rank) FROM rank) > 1
GROUP BY g.line, s.place
ORDER BY g.line, s.place;

-- At enough positions to draw them: all, or of each of 300 equal parts the two that are farthest apart.
-- id: divergence
-- title: Divergence
-- note: The slowest and the fastest GPU of the worst step, kernel by kernel, against the mean.
-- relation: divergence
-- empty: hidden
-- max_rows: 3000
WITH drawn AS MATERIALIZED (SELECT d.rank AS rank, d.device AS device, d.step AS step, d.position AS position,
      d.kernel AS kernel, d.duration_excess_ns AS duration_excess_ns, d.gap_excess_ns AS gap_excess_ns,
      d.end_excess_ns AS end_excess_ns, d.delay_ns AS delay_ns, d.position * 300 / j.kernels_per_step AS part,
      j.kernels_per_step <= 1000 AS whole
  FROM divergence AS d
  JOIN jitter AS j ON j.cohort = 0 AND d.step = j.worst_step
      AND ((d.rank = j.max_rank AND d.device = j.max_device)
      OR (d.rank = j.min_rank AND d.device = j.min_device))),
extreme AS (SELECT *, min(end_excess_ns) OVER w AS least, max(end_excess_ns) OVER w AS most
  FROM drawn
  WINDOW w AS (PARTITION BY rank, device, part))
SELECT rank, device, step, position, kernel, duration_excess_ns, gap_excess_ns, end_excess_ns, delay_ns
FROM extreme
WHERE (whole OR end_excess_ns IN (least, most)) AND (SELECT count(DISTINCT rank) FROM rank) > 1
ORDER BY rank <> (SELECT max_rank FROM jitter WHERE cohort = 0), rank, device, position;

-- id: collective_groups
-- title: Collectives by Group
-- view: Ranks
-- note: Of a step. Transfer begins when the last rank has come; before that they wait.
-- relation: collective_group
-- empty: hidden
SELECT collective, ranks, size, node, steps, calls_per_step, transfer_ns, waiting_ns, median_ns, bytes,
    bus_bandwidth, last_rank, last_steps, last_probability, excess_ns, slowest_steps, probability
FROM collective_group
WHERE (SELECT count(DISTINCT rank) FROM rank) > 1
ORDER BY transfer_ns + waiting_ns DESC, collective, stream, ranks;

-- id: collective_waits
-- title: Waiting by Rank
-- view: Ranks
-- note: Of a step, longest exposed waiting first. Exposed is without computation beside it.
-- relation: collective_wait
-- empty: hidden
SELECT rank, device, collective, calls_per_step, transfer_ns, waiting_ns, exposed_transfer_ns,
    exposed_waiting_ns
FROM collective_wait
WHERE (SELECT count(DISTINCT rank) FROM rank) > 1
ORDER BY exposed_waiting_ns DESC, rank, device, collective;

-- id: clocks
-- title: Clocks
-- view: Ranks
-- note: Those that are more than 1 ms off, or that no collective aligns.
-- relation: clock
-- empty: hidden
SELECT rank, device, node, offset_ns, uncertainty_ns, skew_ns, drift_ppm, collectives
FROM clock
WHERE (abs(skew_ns) > 1000000 OR uncertainty_ns IS NULL) AND (SELECT count(DISTINCT rank) FROM rank) > 1
ORDER BY abs(skew_ns) DESC, rank, device;

-- id: jitter
-- title: Jitter
-- view: Ranks
-- note: How far the slowest GPU of a step is behind the mean of the others, by cohort: GPUs that run the same kernels.
-- relation: jitter
-- empty: hidden
SELECT cohort, peers, steps, kernels_per_step, magnitude_ns, magnitude_share, worst_step, worst_ns, max_rank,
    max_device, (SELECT r.node FROM rank AS r WHERE r.rank = max_rank AND r.device = max_device) AS max_node,
    min_rank, min_device, typical_rank, typical_device, kernel_excess_ns, gap_excess_ns, start_excess_ns,
    (SELECT s.first_position
  FROM straggler AS s
  WHERE s.rank = max_rank AND s.device = max_device AND worst_step BETWEEN s.first_step AND s.last_step
      AND s.probability <= 0.01) AS first_position
FROM jitter
WHERE (SELECT count(DISTINCT rank) FROM rank) > 1
ORDER BY cohort;
