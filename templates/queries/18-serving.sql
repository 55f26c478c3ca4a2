-- SPDX-License-Identifier: Apache-2.0
-- id: serving
-- title: Server Log
-- view: Server Log
-- note: What the server printed of its load; means are over lines with requests.
-- relation: serving
-- empty: hidden
SELECT * FROM serving ORDER BY profile;

-- id: serving_lines
-- title: Lines of the Server Log
-- view: Server Log
-- note: Each is of one engine, and a mean since its line before.
-- relation: serving_log
-- empty: hidden
SELECT * FROM serving_log ORDER BY profile, line;
