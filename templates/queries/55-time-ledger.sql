-- SPDX-License-Identifier: Apache-2.0
-- Room for the ledgers that are drawn, whole: 64 (kDrawnLedgers) of at most 24 buckets.
-- id: time_ledger
-- title: Time Ledger
-- view: Time Ledger
-- drawn: ledger bars
-- note: Every nanosecond of the analysed time in exactly one bucket, per rank and device.
-- relation: time_ledger
-- max_rows: 1536
SELECT rank, device, bucket, ns, ns_per_step, share
FROM time_ledger
ORDER BY (rank, device) NOT IN (SELECT rank, device FROM pacing_gpu), rank, device, ns DESC, bucket;

-- id: idle_gaps
-- title: Longest Idle Gaps
-- view: Time Ledger
-- note: When nothing ran on the GPU.
-- relation: idle_gap
SELECT rank, device, start_ns, duration_ns, cause, host_activity, starved_ns, ended_by, range
FROM idle_gap
ORDER BY duration_ns DESC, rank, device, start_ns
LIMIT 50;
