-- SPDX-License-Identifier: Apache-2.0
-- id: summary_tables
-- title: Summary
-- view: Summary
-- note: Sums over the totals by name that a profiler printed. They have no timeline: idle time, steps and overlap are unknown.
-- relation: summary_table
-- empty: hidden
SELECT * FROM summary_table ORDER BY profile, summary;

-- id: summary_totals
-- title: Totals by Name
-- view: Summary
-- note: As the profiler printed them, what takes longest of each kind first.
-- relation: summary_total
-- empty: hidden
SELECT * FROM summary_total ORDER BY profile, summary, kind, total_ns DESC, row;

-- id: measured_kernels
-- title: Measured Kernels
-- view: Summary
-- note: The longest launch of each kernel, measured alone: how it was launched, and which shares of the GPU's peaks it reached.
-- relation: measured_kernel
-- empty: hidden
SELECT * FROM measured_kernel ORDER BY profile, summary, total_ns DESC, row;

-- id: profiler_messages
-- title: Messages of the Profiler
-- view: Summary
-- note: As Nsight Compute's rules printed them of these launches. Its estimates are upper ends.
-- relation: profiler_message
-- empty: hidden
SELECT k.short_name, p.* FROM profiler_message AS p JOIN measured_kernel AS k ON k.profile = p.profile AND k.summary = p.summary AND k.row = p.row ORDER BY p.profile, p.summary, k.total_ns DESC, p.row, p.message;
