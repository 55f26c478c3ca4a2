-- SPDX-License-Identifier: Apache-2.0
-- The categories of PyTorch's TensorBoard plugin, in its order.
-- id: execution_summary
-- title: Execution Summary
-- view: Execution Summary
-- note: Mean over all steps of each rank. Each moment counts once, for the first of these that goes on.
-- relation: execution_summary
-- needs: operators
SELECT rank, category, ns, share
FROM (SELECT rank, 'Kernel' AS category, avg(kernel_ns) AS ns, ratio(sum(kernel_ns), sum(total_ns)) AS share,
      0 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'Memcpy' AS category, avg(memcpy_ns) AS ns, ratio(sum(memcpy_ns), sum(total_ns)) AS share,
      1 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'Memset' AS category, avg(memset_ns) AS ns, ratio(sum(memset_ns), sum(total_ns)) AS share,
      2 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'Communication' AS category, avg(communication_ns) AS ns,
      ratio(sum(communication_ns), sum(total_ns)) AS share, 3 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'Runtime' AS category, avg(runtime_ns) AS ns, ratio(sum(runtime_ns), sum(total_ns)) AS share,
      4 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'DataLoader' AS category, avg(dataloader_ns) AS ns,
      ratio(sum(dataloader_ns), sum(total_ns)) AS share, 5 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'CPU Exec' AS category, avg(cpu_ns) AS ns, ratio(sum(cpu_ns), sum(total_ns)) AS share,
      6 AS position
  FROM execution_summary
  GROUP BY rank
  UNION ALL
  SELECT rank, 'Other' AS category, avg(other_ns) AS ns, ratio(sum(other_ns), sum(total_ns)) AS share,
      7 AS position
  FROM execution_summary
  GROUP BY rank)
ORDER BY rank, position;

-- id: gpu_summary
-- title: GPU Summary
-- view: Execution Summary
-- note: Over all steps, as PyTorch's TensorBoard plugin estimates them.
-- relation: gpu_summary
-- needs: operators
SELECT s.rank, s.device, g.name, g.memory_bytes, g.compute_capability, s.gpu_utilization, s.est_sm_efficiency,
    s.est_achieved_occupancy
FROM gpu_summary AS s
JOIN gpu AS g ON g.rank = s.rank AND g.device = s.device
ORDER BY s.rank, s.device;

-- id: step_breakdown
-- title: Step Time Breakdown
-- view: Execution Summary
-- note: All steps, warm-up included.
-- relation: execution_summary
-- needs: operators
SELECT rank, step, total_ns, kernel_ns, communication_ns, memcpy_ns, memset_ns, runtime_ns, dataloader_ns,
    cpu_ns, other_ns
FROM execution_summary
ORDER BY rank, step;

-- id: distributed_steps
-- title: Computation and Communication
-- view: Execution Summary
-- note: All steps, warm-up included.
-- relation: distributed_step
-- needs: operators
SELECT rank, step, computation_ns, overlap_ns, communication_ns, other_ns
FROM distributed_step
WHERE overlap_ns + communication_ns > 0
ORDER BY rank, step;

-- id: operators
-- title: Operators
-- view: Operators
-- note: Whole profile; self times are without operators called inside.
-- relation: operator
-- needs: operators
SELECT rank, name, calls, device_self_ns, device_total_ns, host_self_ns, host_total_ns, tensor_core_eligible,
    tensor_core_self_share, tensor_core_total_share
FROM operator
ORDER BY device_self_ns DESC, host_self_ns DESC, rank, name;

-- id: modules
-- title: Modules
-- view: Modules
-- drawn: module tree
-- note: Calls of nn.Modules, where stacks were recorded, in the analysed time.
-- relation: group_op
-- needs: operators
SELECT rank, op_group AS module, ops, calls, gpu_ns, cpu_ns
FROM group_op
WHERE replace(op_group, rtrim(rtrim(op_group, '/'), replace(op_group, '/', '')), '') LIKE 'nn.Module: %'
ORDER BY gpu_ns DESC, rank, op_group;

-- id: matrix_products
-- title: Matrix Products
-- view: Operators
-- note: Where shapes were recorded, in the analysed time.
-- relation: matrix_product
-- needs: operators
SELECT rank, op, batch, m, n, k, data_type, aligned, calls, gpu_ns, kernel_share
FROM matrix_product
ORDER BY gpu_ns DESC, rank, op, batch, m, n, k;
