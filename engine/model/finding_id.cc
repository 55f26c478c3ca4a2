// SPDX-License-Identifier: Apache-2.0
#include "engine/model/finding_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace dladvisor {

std::string FindingId(const Finding& finding) {
  if (finding.subject.empty()) return finding.rule;
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
    hash *= 1099511628211U;  // what ends a text is part of it
  };
  for (const NamedValue& key : finding.subject) {
    add(key.name);
    if (const auto* integer = std::get_if<int64_t>(&key.value))
      add(fmt::format("{}", *integer));
    else if (const auto* real = std::get_if<double>(&key.value))
      add(fmt::format("{}", *real));
    else if (const auto* text = std::get_if<std::string>(&key.value))
      add(*text);
    else
      add({});
  }
  return fmt::format("{}/{:016x}", finding.rule, hash);
}

}  // namespace dladvisor
