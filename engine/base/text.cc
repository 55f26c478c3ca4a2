// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace dladvisor {
namespace {

// Levenshtein distance with transpositions of neighbours counted as one, the commonest typo.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] =
          std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    before.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

// Length of the valid UTF-8 sequence at the start of `s`, or 0. Overlong forms and surrogates are invalid.
size_t Utf8SequenceLength(std::string_view s) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || s.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

// Of the ASCII characters that it begins with.
size_t AsciiLength(std::string_view s) {
  size_t length = 0;
  while (length < s.size() && static_cast<unsigned char>(s[length]) < 0x80) ++length;
  return length;
}

bool IsInOtherCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// "step_ns" for "avg_step_ns": the one that has most of the words in common, at least two, and all of either.
std::optional<std::string> NearestByWords(std::string_view word, std::span<const std::string> candidates) {
  const std::vector<std::string_view> words = Split(word, '_');
  std::optional<std::string> best;
  size_t most = 1;
  for (const std::string& candidate : candidates) {
    const std::vector<std::string_view> others = Split(candidate, '_');
    const auto common = static_cast<size_t>(
        std::ranges::count_if(words, [&](std::string_view w) { return std::ranges::count(others, w) > 0; }));
    if (common <= most || common < std::min(words.size(), others.size())) continue;
    most = common;
    best = candidate;
  }
  return best;
}

// "params" for "parameters": the one of at least four letters that begins the word, but for a plural's s;
// the longest.
std::optional<std::string> Abbreviated(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  for (const std::string& candidate : candidates) {
    const std::string_view singular =
        std::string_view(candidate).substr(0, candidate.size() - (candidate.ends_with('s') ? 1 : 0));
    if (singular.size() >= 4 && word.starts_with(singular) && (!best || candidate.size() > best->size()))
      best = candidate;
  }
  return best;
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  std::optional<std::string> best;
  size_t best_distance = (word.size() <= 4 ? 1 : std::max<size_t>(2, word.size() / 3)) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best_distance = distance;
      best = candidate;
    }
  }
  if (best || word.size() < 3) return best;
  for (const std::string& candidate : candidates)  // cut short
    if (candidate.starts_with(word)) return candidate;
  for (const std::string& candidate : candidates)
    if (IsInOtherCase(word, candidate)) return candidate;
  if (auto by_words = NearestByWords(word, candidates)) return by_words;
  return Abbreviated(word, candidates);
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  const auto nearest = Nearest(word, candidates);
  return nearest ? fmt::format(" (did you mean {}?)", *nearest) : "";
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    if (const size_t ascii = AsciiLength(text); ascii > 0) {
      valid += text.substr(0, ascii);
      text.remove_prefix(ascii);
      continue;
    }
    const size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      valid += "\uFFFD";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, length);
      text.remove_prefix(length);
    }
  }
  return valid;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    if (!part.empty()) parts.push_back(part);
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return parts;
}

std::string WithinSentence(std::string text) {
  const auto is_capital = [&](size_t at) { return text[at] >= 'A' && text[at] <= 'Z'; };
  if (text.size() > 1 && is_capital(0) && !is_capital(1)) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

std::string WithThousands(int64_t n) {
  std::string digits = fmt::format("{}", n);
  const size_t first = n < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string ThreeDigits(double value) {
  constexpr double kRoundsUp = 999.5, kTooLong = 1e15;
  return value >= kRoundsUp && value < kTooLong ? WithThousands(std::llround(value))
                                                : fmt::format("{:.3g}", value);
}

}  // namespace dladvisor
