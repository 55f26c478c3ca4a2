-- SPDX-License-Identifier: Apache-2.0
-- id: system
-- title: System
-- relation: system
SELECT profile, host, os, cpu_model, cpu_cores, gpu_count, gpu_names, driver_version, cuda_version, framework,
    profiler, command
FROM system
ORDER BY profile;

-- id: profiles
-- title: Capture Health
-- note: What was read, and what makes it less than sure.
-- relation: profile
SELECT profile, path, format, producer_version, schema_version, session_ns, kernels, copies, sets,
    graph_launches, api_calls, syncs, ranges, os_calls, gpu_metric_samples, training_lines, serving_lines, program_parts, summary_rows, memory_events,
    skipped_rows, unmatched_kernels, unmatched_share, inherited_share, open_ranges, out_of_order,
    negative_durations, overhead_ns, overhead_share, diagnostics, missing_tables, notes, truncated,
    missing_capture
FROM profile
ORDER BY profile;

-- id: inputs
-- title: Inputs
-- note: What the report is of, and which steps.
-- relation: profile
-- empty: hidden
-- max_rows: 3
SELECT p.path, p.format, p.producer_version, p.clock_origin_utc_ns, r.first_step, r.last_step, r.step_source, r.measured
FROM profile p CROSS JOIN run r
ORDER BY p.profile;

-- id: recorded
-- title: Recorded in All Profiles
-- note: Whether any is incomplete, and whether all have calls, ranges and calls of the operating system, or Python's calls.
-- relation: profile
-- empty: hidden
SELECT count(*) AS profiles, max(truncated) AS truncated,
    min(api_calls > 0 AND ranges > 0 AND os_calls > 0) AS calls_ranges_and_os_calls, min(python_frames > 0) AS python_calls
FROM profile
HAVING count(*) > 0;

-- id: program_without_gpu
-- title: Program without GPU
-- note: Of a program that uses none.
-- relation: run
-- empty: hidden
SELECT kind, kind_evidence
FROM run
WHERE kind IN ('host', 'accelerator');

-- id: missing_capture
-- title: Not Captured
-- note: What to capture too, in the words of the profiler.
-- relation: profile
-- empty: hidden
SELECT missing_capture, count(*) AS profiles
FROM profile
WHERE missing_capture IS NOT NULL
GROUP BY missing_capture
ORDER BY missing_capture;

-- id: traced_without_calls
-- title: Traced without a Call
-- note: Profiles in which the GPU's work was traced, and none was called for.
-- relation: profile
-- empty: hidden
SELECT notes
FROM profile
WHERE gpu_traced
    AND kernels + copies + sets + graph_launches + api_calls = 0;

-- id: diagnostics
-- title: Profiler Diagnostics
-- note: What the profiler itself complained of.
-- relation: diagnostic
SELECT profile, severity, text FROM diagnostic ORDER BY profile, severity DESC, n;
