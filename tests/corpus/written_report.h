// SPDX-License-Identifier: Apache-2.0
// The report of a profile as its readers get it, and which rules fired.
#pragma once

#include <set>
#include <string>

#include "src/fleet/load_profiles.h"

namespace dladvisor::test {

struct WrittenReport {
  std::string text, markdown, html;
  std::set<std::string> fired;
};

// By the built-in rules; a rule that fails is a failure of the test.
WrittenReport WriteReport(const Profile& profile);

}  // namespace dladvisor::test
