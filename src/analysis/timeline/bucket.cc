// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/bucket.h"

#include <array>

namespace dladvisor {

std::string_view BucketName(Bucket bucket) {
  static constexpr std::array<std::string_view, kBuckets> names = {"compute/tensor",
                                                                   "compute/other",
                                                                   "communication/exposed",
                                                                   "copy",
                                                                   "memset",
                                                                   "idle/launch-latency",
                                                                   "idle/dependency",
                                                                   "idle/sync",
                                                                   "idle/copy",
                                                                   "idle/allocation",
                                                                   "idle/compilation",
                                                                   "idle/input",
                                                                   "idle/communication",
                                                                   "idle/checkpoint",
                                                                   "idle/garbage-collection",
                                                                   "idle/os",
                                                                   "idle/profiler",
                                                                   "idle/host",
                                                                   "idle/launch",
                                                                   "idle/unknown"};
  return names[static_cast<size_t>(bucket)];
}

}  // namespace dladvisor
