// SPDX-License-Identifier: Apache-2.0
// What the headline asks of single findings, above all of those on a host that computes while no GPU does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/model/advice.h"

namespace dladvisor {

// The root finding of a rule.
std::optional<size_t> FindingOf(const Advice& advice, std::string_view rule);

// Whether a rule's value of that name holds for the finding.
bool Holds(const Finding& finding, std::string_view name);

// A sentence on one line, to go on behind it.
std::string WithoutFullStop(std::string_view sentence);

// The recommendation as an order within the headline, cut at its first sentence.
std::string FirstThing(const Finding& finding);

struct HostAlone {
  size_t root = 0;        // the finding of the longest part
  double share = 0;       // of the program's time, in all parts
  double program_ns = 0;  // that time; 0 where it is not known
};

// The host computes outside of the window for longer than all that the window holds.
std::optional<HostAlone> HostAloneForMostOfTheTime(const Advice& advice, bool at_the_start = false);

// Of a profile without the GPU's side only what the host computed before its first call is known to be alone.
std::optional<HostAlone> HostAloneBeforeWhatIsMissing(const Advice& advice);

// The host writes results for longer than that.
std::optional<size_t> WritesForLonger(const Advice& advice, double ns);

}  // namespace dladvisor
