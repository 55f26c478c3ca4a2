// SPDX-License-Identifier: Apache-2.0
// Numbers by pattern of a name, such as a threshold by model of GPU: a param of a rule, which the SQL
// function lookup(:param, name) reads. As a text it is "*H100* = 1.5e+09; * = 1e+09". Patterns are those of
// GLOB, and the first one that fits counts.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/value.h"

namespace dladvisor {

class LookupTable {
 public:
  // Nothing where the text is no table.
  static std::optional<LookupTable> Parse(std::string_view text);

  // Why the entry cannot be one, or "" where it was added.
  std::string Add(const std::string& pattern, const Value& number);
  std::string Text() const;
  // For people, with the numbers in their unit: "*H100* = 1.50 GiB; * = 1.00 GiB".
  std::string Formatted(Unit unit) const;
  std::optional<double> Find(const std::string& name) const;

 private:
  std::vector<std::pair<std::string, double>> entries_;
};

}  // namespace dladvisor
