// SPDX-License-Identifier: Apache-2.0
// What the program says of a profile.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace dladvisor::evaluation {

struct Said {  // a finding that fired
  std::string rule, severity, problem;
  std::string text;                 // problem and recommendations
  std::optional<double> low, high;  // what it saves, in ns per step, or in all where there are no steps
  bool nested = false;              // shown as a consequence of another
};

struct Observed {
  std::string error;  // what the program refused the profile with
  std::vector<Said> findings;
  std::string first;  // the rule whose recommendation the headline gives, or ""
  std::optional<double> step_ns, window_ns;
  std::vector<std::optional<double>> values;  // of the queries
};

// Runs `program` on a profile: its report, and queries that give one number each.
Observed Observe(const std::filesystem::path& program, const std::filesystem::path& profile,
                 const std::vector<std::string>& queries);

}  // namespace dladvisor::evaluation
