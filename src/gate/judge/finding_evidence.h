// SPDX-License-Identifier: Apache-2.0
// Whether a finding that the candidate has and the baseline has not tells more than one that comes and goes,
// as a finding near its threshold does. It does where
// - the time that it claims, a bucket of the ledger, is longer by more than noise, as metrics are judged:
//   where the program is the same that is so in one of a hundred gates, wherever the threshold lies; or
// - it fires in every run of the candidate and in none of the baseline, and a finding that fires in any share
//   of all runs does so in at most 1 of 100 gates. What runs of one job have in common is one draw, unless
//   both sides have it.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>

#include "engine/model/advice.h"
#include "src/gate/runs/gate_run.h"

namespace dladvisor {

class FindingEvidence {
 public:
  // `longer`: the buckets of the ledger that take longer by more than noise.
  FindingEvidence(std::span<const GateRun> baseline, std::span<const GateRun> candidate,
                  const std::set<std::string>& longer);

  // On whatever subject of one identity (verdict.h).
  bool IsSure(const Finding& finding) const;
  // Why a finding is not sure.
  std::string Doubt(const Finding& finding) const;

 private:
  std::span<const GateRun> baseline_, candidate_;
  const std::set<std::string>& longer_;
  size_t before_, after_;  // draws of a side
};

// The share of gates, at most, in which a finding of one frequency fires in all of so many draws and in none
// of as many others.
double ChanceOfAllAndNone(size_t all, size_t none);

}  // namespace dladvisor
