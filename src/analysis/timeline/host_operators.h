// SPDX-License-Identifier: Apache-2.0
// What the host did in a long gap of a GPU where no call of the driver is recorded, as in TensorFlow's
// timelines: which thread launches is not known there, but an operator that lasts as long as the gap explains
// it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/trace/intervals.h"
#include "src/trace/trace.h"

namespace dladvisor {

class HostOperators {
 public:
  // Knows none where calls are recorded.
  explicit HostOperators(const Trace& trace);

  // The shortest range of any thread that covers at least 80 % of a gap of 1 ms or more; kNoIndex where none
  // does.
  uint32_t Through(Interval gap) const;

 private:
  const Trace& trace_;
  std::vector<uint32_t> long_;  // ranges of 0.8 ms and more, in order of start
};

}  // namespace dladvisor
