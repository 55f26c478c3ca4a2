-- SPDX-License-Identifier: Apache-2.0
-- Sheets of TraceLens's performance report by their names and columns, from op_efficiency. A row is an operator with its
-- arguments. Shapes are written as there; rates are all calls' work over their time, where TraceLens has the mean of each call's.

-- id: tracelens_unified_perf_summary
-- doc: Operators with FLOPs, bytes and rates, by arguments (TraceLens unified_perf_summary).
SELECT op AS name, CASE
    WHEN kind = 'matrix' THEN 'GEMM'
    WHEN kind = 'convolution' THEN iif(op LIKE '%backward%', 'CONV_bwd', 'CONV_fwd')
    WHEN kind = 'attention' THEN iif(op LIKE '%backward%' OR op LIKE '%bwd%', 'SDPA_bwd', 'SDPA_fwd')
    WHEN kind = 'normalization' THEN iif(op LIKE '%backward%', 'NORM_bwd', 'NORM_fwd')
    WHEN kind = 'element-wise' THEN 'elementwise'
    WHEN kind = 'reduction' THEN 'reduce'
    ELSE 'other' END AS "op category", shapes AS "Input Dims", data_type AS "Input type", calls AS operation_count,
    flops / calls / 1e9 AS "GFLOPS", bytes / calls / 1048576.0 AS "Data Moved (MB)", intensity AS "FLOPS/Byte",
    iif(precision = '', NULL, 'matrix_' || precision) AS "Compute Spec", bytes_per_s / 1e12 AS "TB/s_mean",
    flops_per_s / 1e12 AS "TFLOPS/s_mean", gpu_ns / 1e3 / calls AS "Kernel Time (µs)_mean",
    gpu_ns / 1e3 AS "Kernel Time (µs)_sum", 100 * kernel_share AS "Percentage (%)", 100 * attained_share AS "Pct Roofline",
    bound AS "Bound"
FROM op_efficiency
ORDER BY gpu_ns DESC, op, shapes, data_type, layout;

-- id: tracelens_GEMM
-- doc: Matrix products by shape (TraceLens GEMM).
SELECT * FROM tracelens_unified_perf_summary WHERE "op category" = 'GEMM';

-- id: tracelens_SDPA_fwd
-- doc: Attention, forward (TraceLens SDPA_fwd).
SELECT * FROM tracelens_unified_perf_summary WHERE "op category" = 'SDPA_fwd';

-- id: tracelens_SDPA_bwd
-- doc: Attention, backward (TraceLens SDPA_bwd).
SELECT * FROM tracelens_unified_perf_summary WHERE "op category" = 'SDPA_bwd';

-- id: tracelens_CONV_fwd
-- doc: Convolutions, forward (TraceLens CONV_fwd).
SELECT * FROM tracelens_unified_perf_summary WHERE "op category" = 'CONV_fwd';

-- id: tracelens_CONV_bwd
-- doc: Convolutions, backward (TraceLens CONV_bwd).
SELECT * FROM tracelens_unified_perf_summary WHERE "op category" = 'CONV_bwd';
