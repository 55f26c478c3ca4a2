-- SPDX-License-Identifier: Apache-2.0
-- id: resource_usage
-- title: Resource Usage Breakdown
-- note: Mean over GPUs; where several overlap, the first one named counts.
-- relation: resource_usage
SELECT category, ns, share FROM resource_usage ORDER BY position;

-- Of all ranks: op_kernel is kept of some alone where there are many. Kernels on tensor cores make their op
-- eligible.
-- id: kernel_gpu_time
-- title: Total Kernel GPU Time
-- note: Sum of kernel durations in the analysed time; eligible are those of ops that could use tensor cores.
-- relation: gpu
SELECT category, gpu_ns
FROM (SELECT 'Using Tensor Cores' AS category, sum(tensor_core_ns) AS gpu_ns
  FROM gpu
  UNION ALL
  SELECT 'Eligible, not using', sum(eligible_ns - tensor_core_ns - eligible_unknown_ns)
  FROM gpu
  UNION ALL
  SELECT 'Use not known', sum(tensor_core_unknown_ns)
  FROM gpu
  UNION ALL
  SELECT 'Not eligible', sum(kernel_ns - eligible_ns - tensor_core_unknown_ns + eligible_unknown_ns)
  FROM gpu)
WHERE gpu_ns > 0
ORDER BY gpu_ns DESC, category;

-- A group uses tensor cores where any of its rows is known to; unknown where none is and some are not known.
-- id: top_ops
-- title: Top 10 GPU Ops
-- note: GPU time of all calls.
-- relation: op
SELECT sum(gpu_ns) AS gpu_ns, sum(gpu_ns) * 1.0 / (SELECT nullif(sum(gpu_ns), 0)
  FROM op) AS share, op, max(op_type) AS op_type, sum(calls) AS calls,
    max(tensor_core_eligible) AS tensor_core_eligible, CASE WHEN max(uses_tensor_cores) = 1 THEN 1
    WHEN count(uses_tensor_cores) < count(*) THEN NULL ELSE 0 END AS uses_tensor_cores
FROM op
WHERE gpu_ns > 0
GROUP BY op
ORDER BY sum(op.gpu_ns) DESC, op
LIMIT 10;
