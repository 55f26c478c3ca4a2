-- SPDX-License-Identifier: Apache-2.0
-- id: pipelines
-- title: Pipelines
-- view: Pipeline
-- drawn: pipeline plots
-- note: Of a step, mean of the complete steady ones. Ideal is the smallest bubble that the schedule allows.
-- relation: pipeline_bubble
-- empty: hidden
SELECT pipeline, schedule, stages, missing_stages, micro_batches, chunks, cost_ns,
    bubble_ratio AS bubble_share, ideal_ratio AS ideal_share, warmup_bubble_ns, steady_bubble_ns,
    cooldown_bubble_ns, imbalance AS imbalance_share, slowest_stage, slowest_rank, typical_step, steps
FROM pipeline_bubble
ORDER BY bubble_ns DESC, pipeline;

-- id: pipeline_stages
-- title: Stages
-- view: Pipeline
-- note: Times of a micro-batch; bubbles of a step.
-- relation: pipeline_stage
-- empty: hidden
SELECT pipeline, stage, rank, device, forward_ns, backward_ns, weight_ns, work_ns, busy_ns, bubble_share,
    warmup_bubble_ns, steady_bubble_ns, cooldown_bubble_ns, optimizer_ns
FROM pipeline_stage
ORDER BY pipeline <> (SELECT pipeline FROM pipeline_bubble ORDER BY bubble_ns DESC, pipeline LIMIT 1),
    pipeline, stage;

-- Where there are more than 4,000 passes, those of every second stage, third, ...
-- id: pipeline_schedule
-- title: Pipeline Schedule
-- note: The passes of the typical step of the pipeline with the longest bubble.
-- relation: pipeline_event
-- empty: hidden
-- max_rows: 4000
WITH drawn AS MATERIALIZED (SELECT pipeline, typical_step FROM pipeline_bubble ORDER BY bubble_ns DESC,
    pipeline LIMIT 1),
pass AS MATERIALIZED (SELECT rank, device, phase, micro_batch, chunk, start_ns, end_ns
  FROM pipeline_event
  WHERE step = (SELECT typical_step FROM drawn) AND start_ns IS NOT NULL),
placed AS MATERIALIZED (SELECT s.pipeline, s.stage, s.rank, p.phase, p.micro_batch, p.chunk, p.start_ns,
      p.end_ns
  FROM pass AS p
  JOIN (SELECT pipeline, stage, rank, device
    FROM pipeline_stage
    WHERE pipeline = (SELECT pipeline FROM drawn)) AS s ON s.rank = p.rank AND s.device = p.device)
SELECT pipeline, stage, rank, phase, micro_batch, chunk, start_ns, end_ns
FROM placed
WHERE stage % (SELECT CAST(count(*) / 4000.0 AS INTEGER) + 1 FROM placed) = 0
ORDER BY stage, start_ns, end_ns, phase;
