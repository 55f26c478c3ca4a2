// SPDX-License-Identifier: Apache-2.0
// What authors bring from other languages and tools.
#include "tests/engine/typos.h"

namespace dladvisor::test {

std::span<const Typo> TyposOfOthers() {
  static const std::vector<Typo> typos = {
      // Functions, methods and operators.
      {"Contains",
       "busy_share > :max_busy",
       "contains(town, 'x')",
       {"7:3: busy-shop: param 'max_busy' is never used",
        "13:5: busy-shop: no such function: contains; SQL has instr(text, 'part') > 0, or text LIKE "
        "'%part%'"}},
      {"Length",
       "busy_share > :max_busy",
       "len(town) > :max_busy",
       {"13:5: busy-shop: no such function: len; SQL has length(text)"}},
      {"Mean",
       "busy_share > :max_busy",
       "mean(busy_share) > :max_busy",
       {"13:5: busy-shop: no such function: mean; SQL has avg(x)"}},
      {"Percentile95",
       "busy_share > :max_busy",
       "p95(busy_share) > :max_busy",
       {"13:5: busy-shop: no such function: p95; SQL has percentile(x, 95)"}},
      {"Quantile",
       "busy_share > :max_busy",
       "quantile(busy_share, 0.9) > :max_busy",
       {"13:5: busy-shop: no such function: quantile; SQL has percentile(x, 90), the 90th"}},
      {"IfAsFunction",
       "busy_share > :max_busy",
       "if(busy_share > :max_busy, 1, 0)",
       {"13:5: busy-shop: no such function: if; SQL has iif(CONDITION, VALUE, OTHER)"}},
      {"IfOfPython",
       "busy_share > :max_busy",
       "busy_share if busy_share > :max_busy else 0",
       {"13:16: busy-shop: near \"if\": syntax error; a choice is iif(CONDITION, VALUE, OTHER)"}},
      {"Method",
       "busy_share > :max_busy",
       "town.startswith('x') > :max_busy",
       {"13:20: busy-shop: near \"(\": syntax error; SQL has no methods: upper(text), instr(text, 'part') > "
        "0, "
        "text LIKE '%part%'"}},
      {"NoneOfPython",
       "busy_share > :max_busy",
       "busy_share > :max_busy AND town IS NOT None",
       {"13:44: busy-shop: no such column: None; SQL has NULL"}},
      {"Cast",
       "busy_share > :max_busy",
       "int(busy_share) > :max_busy",
       {"13:5: busy-shop: no such function: int; SQL has CAST(x AS INTEGER)"}},
      {"Power",
       "busy_share > :max_busy",
       "busy_share ^ 2 > :max_busy",
       {"13:16: busy-shop: unrecognized token: \"^\"; SQL has pow(x, y)"}},
      {"PowerOfPython",
       "busy_share > :max_busy",
       "busy_share ** 2 > :max_busy",
       {"13:17: busy-shop: near \"*\": syntax error; SQL has pow(x, y)"}},
      {"Semicolon",
       "busy_share > :max_busy",
       "busy_share > :max_busy; DROP TABLE shop",
       {"13:27: busy-shop: near \";\": syntax error; it is one query or expression, without ;"}},
      // Numbers and units.
      {"DecimalComma",
       "\"idle * open_ns\"",
       "\"idle * 0,5\"",
       {"19:28: busy-shop: row value misused; a number has a point, not a comma: 0.5"}},
      {"HundredTimesAShare",
       "busy_share > :max_busy",
       "busy_share * 100 > :max_busy",
       {"13:5: busy-shop: compares a hundred times a share with the share :max_busy: 100 % is 1"}},
      {"HundredTimesALimit",
       "busy_share > :max_busy",
       "busy_share > 100 * :max_busy",
       {"13:5: busy-shop: compares a hundred times a share with the share busy_share: 100 % is 1"}},
      {"PercentileOf950",
       "sold > 0",
       "sold > (SELECT percentile(busy_share, 950) FROM shop)",
       {"14:5: busy-shop: percentile: the second argument is a number from 0 to 100\n"
        "    sold > (SELECT percentile(busy_share, 950) FROM shop) AND idle < 1\n"
        "                                          ^"}},
      {"UnitPercent",
       "0.5, unit: ratio",
       "0.5, unit: percent",
       {"7:34: busy-shop: no unit 'percent': shares are a ratio, of which 15 % is 0.15"}},
      {"UnitMilliseconds",
       "busy_share\", unit: ratio",
       "busy_share\", unit: ms",
       {"10:39: busy-shop: no unit 'ms': times are in ns, and messages choose ms or s themselves"}},
      {"UnitMegabytes",
       "busy_share\", unit: ratio",
       "busy_share\", unit: MB",
       {"10:39: busy-shop: no unit 'MB': sizes are in bytes, and messages choose MiB or GiB themselves"}},
      // Keys.
      {"KeyIf", "when:", "if:", {"12:1: busy-shop: a rule has no key 'if' (did you mean when?)"}},
      {"KeyLevel",
       "severity: warning",
       "level: warning",
       {"3:1: busy-shop: a rule has no key 'level' (did you mean severity?)"}},
      {"KeyDescription",
       "severity: warning",
       "description: Warning.",
       {"3:1: busy-shop: a rule has no key 'description' (did you mean doc?)"}},
      {"KeyEnabled",
       "severity: warning",
       "enabled: false",
       {"3:1: busy-shop: a rule has no key 'enabled'; dladvisor.yaml turns rules off: `rules: {ID: off}`"}},
      {"KeyMessage",
       "problem: |",
       "message: |",
       {"20:1: busy-shop: a rule has no key 'message' (did you mean problem?)"}},
      {"ForAsAList",
       "for: shop",
       "for: [shop]",
       {"5:6: busy-shop: 'for' is the name of one relation, or {sql: SELECT ..., key: [COLUMN]}"}},
      {"UnlessTwice",
       "unless: [calm-shop]",
       "unless: [calm-shop, calm-shop]",
       {"17:21: busy-shop: an item of 'unless' stands twice"}},
      // Templates.
      {"BracesInSql",
       "busy_share > :max_busy",
       "busy_share > {{max_busy}}",
       {"7:3: busy-shop: param 'max_busy' is never used",
        "13:18: busy-shop: unrecognized token: \"{\"; {{name}} is for messages: in SQL a param is :name, and "
        "a "
        "let or column its name"}},
      {"Filter",
       "Hire for {{kind}}.",
       "\"Hire for {{kind|upper}}.\"",
       {"24:17: busy-shop: {{kind|upper}} is not a plain value: for words that depend on a value make a let "
        "with iif(), and calculate in a let"}},
      {"Format",
       "Hire for {{kind}}.",
       "\"Hire for {{kind:>10}}.\"",
       {"24:17: busy-shop: {{kind:>10}} is not a plain value: for words that depend on a value make a let "
        "with "
        "iif(), and calculate in a let"}},
      // Quotes of YAML.
      {"QuotedName",
       "- busy_share > :max_busy",
       "- \"busy_share\" > :max_busy",
       {"13:20: YAML: unexpected character in block scalar; a text that begins with a quote ends with it: "
        "put "
        "all of it into the other quotes"}},
      {"QuotedText",
       "- busy_share > :max_busy",
       "- 'x' IN town",
       {"13:9: YAML: end of sequence not found; a text that begins with a quote ends with it: put all of it "
        "into the other quotes"}},
  };
  return typos;
}

}  // namespace dladvisor::test
