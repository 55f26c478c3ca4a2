-- SPDX-License-Identifier: Apache-2.0
-- id: memory
-- title: Memory
-- view: Memory
-- drawn: memory curves
-- note: GPU memory against what the device has.
-- relation: memory
SELECT rank, device, total_bytes, peak_bytes, used_share, peak_at_ns, peak_operator, reserved_bytes,
    allocations, frees, source
FROM memory
ORDER BY used_share DESC NULLS LAST, rank, device;

-- id: memory_curve
-- title: Memory over Time
-- note: What PyTorch's allocator has given to tensors and has reserved.
-- relation: memory_curve
-- needs: operators
-- empty: hidden
SELECT device, start_ns, allocated_bytes, reserved_bytes
FROM memory_curve
ORDER BY device, point;

-- id: memory_operators
-- title: Memory by Operator
-- view: Memory
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
