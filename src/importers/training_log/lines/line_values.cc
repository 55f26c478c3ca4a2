// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/line_values.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

struct UnitForm {
  std::string_view words;
  Unit unit;
  double scale;
};

// In lower case.
constexpr auto kUnits = std::to_array<UnitForm>({
    {"s", Unit::kSeconds, 1},
    {"sec", Unit::kSeconds, 1},
    {"secs", Unit::kSeconds, 1},
    {"second", Unit::kSeconds, 1},
    {"seconds", Unit::kSeconds, 1},
    {"ms", Unit::kSeconds, 1e-3},
    {"msec", Unit::kSeconds, 1e-3},
    {"us", Unit::kSeconds, 1e-6},
    {"min", Unit::kSeconds, 60},
    {"mins", Unit::kSeconds, 60},
    {"minutes", Unit::kSeconds, 60},
    {"h", Unit::kSeconds, 3600},
    {"it/s", Unit::kPerSecond, 1},
    {"it/sec", Unit::kPerSecond, 1},
    {"its/s", Unit::kPerSecond, 1},
    {"iter/s", Unit::kPerSecond, 1},
    {"iters/s", Unit::kPerSecond, 1},
    {"iter/sec", Unit::kPerSecond, 1},
    {"iters/sec", Unit::kPerSecond, 1},
    {"step/s", Unit::kPerSecond, 1},
    {"steps/s", Unit::kPerSecond, 1},
    {"step/sec", Unit::kPerSecond, 1},
    {"steps/sec", Unit::kPerSecond, 1},
    {"batch/s", Unit::kPerSecond, 1},
    {"batches/s", Unit::kPerSecond, 1},
    {"batches/sec", Unit::kPerSecond, 1},
    {"s/it", Unit::kSecondsEach, 1},
    {"sec/it", Unit::kSecondsEach, 1},
    {"s/iter", Unit::kSecondsEach, 1},
    {"sec/iter", Unit::kSecondsEach, 1},
    {"s/step", Unit::kSecondsEach, 1},
    {"sec/step", Unit::kSecondsEach, 1},
    {"s/batch", Unit::kSecondsEach, 1},
    {"sec/batch", Unit::kSecondsEach, 1},
    {"ms/it", Unit::kSecondsEach, 1e-3},
    {"ms/iter", Unit::kSecondsEach, 1e-3},
    {"ms/step", Unit::kSecondsEach, 1e-3},
    {"ms/batch", Unit::kSecondsEach, 1e-3},
    {"samples/s", Unit::kSamples, 1},
    {"samples/sec", Unit::kSamples, 1},
    {"samples/second", Unit::kSamples, 1},
    {"sample/s", Unit::kSamples, 1},
    {"img/s", Unit::kSamples, 1},
    {"imgs/s", Unit::kSamples, 1},
    {"img/sec", Unit::kSamples, 1},
    {"images/s", Unit::kSamples, 1},
    {"images/sec", Unit::kSamples, 1},
    {"examples/s", Unit::kSamples, 1},
    {"examples/sec", Unit::kSamples, 1},
    {"instance/sec", Unit::kSamples, 1},
    {"ins/s", Unit::kSamples, 1},
    {"tok/s", Unit::kTokens, 1},
    {"toks/s", Unit::kTokens, 1},
    {"tok/sec", Unit::kTokens, 1},
    {"tokens/s", Unit::kTokens, 1},
    {"tokens/sec", Unit::kTokens, 1},
    {"tokens/second", Unit::kTokens, 1},
    {"token/s", Unit::kTokens, 1},
    {"token/sec", Unit::kTokens, 1},
    {"k", Unit::kOther, 1},
    {"m", Unit::kOther, 1},
    {"g", Unit::kOther, 1},
    {"b", Unit::kOther, 1},
    {"kb", Unit::kOther, 1},
    {"mb", Unit::kOther, 1},
    {"gb", Unit::kOther, 1},
    {"tb", Unit::kOther, 1},
    {"kib", Unit::kOther, 1},
    {"mib", Unit::kOther, 1},
    {"gib", Unit::kOther, 1},
});

constexpr size_t kMostValues = 64;  // a line with more is a dump of numbers

const UnitForm* UnitOf(std::string_view word) {
  const auto found = std::ranges::find(kUnits, word, &UnitForm::words);
  return found == kUnits.end() ? nullptr : &*found;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsDigitAt(std::string_view line, size_t at) { return at < line.size() && IsDigit(line[at]); }
bool IsClockAt(std::string_view line, size_t at) {
  return IsDigitAt(line, at) && IsDigitAt(line, at + 1) && at + 2 < line.size() && line[at + 2] == ':' &&
         IsDigitAt(line, at + 3) && IsDigitAt(line, at + 4) && at + 5 < line.size() && line[at + 5] == ':';
}
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The end of the number that begins at `at`.
size_t EndOfNumber(std::string_view line, size_t at) {
  size_t end = at + (line[at] == '-' ? 1 : 0);
  while (end < line.size() && IsDigit(line[end])) ++end;
  // "1,803,550"
  while (end + 3 < line.size() && line[end] == ',' && IsDigit(line[end + 1]) && IsDigit(line[end + 2]) &&
         IsDigit(line[end + 3]) && (end + 4 == line.size() || !IsDigit(line[end + 4])))
    end += 4;
  if (end + 1 < line.size() && line[end] == '.' && IsDigit(line[end + 1]))
    for (++end; end < line.size() && IsDigit(line[end]);) ++end;
  if (end + 1 < line.size() && (line[end] == 'e' || line[end] == 'E')) {
    size_t exponent = end + 1 + (line[end + 1] == '-' || line[end + 1] == '+' ? 1 : 0);
    if (exponent < line.size() && IsDigit(line[exponent])) {
      while (exponent < line.size() && IsDigit(line[exponent])) ++exponent;
      end = exponent;
    }
  }
  return end;
}

std::optional<double> Parsed(std::string_view text) {
  std::string digits(text);
  std::erase(digits, ',');
  return Number(digits);
}

// The words that end before the number: behind the last sign that parts values, without what joins them.
std::string NameOf(std::string_view before) {
  constexpr std::string_view kJoins = " \t:=[(\"'<#~";
  const size_t last = before.find_last_not_of(kJoins);
  if (last == std::string_view::npos) return {};
  before = before.substr(0, last + 1);
  const size_t start = before.find_last_of(",;|[](){}\t\"'=:");
  if (start != std::string_view::npos) before.remove_prefix(start + 1);
  if (const size_t gap = before.rfind("  "); gap != std::string_view::npos) before.remove_prefix(gap + 2);
  before = Trim(before);
  std::string name;
  for (const char c : before)
    name += c == '_' || c == '-' || c == '/' ? ' '
                                             : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool IsRate(Unit unit) {
  return unit == Unit::kPerSecond || unit == Unit::kSecondsEach || unit == Unit::kSamples ||
         unit == Unit::kTokens;
}

// The rate that a name ends with, which is cut off it: "tokens/s: ", "it/s=".
const UnitForm* CutRate(std::string_view before, std::string& name) {
  const size_t last = before.find_last_not_of(" \t:=\"'");
  if (last == std::string_view::npos || last > 64) return nullptr;
  before = before.substr(0, last + 1);
  const size_t start = before.find_last_of(" \t,;|[](){}\"':=") + 1;  // 0 where there is none
  const UnitForm* unit = UnitOf(Lower(before.substr(start)));
  if (unit == nullptr || !IsRate(unit->unit)) return nullptr;
  name = NameOf(before.substr(0, start));
  return unit;
}

// Of "tokens/sec: 12.5k" and "1.2M tok/s" the thousand: only a rate is written so, as "2.1M" alone may be of
// parameters.
double FactorOf(std::string_view line, size_t end_of_number, const UnitForm* named) {
  if (end_of_number >= line.size()) return 1;
  const char letter = line[end_of_number];
  const double factor = letter == 'k' || letter == 'K' ? 1e3 : letter == 'M' ? 1e6 : letter == 'G' ? 1e9 : 1;
  size_t next = end_of_number + 1;
  // "1.2Mtok/s"; "12.5k/gpu" is one, too.
  const bool joined = next < line.size() && (IsLetter(line[next]) || line[next] == '/') &&
                      Lower(line.substr(next, 4)) != "/gpu";
  if (factor == 1) return 1;
  if (!joined && named != nullptr && IsRate(named->unit)) return factor;
  while (next < line.size() && line[next] == ' ') ++next;
  size_t word = next;
  while (word < line.size() && (IsLetter(line[word]) || line[word] == '/')) ++word;
  const UnitForm* unit = UnitOf(Lower(line.substr(next, std::min<size_t>(word - next, 16))));
  return unit != nullptr && IsRate(unit->unit) ? factor : 1;
}

// Whether a rate's word names what follows it: behind a sign, else a number that has no unit of its own. By
// a number alone only where the one before it has a name.
bool NamesWhatFollows(std::string_view line, size_t end_of_word, bool named) {
  for (bool first = true;; first = false) {
    size_t at = line.find_first_not_of(' ', end_of_word);
    if (at == std::string_view::npos) return false;
    if (line[at] == ':' || line[at] == '=') return true;
    if ((first && !named) || at == end_of_word || !IsDigit(line[at])) return false;
    at = EndOfNumber(line, at);
    if (at < line.size() && (line[at] == '/' || line[at] == ':' || line[at] == '-')) return false;
    at = std::min(line.find_first_not_of(' ', at), line.size());
    end_of_word = at;
    while (end_of_word < line.size() && (IsLetter(line[end_of_word]) || line[end_of_word] == '/'))
      ++end_of_word;
    const UnitForm* unit = UnitOf(Lower(line.substr(at, std::min<size_t>(end_of_word - at, 16))));
    if (unit == nullptr) return true;
    if (!IsRate(unit->unit)) return false;
  }
}

// "0.205 sec data", "1.2 s forward": the words behind a time without a name, up to what parts values.
std::string NameBehind(std::string_view line, size_t end) {
  if (end >= line.size() || line[end] != ' ' || end + 1 >= line.size() || !IsLetter(line[end + 1])) return {};
  size_t last = end + 1;
  while (last < line.size() && (IsLetter(line[last]) || line[last] == ' ' || line[last] == '_')) ++last;
  const bool parted = last == line.size() || line[last] == ',' || line[last] == ')' || line[last] == ';' ||
                      line[last] == '|' || line[last] == ']';
  return parted ? NameOf(line.substr(end, last - end)) : std::string();
}

// What no rate is.
bool IsNoRate(std::string_view name) {
  static const RE2 other(R"((?:^| )(?:\w*loss|lr|learning rate|\w*norm|acc|accuracy|ppl|perplexity)$)");
  return RE2::PartialMatch(name, other);
}

// A unit of time that a name ends with, which is cut off it: "time(ms): ", "step_time_ms=".
const UnitForm* CutUnit(std::string_view before, std::string& name) {
  const auto seconds = [](std::string_view word) {
    const UnitForm* unit = UnitOf(word);
    return unit && unit->unit == Unit::kSeconds ? unit : nullptr;
  };
  const size_t last = before.find_last_not_of(" \t:=");
  const size_t open = before.rfind('(');
  if (last != std::string_view::npos && before[last] == ')' && open != std::string_view::npos) {
    const UnitForm* unit = seconds(before.substr(open + 1, last - open - 1));
    if (unit) name = NameOf(before.substr(0, open));
    return unit;
  }
  const size_t gap = name.rfind(' ');
  if (gap == std::string::npos) return nullptr;
  if (name.substr(0, gap).ends_with(" per")) return nullptr;  // "samples_per_sec"
  const UnitForm* unit = seconds(std::string_view(name).substr(gap + 1));
  if (unit) name.resize(gap);
  return unit;
}

// "Time: 0:03:39", "elapsed: 1:02:03": the time since a start. What begins with two digits may be the time of
// the day, where no word says that it has elapsed.
std::optional<Value> ClockOf(std::string_view line, size_t last, size_t at) {
  static const RE2 clock(R"((\d{1,5}):(\d\d):(\d\d)(?:\D|$))"),
      elapsed("(?:^| )(?:elapsed|(?:total |used )?time (?:elapsed|used|usage)|elapsed time)$");
  re2::StringPiece rest = line.substr(at);
  int64_t hours = 0, minutes = 0, seconds = 0;
  if (!RE2::Consume(&rest, clock, &hours, &minutes, &seconds)) return std::nullopt;
  Value value;
  value.name = NameOf(line.substr(last, at - last));
  static const RE2 left("\\b(?:remain\\w*|left|eta|estimated|expected|rest)\\b");
  const bool single = line.size() > at + 1 && line[at + 1] == ':' && !RE2::PartialMatch(value.name, left);
  if (!RE2::PartialMatch(value.name, elapsed) &&
      !(single && (value.name == "time" || value.name.ends_with(" time"))))
    return std::nullopt;
  value.number = static_cast<double>((hours * 60 + minutes) * 60 + seconds);
  value.whole = value.clock = true;
  value.unit = Unit::kSeconds;
  return value;
}

}  // namespace

std::vector<Value> ValuesOf(std::string_view line) {
  std::vector<Value> values;
  size_t last = 0;  // end of the value before
  for (size_t at = 0; at < line.size() && values.size() < kMostValues;) {
    const bool minus = line[at] == '-' && at + 1 < line.size() && IsDigit(line[at + 1]);
    const char before = at == 0 ? ' ' : line[at - 1];
    if (!(IsDigit(line[at]) || minus) || IsLetter(before) || IsDigit(before) || before == '_' ||
        before == '.' || (minus && before != ' ' && before != ':' && before != '=')) {
      ++at;
      continue;
    }
    size_t end = EndOfNumber(line, at);
    const auto number = Parsed(line.substr(at, end - at));
    // "8:42:56" is a clock, "2019-07-23" a date.
    const bool clock = IsDigitAt(line, end + 1) && (line[end] == ':' || (line[end] == '-' && before != '['));
    if (!number || clock || (before == ':' && at >= 2 && IsDigit(line[at - 2]))) {
      if (auto since = ClockOf(line, last, at)) values.push_back(*std::move(since));
      while (end < line.size() && (IsDigit(line[end]) || line[end] == ':' || line[end] == '-')) ++end;
      at = last = std::max(end, at + 1);
      continue;
    }
    Value value;
    value.name = NameOf(line.substr(last, at - last));
    const UnitForm* named_unit = CutRate(line.substr(last, at - last), value.name);
    if (named_unit == nullptr) named_unit = CutUnit(line.substr(last, at - last), value.name);
    value.number = *number;
    value.whole = line.substr(at, end - at).find_first_of(".eE-") == std::string_view::npos;
    // "[20-40]": steps of a range end with the second.
    if (before == '[' && end + 1 < line.size() && line[end] == '-' && IsDigit(line[end + 1])) {
      const size_t second = EndOfNumber(line, end + 1);
      value.number = Parsed(line.substr(end + 1, second - end - 1)).value_or(value.number);
      end = second;
    }
    if (const double factor = FactorOf(line, end, named_unit); factor != 1) {
      value.number *= factor;
      value.whole = false;
      ++end;
    }
    size_t next = end;
    while (next < line.size() && line[next] == ' ') ++next;
    if (value.whole && next + 1 < line.size() && line[next] == '/') {
      size_t total = next + 1;
      while (total < line.size() && line[total] == ' ') ++total;
      if (total < line.size() && IsDigit(line[total])) {
        const size_t total_end = EndOfNumber(line, total);
        if (IsClockAt(line, total_end + 1)) {
          at = last = total_end;  // "10/05 20:31:36", too
          continue;
        }
        if (total_end < line.size() && line[total_end] == '/' && IsDigitAt(line, total_end + 1)) {
          at = last = EndOfNumber(line, total_end + 1);  // "2024/01/31" is a date
          continue;
        }
        if (const auto count = Parsed(line.substr(total, total_end - total)); count && *count < 1e12) {
          value.total = static_cast<int64_t>(*count);
          end = total_end;
        }
      }
    }
    next = end;
    if (next < line.size() && line[next] == ' ') ++next;
    if (next + 2 < line.size() && line[next] == '[' && IsLetter(line[next + 1])) ++next;  // "51.26 [s]"
    size_t word = next;
    while (word < line.size() && (IsLetter(line[word]) || line[word] == '/')) ++word;
    const std::string lower = Lower(line.substr(next, std::min<size_t>(word - next, 16)));
    const UnitForm* unit = UnitOf(lower);
    // "loss 0.5 tok/s 1001", and not "0.5 tok/s".
    if (unit != nullptr && IsRate(unit->unit) &&
        (IsNoRate(value.name) || (named_unit != nullptr && IsRate(named_unit->unit)) ||
         NamesWhatFollows(line, word, !value.name.empty())))
      unit = nullptr;
    if (unit != nullptr) {
      value.unit = unit->unit;
      value.scale = unit->scale;
      end = word;
    } else if (named_unit) {
      value.unit = named_unit->unit;
      value.scale = named_unit->scale;
    }
    // "50/2983 batches"
    if (value.total && value.name.empty() &&
        (lower == "batches" || lower == "steps" || lower == "iters" || lower == "iterations"))
      value.name = "step";
    // "0.76 (0.69)"
    size_t bracket = end;
    while (bracket < line.size() && line[bracket] == ' ') ++bracket;
    if (bracket + 1 < line.size() && line[bracket] == '(' && IsDigit(line[bracket + 1])) {
      const size_t mean = EndOfNumber(line, bracket + 1);
      const size_t rest = std::min(line.find_first_not_of(' ', mean), line.size());
      size_t end_of_unit = rest;
      while (end_of_unit < line.size() && (IsLetter(line[end_of_unit]) || line[end_of_unit] == '/'))
        ++end_of_unit;
      const UnitForm* other = UnitOf(Lower(line.substr(rest, std::min<size_t>(end_of_unit - rest, 16))));
      // "loss 0.5 (1002 tok/s)"
      if (other == nullptr || !IsRate(other->unit) || other->unit == value.unit) {
        value.mean = Parsed(line.substr(bracket + 1, mean - bracket - 1));
        end = mean;
      }
    }
    if (value.name.empty() && value.unit == Unit::kSeconds) value.name = NameBehind(line, end);
    values.push_back(std::move(value));
    at = last = end;
  }
  return values;
}

std::optional<double> TokensPerSecond(const Value& value) {
  if (value.unit != Unit::kTokens || !(value.number > 0)) return std::nullopt;
  return value.total ? value.number + static_cast<double>(*value.total) : value.number;
}

std::optional<double> TokensPerSecond(std::string_view line) {
  for (const Value& value : ValuesOf(line))
    if (const auto tokens = TokensPerSecond(value)) return tokens;
  return std::nullopt;
}

}  // namespace dladvisor::training_log
