// SPDX-License-Identifier: Apache-2.0
// What a newcomer mistypes in a rule, one case for each kind of place, with the whole message.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace dladvisor::test {

// A sound rule, beside one called calm-shop.
inline constexpr const char* kBusyRule = R"yaml(id: busy-shop
title: The shop is busy
severity: warning
confidence: high
for: shop
params:
  max_busy: {default: 0.5, unit: ratio, doc: Most.}
  kind: {default: tea, doc: Item.}
let:
  idle: {sql: "1 - busy_share", unit: ratio}
  sold: (SELECT count(*) FROM orders WHERE orders.shop = subject.shop AND item = :kind)
when:
  - busy_share > :max_busy
  - >
    sold > 0
    AND idle < 1
unless: [calm-shop]
causes: [calm-shop]
saves: {from: till, high: "idle * open_ns", low: "0"}
problem: |
  Shop {{shop}} in {{town}} is busy,
  idle {{idle}}.
recommendation:
  - Hire for {{kind}}.
evidence: {sql: "SELECT number, item FROM orders WHERE shop = :shop AND item = :kind"}
references: [https://example.org]
)yaml";

struct Typo {
  const char* name;
  const char* what;  // stands once in kBusyRule
  const char* with;
  std::vector<std::string> problems;  // without "shop/busy-shop.yaml:"
};

// Of keys, values, names and what other rules are called.
std::span<const Typo> TyposInNames();
// Of conditions and other SQL, and of messages.
std::span<const Typo> TyposInSql();
// What authors bring from other languages and tools.
std::span<const Typo> TyposOfOthers();

}  // namespace dladvisor::test
