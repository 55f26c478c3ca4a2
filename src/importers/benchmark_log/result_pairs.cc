// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/result_pairs.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "engine/base/trim.h"
#include "src/importers/benchmark_log/result_settings.h"

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestPairs = 400, kMostPairs = 24;

re2::StringPiece PieceOf(std::string_view text) { return {text.data(), text.size()}; }

#define RESULT_NUMBER R"re([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?(?:e[+-]?\d+)?)re"
#define RESULT_TIME R"re(ns|us|µs|μs|ms|secs?|seconds?|s|mins?)re"
#define RESULT_RATE \
  R"re([KMGT]?i?B/s|[A-Za-z]{1,12}/s(?:ec(?:ond)?)?|[A-Za-z]{1,12} per sec(?:ond)?|[GT](?:FLOP/s|FLOPS|FLOPs|flops)|FPS|fps|QPS)re"

bool IsCode(std::string_view line) {
  static const RE2 code(R"([;{}]$|://|^[#<$%/\\]|==|\bimport\b|\breturn\b|\w\(.*\)$)");
  return RE2::PartialMatch(PieceOf(line), code);
}

}  // namespace

std::string_view WithoutLogger(std::string_view line) {
  static const RE2 front(
      R"(^(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?Z?[ ,:-]*|\[[\w:., /-]{1,40}\]\s+|(?:INFO|DEBUG|WARNING)\b[: -]*(?:[\w.]{1,40}: )?|[-*>]\s+|(?:•|→|✓|✔|✅)\s*))");
  constexpr int kMostFronts = 3;
  re2::StringPiece rest = PieceOf(Trim(line));
  for (int i = 0; i < kMostFronts && RE2::Consume(&rest, front); ++i) continue;
  return {rest.data(), rest.size()};
}

PairsOfLine PairsIn(std::string_view line) {
  line = WithoutLogger(line);
  if (line.size() > kLongestPairs || line.starts_with('|') ||
      line.find_first_of("=:") == std::string_view::npos || IsCode(line))
    return {};
  // "latency_ms=12.4" stands close; "Batch size: 8" and "mean time = 3 ms" have names of some words. Values
  // are numbers with their unit, something in brackets, or a word.
  static const RE2 pair(
      R"re((?:^|[\s,|;(\[{])((?:(?:batch|seq|num|max) )?[A-Za-z#][\w.%/-]*=|[A-Za-z#][\w.%/+-]*(?: [\w.%/+-]+){0,5}?(?: ?[\[(][^()\[\]]{1,24}[\])])?\s*(?::|\s=\s))\s*["'`*~≈]{0,3}()re" RESULT_NUMBER
      "(?:\\s?(?:" RESULT_RATE "|" RESULT_TIME
      R"re(|[KMGT]i?B|x)\b|\s?[x×%])?|\([^()]{1,40}\)|\[[^\[\]]{1,40}\]|[A-Za-z][\w./+-]*)["'`*]{0,3})re");
  static const RE2 rate("(" RESULT_NUMBER ")\\s?(" RESULT_RATE ")");
  constexpr std::string_view kSigns = " \t-|:>#*=,.([{";
  PairsOfLine found;
  re2::StringPiece rest = PieceOf(line), name, value, number, unit;
  while (RE2::FindAndConsume(&rest, pair, &name, &value)) {
    if (found.pairs.size() >= kMostPairs) return {};
    if (found.pairs.empty())
      found.before = TrimAll(line.substr(0, static_cast<size_t>(name.data() - line.data())), kSigns);
    auto& [key, cell] = found.pairs.emplace_back(TrimAll({name.data(), name.size()}, " =:"),
                                                 std::string(value.data(), value.size()));
    if (!RE2::FullMatch(value, rate, &number, &unit)) continue;
    const std::string of(unit.data(), unit.size());
    if (key != of && key.find(of) == std::string::npos) key = fmt::format("{} ({})", key, of);
    cell.assign(number.data(), number.size());
  }
  // A sentence goes on behind its last pair.
  static const RE2 words(R"([A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,})");
  return RE2::PartialMatch(rest, words) ? PairsOfLine() : found;
}

std::optional<NamedResult> NamedResultIn(std::string_view line) {
  line = WithoutLogger(line);
  constexpr size_t kLongestNamed = 200;
  if (line.size() > kLongestNamed || line.find_first_of("0123456789") == std::string_view::npos ||
      line.starts_with('|') || IsCode(line))
    return std::nullopt;
  static const RE2 named(
      R"re(([\w#"'(\[].{0,60}?)\s*(?::|=|->|→|–|\.{3,}|\stook|\s{2,})\s*[~≈]?()re" RESULT_NUMBER
      ")\\s?(?:(" RESULT_TIME ")(?:/[a-z]{2,9})?|(" RESULT_RATE R"re())(?:[^\w/].*)?)re");
  std::string name, number, time, rate;
  if (!RE2::FullMatch(PieceOf(line), named, &name, &number, &time, &rate)) return std::nullopt;
  return NamedResult{std::string(TrimAll(name, " \t:-=.\"'")), time.empty() ? number : number + " " + time,
                     rate};
}

std::optional<double> SpeedupIn(std::string_view line) {
  if (line.find("peed") == std::string_view::npos || line.size() > kLongestPairs) return std::nullopt;
  static const RE2 speedup(
      R"((?i)\bspeed-?[ _]?up\b[^:=\d]{0,40}[:=]\s*[~≈]?(\d+(?:\.\d+)?)\s?(?:x|×|times)?(?:[^\w.%]|$))");
  double times = 0;
  return RE2::PartialMatch(PieceOf(line), speedup, &times) && times > 0 ? std::optional(times) : std::nullopt;
}

#undef RESULT_NUMBER
#undef RESULT_TIME
#undef RESULT_RATE

}  // namespace dladvisor::benchmark_log
