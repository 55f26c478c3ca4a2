-- SPDX-License-Identifier: Apache-2.0
-- id: mfu
-- title: Model FLOP Utilization (MFU)
-- unit: ratio
-- relation: run
-- column: mfu
-- unknown: work or peaks are not known
SELECT mfu,
    CASE WHEN known_work_share > 0 AND known_work_share < 0.5 THEN
        'FLOPs or bytes are known of ' || CAST(round(100 * known_work_share) AS INTEGER) || ' % of the kernel time, less than half'
      WHEN known_work_share > 0 AND NOT EXISTS (SELECT 1 FROM gpu_peak) THEN
        'the peaks of ' || coalesce((SELECT min(name) FROM gpu), 'this GPU') || ' are not known; declare them in dladvisor.yaml'
      WHEN NOT EXISTS (SELECT 1 FROM gpu) THEN 'no GPU work was recorded'
      WHEN NOT EXISTS (SELECT 1 FROM system WHERE framework_name LIKE 'PyTorch%') THEN
        'the profiler records no FLOPs of kernels, and shapes of operators only of PyTorch'
    END
FROM run;

-- id: speed_of_light
-- title: Speed of Light
-- unit: ratio
-- relation: run
-- column: speed_of_light
-- unknown: work or peaks are not known
SELECT speed_of_light,
    CASE WHEN known_work_share > 0 AND known_work_share < 0.5 THEN
        'FLOPs or bytes are known of ' || CAST(round(100 * known_work_share) AS INTEGER) || ' % of the kernel time, less than half'
      WHEN known_work_share > 0 AND NOT EXISTS (SELECT 1 FROM gpu_peak) THEN
        'the peaks of ' || coalesce((SELECT min(name) FROM gpu), 'this GPU') || ' are not known; declare them in dladvisor.yaml'
      WHEN NOT EXISTS (SELECT 1 FROM gpu) THEN 'no GPU work was recorded'
      WHEN NOT EXISTS (SELECT 1 FROM system WHERE framework_name LIKE 'PyTorch%') THEN
        'the profiler records no FLOPs of kernels, and shapes of operators only of PyTorch'
    END
FROM run;

-- id: known_work_share
-- title: Kernel Time of Known Work
-- unit: ratio
-- relation: run
-- column: known_work_share
-- unknown: the profiler recorded no shapes of operators
SELECT known_work_share FROM run;

-- id: op_efficiency
-- title: Operators by Headroom
-- view: Speed of Light
-- drawn: rooflines
-- note: Headroom is GPU time beyond the least that the work needs on this GPU: FLOPs at the achievable rate, bytes at the achievable bandwidth, or the shortest kernel.
-- relation: op_efficiency
-- empty: hidden
-- rows: listed
SELECT rank, op, shapes, gpu_ns, headroom_ns, attained_share, bound, flops_per_s, compute_share, bytes_per_s, memory_share,
    precision, layout, calls, kernel_share, kind, data_type, unknown_reason
FROM op_efficiency
ORDER BY headroom_ns DESC NULLS LAST, gpu_ns DESC, rank, op, shapes, data_type, precision, layout;

-- id: gemm
-- title: GEMM
-- view: Speed of Light
-- note: Matrix products by shape.
-- relation: op_efficiency
-- empty: hidden
-- rows: listed
SELECT rank, op, shapes, data_type, precision, layout, gpu_ns, flops_per_s, compute_share, attained_share, headroom_ns, bound,
    memory_share, calls, kernel_share, flops, intensity
FROM op_efficiency
WHERE kind = 'matrix'
ORDER BY gpu_ns DESC, rank, op, shapes, data_type, precision, layout;

-- id: sdpa_fwd
-- title: SDPA_fwd
-- view: Speed of Light
-- note: Scaled dot-product attention, forward. Causal attention counts half of the scores, and all of them where it is not recorded whether it is causal.
-- relation: op_efficiency
-- empty: hidden
-- rows: listed
SELECT rank, op, shapes, data_type, precision, gpu_ns, flops_per_s, compute_share, attained_share, headroom_ns, bound,
    memory_share, calls, kernel_share, flops, intensity
FROM op_efficiency
WHERE kind = 'attention' AND NOT (op LIKE '%backward%' OR op LIKE '%bwd%')
ORDER BY gpu_ns DESC, rank, op, shapes, data_type, precision, layout;

-- id: sdpa_bwd
-- title: SDPA_bwd
-- view: Speed of Light
-- note: Scaled dot-product attention, backward. Causal attention counts half of the scores, and all of them where it is not recorded whether it is causal.
-- relation: op_efficiency
-- empty: hidden
-- rows: listed
SELECT rank, op, shapes, data_type, precision, gpu_ns, flops_per_s, compute_share, attained_share, headroom_ns, bound,
    memory_share, calls, kernel_share, flops, intensity
FROM op_efficiency
WHERE kind = 'attention' AND (op LIKE '%backward%' OR op LIKE '%bwd%')
ORDER BY gpu_ns DESC, rank, op, shapes, data_type, precision, layout;

-- id: conv_fwd
-- title: CONV_fwd
-- view: Speed of Light
-- note: Convolutions, forward.
-- relation: op_efficiency
-- empty: hidden
-- rows: listed
SELECT rank, op, shapes, data_type, precision, layout, gpu_ns, flops_per_s, compute_share, attained_share, headroom_ns, bound,
    memory_share, calls, kernel_share, flops, intensity
FROM op_efficiency
WHERE kind = 'convolution' AND NOT (op LIKE '%backward%' OR op LIKE '%bwd%')
ORDER BY gpu_ns DESC, rank, op, shapes, data_type, precision, layout;

-- id: conv_bwd
-- title: CONV_bwd
-- view: Speed of Light
-- note: Gradients of convolutions.
-- relation: op_efficiency
-- empty: hidden
-- rows: listed
SELECT rank, op, shapes, data_type, precision, layout, gpu_ns, flops_per_s, compute_share, attained_share, headroom_ns, bound,
    memory_share, calls, kernel_share, flops, intensity
FROM op_efficiency
WHERE kind = 'convolution' AND (op LIKE '%backward%' OR op LIKE '%bwd%')
ORDER BY gpu_ns DESC, rank, op, shapes, data_type, precision, layout;

-- id: attention_blocks
-- title: Attention That Writes Its Scores
-- view: Speed of Light
-- note: Two matrix products with a softmax between them, by shape. A fused kernel reads queries, keys and values and writes the result.
-- relation: attention_block
-- empty: hidden
-- rows: listed
SELECT rank, direction, batch, queries, keys, head_size, value_size, gpu_ns, score_ns, fused_ns, headroom_ns, blocks, kernels, kernel_share,
    softmax, data_type, ops AS chain
FROM attention_block
ORDER BY gpu_ns DESC, rank, direction, softmax, batch, queries, keys, head_size, value_size, data_type;

-- id: fusion_candidates
-- title: Chains to Fuse
-- view: Speed of Light
-- note: Operators in a row that only move data. One kernel reads the first inputs and writes the last results.
-- relation: fusion_candidate
-- empty: hidden
-- rows: listed
SELECT rank, ops AS chain, shapes, gpu_ns, fused_ns, headroom_ns, chains, kernels, kernel_share, bytes, fused_bytes
FROM fusion_candidate
ORDER BY gpu_ns DESC, rank, ops, shapes;

-- id: gpu_peaks
-- title: Peaks of the GPUs
-- view: Speed of Light
-- note: Dense rates of the model, and what was measured to be achievable where somebody has published it.
-- relation: gpu_peak
-- empty: hidden
-- rows: listed
SELECT rank, device, model, precision, unit, flops_per_s, achievable_flops_per_s, memory_bytes_per_s,
    achievable_memory_bytes_per_s, known_by, source
FROM gpu_peak
ORDER BY rank, device, flops_per_s DESC, precision, unit;

-- id: roofline
-- title: Roofline
-- relation: op_efficiency
-- empty: hidden
-- max_rows: 100
WITH placed AS (
  SELECT * FROM op_efficiency
  WHERE flops_per_s IS NOT NULL AND intensity IS NOT NULL AND peak_flops_per_s IS NOT NULL AND peak_bytes_per_s IS NOT NULL
)
SELECT rank, op, shapes, data_type, precision, calls, gpu_ns, intensity, flops_per_s, compute_share, peak_flops_per_s, peak_bytes_per_s
FROM placed
WHERE rank = (SELECT rank FROM placed GROUP BY rank ORDER BY sum(gpu_ns) DESC, rank LIMIT 1)
ORDER BY gpu_ns DESC, op, shapes, data_type, precision, layout;
