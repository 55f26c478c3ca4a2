-- SPDX-License-Identifier: Apache-2.0
-- Of a job the GPU that sets the pace (pacing_gpu), over the one in the middle by time of its own.
-- id: timeline
-- title: Timeline
-- view: Timeline Boxes
-- note: What ran in one steady step; what is too short to be drawn is shown as one of the events there.
-- relation: typical_step
-- empty: hidden
-- max_rows: 6000
WITH drawn AS MATERIALIZED (SELECT t.rank, t.device,
    row_number() OVER (ORDER BY p.rank IS NULL, r.own_ns DESC, t.step_ns DESC, t.rank, t.device) AS place,
    count(*) OVER () AS gpus
  FROM (SELECT DISTINCT rank, device, step_ns FROM typical_step) t LEFT JOIN rank r USING (rank, device)
    LEFT JOIN pacing_gpu p USING (rank, device))
SELECT t.rank, t.device, t.lane, t.lane_name, t.start_ns - t.step_start_ns AS into_step_ns, t.duration_ns, t.busy_ns,
    t.name, t.bucket, t.step, t.step_start_ns, t.step_ns
FROM drawn JOIN typical_step t USING (rank, device)
WHERE place = 1 OR place = gpus / 2 + 1
ORDER BY place, lane, t.start_ns;
