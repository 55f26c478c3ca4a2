-- SPDX-License-Identifier: Apache-2.0
-- id: span_trace
-- title: Spans of the Program
-- view: Program Spans
-- note: What the program marked itself; its names are all that is known of it.
-- relation: span_trace
-- empty: hidden
SELECT * FROM span_trace ORDER BY profile;

-- id: span_names
-- title: Where the Time of the Spans Goes
-- view: Program Spans
-- note: Each moment of a track counts for the innermost span.
-- relation: span_name
-- empty: hidden
SELECT * FROM span_name ORDER BY profile, self_ns DESC, name;

-- id: span_tracks
-- title: Tracks
-- view: Program Spans
-- relation: span_track
-- empty: hidden
SELECT * FROM span_track ORDER BY profile, track;
