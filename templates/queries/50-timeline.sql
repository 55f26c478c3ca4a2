-- SPDX-License-Identifier: Apache-2.0
-- The step of median length; of a job the worst one (of jitter, where both have its picture, else the longest) on the GPU
-- that sets the pace (pacing_gpu), over a typical one: that of jitter, else the one in the middle by time of its own.
-- id: timeline
-- title: Timeline
-- view: Timeline Boxes
-- note: What ran in one steady step; what is too short to be drawn is shown as one of the events there.
-- relation: typical_step
-- empty: hidden
-- max_rows: 6000
WITH picture AS MATERIALIZED (SELECT DISTINCT rank, device, step, step_start_ns, step_ns FROM typical_step),
job AS (SELECT count(DISTINCT rank) > 1 AS several FROM picture),
placed AS MATERIALIZED (SELECT t.rank, t.device,
    row_number() OVER (ORDER BY p.rank IS NULL, r.own_ns DESC, t.longest_ns DESC, t.rank, t.device) AS place,
    count(*) OVER () AS gpus
  FROM (SELECT rank, device, max(step_ns) AS longest_ns FROM picture GROUP BY rank, device) t
    LEFT JOIN rank r USING (rank, device) LEFT JOIN pacing_gpu p USING (rank, device)),
drawn AS MATERIALIZED (SELECT rank, device, place
  FROM placed
  ORDER BY place > 1, (rank, device) NOT IN (SELECT typical_rank, typical_device FROM jitter WHERE cohort = 0 AND peers > 2),
      abs(place - gpus / 2 - 1)
  LIMIT 2),
worst AS MATERIALIZED (SELECT step
  FROM picture JOIN drawn USING (rank, device)
  GROUP BY step
  ORDER BY count(*) DESC, step IS (SELECT worst_step FROM jitter WHERE cohort = 0) DESC, max(step_ns) DESC
  LIMIT 1),
chosen AS MATERIALIZED (SELECT rank, device, step_start_ns, place,
    row_number() OVER (PARTITION BY rank, device
      ORDER BY several AND step IS (SELECT step FROM worst) DESC, iif(several, -step_ns, step_ns)) AS n
  FROM picture JOIN drawn USING (rank, device), job)
SELECT t.rank, t.device, t.lane, t.lane_name, t.start_ns - t.step_start_ns AS into_step_ns, t.duration_ns, t.busy_ns,
    t.name, t.bucket, t.step, t.step_start_ns, t.step_ns
FROM chosen JOIN typical_step t USING (rank, device, step_start_ns)
WHERE n = 1
ORDER BY place, lane, t.start_ns;
