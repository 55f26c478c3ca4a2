// SPDX-License-Identifier: Apache-2.0
// Small jobs with a cause of lateness drawn at random, and what the rules say of them.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/model/advice.h"
#include "examples/data-parallel/job.h"
#include "src/fleet/digest_file.h"

namespace dladvisor::test {

// The rule that names the cause; "" for none.
const char* RuleOf(example::Cause cause);

// Four nodes of two GPUs, 16 steps of 80 kernels.
example::JobOptions SmallJob(uint64_t seed);

// A rank, steps and kernels drawn at random; `share` of the step is lost.
example::Plant DrawPlant(example::Cause cause, const example::JobOptions& options, double share,
                         std::mt19937_64& draw);

// What all rules say of a digest.
Advice AdviceOn(const Digest& digest);

// A finding that names a cause.
struct NamedCause {
  std::string rule, ranks;  // ranks of a group, of slow-link
  std::optional<int64_t> rank, node;
};
// Of all rules that do, over the facts of a digest.
std::vector<NamedCause> NamedCauses(const Digest& digest);

// Whether one of `named` names the plant.
bool IsNamed(const std::vector<NamedCause>& named, const example::Plant& plant,
             const example::JobOptions& options);

// Of `seeds` jobs with one such plant, how many are named rightly, and nothing else with it; without a cause,
// of how many nothing is named.
int CountRight(example::Cause cause, double share, int seeds);

}  // namespace dladvisor::test
