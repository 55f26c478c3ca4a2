-- SPDX-License-Identifier: Apache-2.0
-- id: memory
-- title: Memory
-- note: GPU memory against what the device has.
-- relation: memory
SELECT rank, device, total_bytes, peak_bytes, used_share, peak_at_ns, peak_operator, reserved_bytes,
    allocations, frees, source
FROM memory
ORDER BY rank, device;

-- Enough events to draw what is allocated: of each of so many equal parts of the time the least, the most and the
-- last.
-- id: memory_curve
-- title: Memory over Time
-- note: What PyTorch's allocator has given to tensors and has reserved.
-- relation: memory_event
-- needs: operators
-- empty: hidden
WITH event AS (SELECT rowid AS n, device, start_ns, allocated_bytes, reserved_bytes
  FROM memory_event
  WHERE device IS NOT NULL AND allocated_bytes IS NOT NULL),
span AS (SELECT min(start_ns) AS first, max(start_ns) - min(start_ns) + 1 AS ns,
      260 / count(DISTINCT device) AS parts
  FROM event),
placed AS (SELECT event.*, (start_ns - first) * parts / ns AS part FROM event, span),
extreme AS (SELECT device, part, min(allocated_bytes) AS least, max(allocated_bytes) AS most, max(n) AS last
  FROM placed
  GROUP BY device, part)
SELECT device, start_ns, allocated_bytes, reserved_bytes
FROM placed JOIN extreme USING (device, part)
WHERE n = last OR allocated_bytes IN (least, most)
GROUP BY device, part, allocated_bytes, n = last
ORDER BY device, min(n);

-- id: memory_operators
-- title: Memory by Operator
-- note: The 10 that allocate the most GPU memory over the whole profile; self is without operators called inside, and
--   an increase is what is allocated less what is freed.
-- relation: memory_operator
-- needs: operators
-- empty: hidden
SELECT rank, device, name, calls, self_allocated_bytes, allocated_bytes, self_increase_bytes, increase_bytes,
    self_allocations, allocations
FROM memory_operator
WHERE device IS NOT NULL
ORDER BY self_allocated_bytes DESC, allocated_bytes DESC, rank, device, name
LIMIT 10;
