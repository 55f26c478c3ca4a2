// SPDX-License-Identifier: Apache-2.0
#include "engine/authoring/function_docs.h"

#include <fmt/format.h>

namespace dladvisor {

const std::map<std::string, FunctionDoc>& FunctionDocTable() {
  static const std::map<std::string, FunctionDoc> functions = {
      {"->", {"JSON -> PATH", "Part of a JSON text, as JSON."}},
      {"->>", {"JSON ->> PATH", "Part of a JSON text, as a value."}},
      {"abs", {"abs(x)", "Absolute value."}},
      {"avg", {"avg(x)", "Mean of the rows; NULL where all are NULL."}},
      {"ceil", {"ceil(x)", "Next whole number."}},
      {"char", {"char(code, ...)", "Text of code points."}},
      {"coalesce",
       {"coalesce(a, b, ...)", "First that is not NULL: keeps an unknown from muting a condition."}},
      {"count", {"count(*), count(x)", "Rows; rows where x is not NULL."}},
      {"cume_dist", {"cume_dist() OVER (...)", "Share of rows up to this one."}},
      {"dense_rank", {"dense_rank() OVER (...)", "Rank without gaps."}},
      {"exp", {"exp(x)", "e to the x."}},
      {"first_value", {"first_value(x) OVER (...)", "x of the first row of the window."}},
      {"floor", {"floor(x)", "Whole number below."}},
      {"glob", {"text GLOB pattern", "Whether a text fits a pattern of *, ? and [...]."}},
      {"group_concat", {"group_concat(x, separator)", "Texts of the rows as one."}},
      {"ifnull", {"ifnull(a, b)", "a, or b where a is NULL."}},
      {"iif", {"iif(condition, a, b)", "a where the condition holds, else b."}},
      {"instr", {"instr(text, part)", "Place of the part, from 1; 0 where it is not there."}},
      {"json_extract", {"json_extract(json, path)", "Part of a JSON text."}},
      {"lag", {"lag(x, n) OVER (...)", "x of n rows before."}},
      {"last_value", {"last_value(x) OVER (...)", "x of the last row of the window."}},
      {"lead", {"lead(x, n) OVER (...)", "x of n rows after."}},
      {"length", {"length(text)", "Letters of a text."}},
      {"like",
       {"text LIKE pattern", "Whether a text fits a pattern of % and _; letters of either case are equal."}},
      {"ln", {"ln(x)", "Natural logarithm."}},
      {"log", {"log(x), log(base, x)", "Logarithm, to 10 unless a base is given."}},
      {"log10", {"log10(x)", "Logarithm to 10."}},
      {"log2", {"log2(x)", "Logarithm to 2."}},
      {"lookup",
       {"lookup(:param, name)",
        "Of a param with a table the number of the first pattern that fits the name, as GLOB has it."}},
      {"lower", {"lower(text)", "In small letters."}},
      {"ltrim", {"ltrim(text, letters)", "Without these letters at its begin."}},
      {"max", {"max(x), max(a, b, ...)", "Largest of the rows, or of the arguments."}},
      {"median", {"median(x)", "Median of the rows; NULL where none is a number."}},
      {"min", {"min(x), min(a, b, ...)", "Least of the rows, or of the arguments."}},
      {"mod", {"mod(a, b)", "Remainder."}},
      {"nth_value", {"nth_value(x, n) OVER (...)", "x of the nth row of the window."}},
      {"ntile", {"ntile(n) OVER (...)", "Which of n equal parts a row is in."}},
      {"nullif", {"nullif(a, b)", "NULL where both are equal, else a."}},
      {"percent_rank", {"percent_rank() OVER (...)", "Rank as a share."}},
      {"percentile",
       {"percentile(x, percent)", "Percentile of the rows, 0 to 100, between two of them linearly."}},
      {"pow", {"pow(x, y)", "x to the y."}},
      {"power", {"power(x, y)", "x to the y."}},
      {"rank", {"rank() OVER (...)", "Rank of a row, with gaps."}},
      {"ratio", {"ratio(a, b)", "a / b as a real number; NULL where b is 0."}},
      {"regexp", {"text REGEXP pattern", "Whether RE2 finds the pattern; of at most 4,000 instructions."}},
      {"regexp_extract",
       {"regexp_extract(text, pattern, group)",
        "What the group matched, 1 where nothing is said and there is one; NULL where nothing matches."}},
      {"replace", {"replace(text, part, by)", "With every such part replaced."}},
      {"round", {"round(x, digits)", "Rounded."}},
      {"row_number", {"row_number() OVER (...)", "Number of a row."}},
      {"rtrim", {"rtrim(text, letters)", "Without these letters at its end."}},
      {"sign", {"sign(x)", "-1, 0 or 1."}},
      {"sqrt", {"sqrt(x)", "Square root."}},
      {"substr", {"substr(text, from, letters)", "Part of a text, from 1."}},
      {"substring", {"substring(text, from, letters)", "The same."}},
      {"sum", {"sum(x)", "Sum of the rows; NULL where all are NULL."}},
      {"total", {"total(x)", "Sum of the rows as a real number; 0 where all are NULL."}},
      {"trim", {"trim(text, letters)", "Without these letters at either end."}},
      {"trunc", {"trunc(x)", "Without its fraction."}},
      {"typeof", {"typeof(x)", "integer, real, text or null."}},
      {"unicode", {"unicode(text)", "Code point of the first letter."}},
      {"upper", {"upper(text)", "In capital letters."}}};
  return functions;
}

std::string FunctionDocs() {
  std::string text =
      "## Functions in SQL\n\nConditions and queries may call these functions and no others: they read no "
      "file, no clock "
      "and no random number.\n\n| Call | Result |\n|---|---|\n";
  for (const auto& [name, function] : FunctionDocTable())
    text += fmt::format("| `{}` | {} |\n", function.usage, function.doc);
  return text;
}

}  // namespace dladvisor
