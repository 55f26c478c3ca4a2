-- SPDX-License-Identifier: Apache-2.0
-- id: gpus
-- title: GPUs
-- note: One row per rank and device with GPU work.
-- relation: gpu
SELECT rank, device, name, gpu_utilization, tensor_core_efficiency, kernels, kernel_ns, window_ns, busy_ns,
    idle_ns, idle_share, idle_starved_ns, tensor_core_ns, tensor_core_unknown_ns, eligible_ns,
    communication_ns, sm_count, compute_capability, memory_bytes
FROM gpu
ORDER BY rank, device;
