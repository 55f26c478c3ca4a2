-- SPDX-License-Identifier: Apache-2.0
-- id: copies
-- title: Copies
-- view: Copies
-- note: Whole profile, by direction, kinds of memory and how the host called.
-- relation: copy_kind
SELECT rank, device, direction, source, destination, blocking, copies, bytes, total_ns, avg_ns, bytes_per_s,
    small_copies, pageable_async
FROM copy_kind
ORDER BY total_ns DESC, rank, device, direction, source, destination, blocking;

-- id: synchronisation
-- title: Synchronisation
-- view: Synchronisation
-- note: Where the host waited for the GPU, in the analysed time.
-- relation: sync_site
SELECT rank, kind, api, site, calls, calls_per_step, total_ns, max_ns, window_share, gpu_idle_ns
FROM sync_site
ORDER BY total_ns DESC, rank, kind, api, site;

-- id: api_calls
-- title: CUDA API Calls
-- view: Synchronisation
-- note: Whole profile.
-- relation: api_name
SELECT rank, name, calls, total_ns, avg_ns, min_ns, max_ns, errors
FROM api_name
ORDER BY total_ns DESC, rank, name;
