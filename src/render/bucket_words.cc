// SPDX-License-Identifier: Apache-2.0
#include "src/render/bucket_words.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dladvisor {

std::string_view BucketWords(std::string_view bucket) {
  using Words = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Words, 22> words = {{
      {"compute/tensor", "computing on tensor cores"},
      {"compute/other", "other computing"},
      {"communication/exposed", "exposed communication"},
      {"communication/waiting", "waiting for other ranks"},
      {"communication/transfer", "exposed communication"},
      {"copy", "copying"},
      {"memset", "setting memory"},
      {"idle/launch-latency", "latency of launches"},
      {"idle/dependency", "queued work that waits"},
      {"idle/sync", "synchronisation"},
      {"idle/copy", "waiting for copies"},
      {"idle/allocation", "allocation of memory"},
      {"idle/compilation", "loading and compiling code"},
      {"idle/input", "data loading"},
      {"idle/communication", "waiting for communication"},
      {"idle/checkpoint", "saving checkpoints"},
      {"idle/garbage-collection", "Python's garbage collection"},
      {"idle/os", "waiting in the operating system"},
      {"idle/profiler", "the profiler"},
      {"idle/host", "work of the host other than launches"},
      {"idle/launch", "launching kernels"},
      {"idle/unknown", "idle time of unknown cause"},
  }};
  const auto* const found = std::ranges::find(words, bucket, &Words::first);
  return found == words.end() ? bucket : found->second;
}

int PartOfBar(std::string_view bucket) {
  return bucket.starts_with("compute/") ? 0 : bucket.starts_with("idle/") ? 2 : 1;
}

bool IsDrawnBefore(std::string_view bucket, std::string_view other) {
  const int part = PartOfBar(bucket), part_of_other = PartOfBar(other);
  if (part != part_of_other) return part < part_of_other;
  return part == 0 ? bucket > other : bucket < other;
}

}  // namespace dladvisor
