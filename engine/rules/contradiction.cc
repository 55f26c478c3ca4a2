// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/contradiction.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "engine/sql/sql_text.h"

namespace dladvisor {
namespace {

using WordSpan = std::span<const SqlWord>;

// `name op value` of a condition.
struct Limit {
  std::string name, op;
  Value value;  // NULL of IS NULL and IS NOT NULL
  bool of_param = false;
  size_t condition = 0, offset = 0;
  std::string text;  // as written
};

std::optional<Value> ValueOf(WordSpan words, const std::vector<Param>& params, bool& of_param) {
  const bool negative = words.size() == 2 && words[0].text == "-";
  if (words.size() != 1 && !negative) return std::nullopt;
  const SqlWord& word = words.back();
  if (word.kind == SqlToken::Kind::kNumber) {
    double number = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stop, error] = std::from_chars(word.text.data(), end, number);
    return error == std::errc() && stop == end ? std::optional<Value>(negative ? -number : number)
                                               : std::nullopt;
  }
  if (negative) return std::nullopt;
  if (word.kind == SqlToken::Kind::kString)
    return std::string(word.text.substr(1, word.text.size() - std::min<size_t>(word.text.size(), 2)));
  if (word.kind != SqlToken::Kind::kParameter) return std::nullopt;
  const auto param = std::ranges::find(params, word.text.substr(1), &Param::name);
  if (param == params.end() || param->is_table) return std::nullopt;
  of_param = true;
  if (const auto number = AsNumber(param->value)) return *number;
  return param->value;
}

// How many words of `words` are a name, qualified or not; 0 where they do not begin with one.
size_t NameSize(WordSpan words) {
  if (words.empty() || !words[0].is_name) return 0;
  return words.size() > 2 && words[1].text == "." && words[2].is_name ? 3 : 1;
}

std::string_view Mirrored(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> kMirrored[] = {
      {"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
  for (const auto& [from, to] : kMirrored)
    if (op == from) return to;
  return op;
}

std::string_view OperatorOf(const SqlWord& word) {
  for (const std::string_view op : {"<", "<=", ">", ">=", "=", "<>"})
    if (word.text == op) return op;
  return word.text == "==" ? "=" : word.text == "!=" ? "<>" : "";
}

std::optional<Limit> LimitOf(WordSpan words, const std::vector<Param>& params) {
  Limit limit;
  const size_t name = NameSize(words);
  if (name > 0 && words.size() > name + 1 && words[name].word == "IS") {
    const bool negated = words.size() == name + 3 && words[name + 1].word == "NOT";
    if (!(negated || words.size() == name + 2) || words.back().word != "NULL") return std::nullopt;
    limit.op = negated ? "IS NOT" : "IS";
    limit.name = words[name - 1].text;
    return limit;
  }
  for (size_t at = 1; at + 1 < words.size(); ++at) {
    const std::string_view op = OperatorOf(words[at]);
    if (op.empty()) continue;
    const WordSpan left = words.first(at), right = words.subspan(at + 1);
    const bool begins = NameSize(left) == left.size();
    const WordSpan named = begins ? left : right;
    if (NameSize(named) != named.size()) return std::nullopt;
    const auto value = ValueOf(begins ? right : left, params, limit.of_param);
    if (!value) return std::nullopt;
    limit.op = begins ? op : Mirrored(op);
    limit.name = named.back().text;
    limit.value = *value;
    return limit;
  }
  return std::nullopt;
}

// What a condition consists of where that is comparisons joined by AND, or by OR; what is more is left out.
std::vector<Limit> LimitsOf(const std::vector<Condition>& conditions, size_t number,
                            const std::vector<Param>& params, std::string_view joined_by = "AND") {
  const std::string& sql = conditions[number].sql;
  const std::vector<SqlWord> words = SqlWords(sql);
  const WordSpan all = WordSpan(words).first(words.size() - 1);
  int depth = 0;
  std::vector<size_t> ends;
  for (size_t at = 0; at < all.size(); ++at) {
    depth += all[at].text == "(" ? 1 : all[at].text == ")" ? -1 : 0;
    for (const std::string_view word : {"AND", "OR", "BETWEEN", "CASE", "COLLATE"})
      if (depth == 0 && all[at].word == word && word != joined_by) return {};
    if (depth == 0 && all[at].word == joined_by) ends.push_back(at);
  }
  ends.push_back(all.size());
  std::vector<Limit> limits;
  size_t begin = 0;
  for (const size_t end : ends) {
    const WordSpan part = all.subspan(begin, end - begin);
    begin = end + 1;
    auto limit = part.empty() ? std::nullopt : LimitOf(part, params);
    if (!limit) continue;
    limit->condition = number;
    limit->offset = part[0].start;
    limit->text = sql.substr(part[0].start, part.back().end() - part[0].start);
    limits.push_back(std::move(*limit));
  }
  return limits;
}

// Of a number: from `low` to `high`, without these where they are open.
struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool low_open = true, high_open = true;
};

std::optional<Range> RangeOfLimit(const Limit& limit) {
  const auto number = AsNumber(limit.value);
  if (!number || limit.op == "<>" || limit.op.starts_with("IS")) return std::nullopt;
  Range range;
  if (limit.op[0] != '<') range.low = *number;
  if (limit.op[0] != '>') range.high = *number;
  range.low_open = limit.op != ">=" && limit.op != "=";
  range.high_open = limit.op != "<=" && limit.op != "=";
  return range;
}

bool Exclude(const Limit& a, const Limit& b) {
  if (a.op == "IS" || b.op == "IS") return a.op != b.op;  // NULL compares with nothing
  if (a.op == "IS NOT" || b.op == "IS NOT") return false;
  if (a.op != "<>" && b.op != "<>" && std::holds_alternative<std::string>(a.value) &&
      std::holds_alternative<std::string>(b.value))
    return a.op == "=" && b.op == "=" && a.value != b.value;
  if ((a.op == "<>" && b.op == "=") || (a.op == "=" && b.op == "<>")) return a.value == b.value;
  const auto of_a = RangeOfLimit(a), of_b = RangeOfLimit(b);
  if (!of_a || !of_b) return false;
  const auto lies_below = [](const Range& below, const Range& above) {
    return below.high < above.low || (below.high == above.low && (below.high_open || above.low_open));
  };
  return lies_below(*of_a, *of_b) || lies_below(*of_b, *of_a);
}

// Whether one of the two holds of every value.
bool CoverAll(const Limit& a, const Limit& b) {
  // A project may set params otherwise.
  const auto param_of = [](const Limit& limit) {
    return std::string_view(limit.text).substr(limit.text.find(':') + 1);
  };
  if (a.of_param != b.of_param || (a.of_param && param_of(a) != param_of(b))) return false;
  if (a.op.starts_with("IS") || b.op.starts_with("IS"))
    return a.op != b.op && a.op.starts_with("IS") && b.op.starts_with("IS");
  if ((a.op == "<>" && b.op == "=") || (a.op == "=" && b.op == "<>")) return a.value == b.value;
  const auto of_a = RangeOfLimit(a), of_b = RangeOfLimit(b);
  if (!of_a || !of_b) return false;
  const auto meets = [](const Range& below, const Range& above) {
    return std::isinf(below.low) && std::isinf(above.high) &&
           (above.low < below.high || (above.low == below.high && !(above.low_open && below.high_open)));
  };
  return meets(*of_a, *of_b) || meets(*of_b, *of_a);
}

// Why a limit holds of all that the name may be, or "".
std::string WhyAlways(const Limit& limit, Bounds bounds) {
  const auto range = limit.of_param || bounds == Bounds::kUnknown ? std::nullopt : RangeOfLimit(limit);
  if (!range) return "";
  if (std::isinf(range->high) && (range->low < 0 || (range->low == 0 && !range->low_open)))
    return bounds == Bounds::kShare ? "a share is never below 0" : "a count is never below 0";
  if (bounds == Bounds::kShare && std::isinf(range->low) && range->high == 1 && !range->high_open)
    return "a share is never above 1";
  return "";
}

}  // namespace

std::vector<Contradiction> FindTautologies(const std::vector<Condition>& conditions,
                                           const std::vector<Param>& params,
                                           const std::function<Bounds(const std::string&)>& bounds_of) {
  std::vector<Contradiction> found;
  for (size_t number = 0; number < conditions.size(); ++number) {
    for (const Limit& limit : LimitsOf(conditions, number, params))
      if (const std::string why = WhyAlways(limit, bounds_of(limit.name)); !why.empty())
        found.push_back({number, limit.offset,
                         fmt::format("holds wherever {} is known, as {}: IS NOT NULL asks whether it is",
                                     limit.name, why),
                         false});
    const std::vector<Limit> either = LimitsOf(conditions, number, params, "OR");
    for (size_t b = 1; b < either.size(); ++b)
      for (size_t a = 0; a < b; ++a)
        if (SameName(either[a].name, either[b].name) && CoverAll(either[a], either[b])) {
          found.push_back({number, either[b].offset,
                           fmt::format("always holds, or `{}` does: AND asks for both", either[a].text),
                           false});
          a = b;
        }
  }
  return found;
}

std::vector<Contradiction> FindContradictions(const std::vector<Condition>& conditions,
                                              const std::vector<Param>& params) {
  std::vector<Limit> limits;
  std::vector<Contradiction> found;
  for (size_t number = 0; number < conditions.size(); ++number) {
    const auto same = [&](const Condition& other) { return other.sql == conditions[number].sql; };
    if (std::any_of(conditions.begin(), conditions.begin() + static_cast<int64_t>(number), same))
      found.push_back({number, 0, "stands twice in 'when'", false});
    for (Limit& limit : LimitsOf(conditions, number, params)) {
      const auto excludes = [&](const Limit& known) {
        return SameName(known.name, limit.name) && Exclude(known, limit);
      };
      auto other = std::ranges::find_if(
          limits, [&](const Limit& known) { return !known.of_param && excludes(known); });
      if (other == limits.end()) other = std::ranges::find_if(limits, excludes);
      if (other != limits.end())
        found.push_back({number, limit.offset,
                         fmt::format("never holds together with `{}`, and all conditions must: write OR for "
                                     "either of them",
                                     other->text),
                         !other->of_param && !limit.of_param});
      limits.push_back(std::move(limit));
    }
  }
  return found;
}

}  // namespace dladvisor
