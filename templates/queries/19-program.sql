-- SPDX-License-Identifier: Apache-2.0
-- id: program_log
-- title: Program Output
-- view: Program Output
-- note: What the program printed of its time.
-- relation: program_log
-- empty: hidden
SELECT * FROM program_log ORDER BY profile;

-- id: program_parts
-- title: Where the Program's Time Goes
-- view: Program Output
-- note: Bars may lie within one another, and within what passes after a line.
-- relation: program_part
-- empty: hidden
SELECT * FROM program_part ORDER BY profile, part;
