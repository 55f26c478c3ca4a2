// SPDX-License-Identifier: Apache-2.0
// Lines that each rank of a job prints of its own step: "[rank5]: step 3 compute 740.1 ms, loss 2.1", "5:
// step 3 | fwd 0.31s". Readers of steps take one line of each step; this one keeps what tells the ranks
// apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

class RankLinesReader {
 public:
  void Line(std::string_view line);

  // The steps that all ranks tell, where no other reader knows the log.
  TrainingLog Finish() const;

  // Adds the ranks that are fastest and slowest in each iteration. One without a time takes what its slowest
  // rank's parts do.
  void AddTo(TrainingLog& log) const;

 private:
  // What ranks tell of one step, in seconds: what they do themselves, and that with their waiting for others.
  struct Step {
    std::map<int64_t, double> own, all;
  };

  bool ToldByAll(const Step& step) const { return step.own.size() == ranks_.size(); }
  size_t StepsOfAll() const;  // 0 of a single rank

  std::map<int64_t, Step> steps_;  // by epoch and number
  std::set<int64_t> ranks_;
  size_t kept_ = 0;
};

}  // namespace dladvisor::training_log
