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
