// SPDX-License-Identifier: Apache-2.0
// Which ranks the profiles of a job hold. What a profile records about itself comes first (its metadata, the
// environment of its process, names of its steps), then its file's name, then the order of the files:
//  - rank_3, rank-3, worker3, proc3 in the name is the rank; node_1 with local_3, gpu_3 or device_3 node and
//    local rank;
//  - else, where the names differ in one number, that is the rank; in two, as
//    name_%q{SLURM_NODEID}_%q{SLURM_LOCALID} makes them, node and local rank. Only numbers that could be
//    ranks count, no times and process ids.
// Logs are named by themselves: labels, else the one number in which their names differ, give their node.
// Two profiles of one rank are never put together: the second is left out, and said to be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor {

struct ProfileHints {
  std::string path;
  int64_t processes = 0;                          // with GPU work
  bool is_log = false;                            // of telemetry or a training, and no trace
  std::optional<int64_t> rank, node, local_rank;  // according to the profile
  std::string by;                                 // how the rank is known
  std::optional<std::string> host;
};

struct ProfileRanks {
  int64_t first = 0;  // rank of its first process; the others follow
  std::optional<int64_t> node, local_rank;
  std::string source;                  // profile, environment, range, file name, order of files
  std::optional<size_t> duplicate_of;  // index of the profile that is this rank already
};

// One per profile, in their order.
std::vector<ProfileRanks> IdentifyRanks(const std::vector<ProfileHints>& profiles);

}  // namespace dladvisor
