// SPDX-License-Identifier: Apache-2.0
// Where wall time goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dladvisor {

// Exclusive buckets of wall time, in the order of the ledger.
enum class Bucket : uint8_t {
  kTensor,
  kOther,
  kCommunication,
  kCopy,
  kMemset,
  kLaunchLatency,
  kDependency,
  kIdleSync,
  kIdleCopy,
  kAllocation,
  kCompilation,
  kInput,
  kIdleCommunication,
  kCheckpoint,
  kGarbageCollection,
  kOs,
  kProfiler,
  kHost,
  kLaunch,
  kUnknown,
};
inline constexpr size_t kBuckets = 20;
std::string_view BucketName(Bucket bucket);  // "compute/tensor", "idle/launch", ...

}  // namespace dladvisor
