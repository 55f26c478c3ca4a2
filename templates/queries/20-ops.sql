-- SPDX-License-Identifier: Apache-2.0
-- id: op_type_summary
-- title: Op Type Summary
-- view: Op Type Summary
-- note: Ops by type, in the analysed time.
-- relation: op_type
SELECT rank, op_type, ops, calls, gpu_ns, gpu_ns * 1.0 / (SELECT nullif(sum(gpu_ns), 0)
  FROM op_type) AS share, cpu_ns, kernels, tensor_core_eligible, uses_tensor_cores,
    tensor_core_ns
FROM op_type
ORDER BY gpu_ns DESC, rank, op_type;

-- id: group_ops
-- title: Group Ops
-- view: Group Ops
-- drawn: op tree
-- note: Ops by the leading parts of their path; a group holds its sub-groups.
-- relation: group_op
SELECT rank, op_group, ops, calls, eligible_ops, tensor_core_ops, gpu_ns, cpu_ns
FROM group_op
ORDER BY gpu_ns DESC, rank, op_group;

-- id: ops
-- title: Ops
-- view: Ops and Kernels
-- note: Every op of the analysed time.
-- relation: op
SELECT rank, op, op_type, direction, calls, kernels, gpu_ns, gpu_ns * 1.0 / (SELECT nullif(sum(gpu_ns), 0)
  FROM op) AS share, cpu_ns, copy_ns, tensor_core_eligible,
    uses_tensor_cores, tensor_core_ns, precision, data_type, shapes, inherited_share
FROM op
ORDER BY gpu_ns DESC, rank, op;

-- id: op_kernels
-- title: Kernels by Op
-- view: Ops and Kernels
-- note: Kernels under the op that launched them.
-- relation: op_kernel
SELECT rank, op, kernel, calls, gpu_ns, gpu_ns * 1.0 / (SELECT nullif(sum(gpu_ns), 0)
  FROM op_kernel) AS share, avg_gpu_ns, min_gpu_ns, max_gpu_ns, avg_api_ns, uses_tensor_cores,
    precision
FROM op_kernel
ORDER BY gpu_ns DESC, rank, op, kernel;

-- id: kernels
-- title: Kernels
-- view: Kernels
-- note: Whole profile, also outside the analysed time.
-- relation: kernel_name
SELECT rank, device, kernel, total_ns, share, instances, avg_ns, median_ns, min_ns, max_ns, stddev_ns,
    uses_tensor_cores, eligible, precision, grid_avg, block_avg, mean_blocks_per_sm, mean_occupancy
FROM kernel_name
ORDER BY total_ns DESC, rank, device, kernel;
