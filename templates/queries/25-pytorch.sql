-- SPDX-License-Identifier: Apache-2.0
-- The categories of PyTorch's TensorBoard plugin, in its order.
-- id: execution_summary
-- title: Execution Summary
-- view: Execution Summary
-- note: Mean over all steps of each rank. Each moment counts once, for the first of these that goes on.
-- relation: execution_summary
-- needs: operators
WITH category(position, category) AS (VALUES (0, 'Kernel'), (1, 'Memcpy'), (2, 'Memset'), (3, 'Communication'),
  (4, 'Runtime'), (5, 'DataLoader'), (6, 'CPU Exec'), (7, 'Other'))
SELECT rank, category, avg(ns) AS ns, ratio(sum(ns), sum(total_ns)) AS share
FROM (SELECT rank, position, category, total_ns, CASE position WHEN 0 THEN kernel_ns WHEN 1 THEN memcpy_ns
      WHEN 2 THEN memset_ns WHEN 3 THEN communication_ns WHEN 4 THEN runtime_ns WHEN 5 THEN dataloader_ns
      WHEN 6 THEN cpu_ns ELSE other_ns END AS ns
  FROM execution_summary, category)
GROUP BY rank, position
ORDER BY rank NOT IN (SELECT rank FROM pacing_gpu), rank, position;

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
ORDER BY (s.rank, s.device) NOT IN (SELECT rank, device FROM pacing_gpu), s.rank, s.device;

-- id: step_breakdown
-- title: Step Time Breakdown
-- view: Execution Summary
-- note: All steps, warm-up included.
-- relation: execution_summary
-- needs: operators
SELECT rank, step, total_ns, kernel_ns, communication_ns, memcpy_ns, memset_ns, runtime_ns, dataloader_ns,
    cpu_ns, other_ns
FROM execution_summary
ORDER BY rank NOT IN (SELECT rank FROM pacing_gpu), rank, step;

-- id: distributed_steps
-- title: Computation and Communication
-- view: Execution Summary
-- note: All steps, warm-up included.
-- relation: distributed_step
-- needs: operators
SELECT rank, step, computation_ns, overlap_ns, communication_ns, other_ns
FROM distributed_step
WHERE overlap_ns + communication_ns > 0
ORDER BY rank NOT IN (SELECT rank FROM pacing_gpu), rank, step;

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
