// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/range_text.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

constexpr size_t kTextsAtOnce = 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsOfWord(char c) { return IsDigit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

// "8f3a", "abcdef12": an id rather than a word and its number.
bool IsId(std::string_view word, size_t digit) {
  constexpr size_t kShortestHexadecimal = 6;
  constexpr std::string_view kLetters = "ABCDEFabcdef";
  const std::string_view before = word.substr(0, digit), after = word.substr(digit);
  return !std::ranges::all_of(after, IsDigit) ||
         (word.size() >= kShortestHexadecimal && before.find_first_not_of(kLetters) == before.npos);
}

// With # for numbers and ids: "layer12 of 8f3a" -> "layer# of #".
std::string WithoutIds(std::string_view text) {
  std::string folded;
  while (!text.empty()) {
    const auto end = std::ranges::find_if_not(text, IsOfWord);
    const std::string_view word = text.substr(0, static_cast<size_t>(end - text.begin()));
    const size_t digit = std::min(word.find_first_of("0123456789"), word.size());
    if (word.empty()) {
      folded += text.front();
    } else if (digit == word.size()) {
      folded += word;
    } else {
      if (!IsId(word, digit)) folded += word.substr(0, digit);
      folded += '#';
    }
    text.remove_prefix(std::max<size_t>(1, word.size()));
  }
  return folded;
}

// False for most texts without the number of a step: kNumberedStep takes ten times as long to say no.
bool MayNumberStep(std::string_view text) {
  const auto lower = [](char c) { return static_cast<char>(c | 0x20); };
  for (size_t i = 2; i < text.size(); ++i)
    if (lower(text[i - 1]) == 'e' && lower(text[i - 2]) == 't' &&
        (lower(text[i]) == 'p' || lower(text[i]) == 'r'))
      return true;
  return false;
}

// 71 of ", seq = 71, op_id = 7"; kNoIndex where no number is appended.
uint32_t SequenceIn(std::string_view appended) {
  constexpr std::string_view kBefore = ", seq = ";
  uint32_t number = kNoIndex;
  if (appended.starts_with(kBefore))
    std::from_chars(appended.data() + kBefore.size(), appended.data() + appended.size(), number);
  return number;
}

}  // namespace

RangeTexts::RangeTexts(const Trace& trace, size_t most_texts) : of_name_(trace.names.size(), kNoIndex) {
  constexpr uint32_t kIsUsed = 0;
  for (const NameId name : trace.ranges.name) of_name_[name] = kIsUsed;
  for (NameId name = 0; name < of_name_.size(); ++name) {
    if (of_name_[name] == kNoIndex) continue;
    const std::string_view text = trace.names.View(name);
    // A DLProf marker is a Python literal: what looks appended is part of it.
    const std::string_view plain = text.starts_with("{") ? text : WithoutCall(text);
    of_name_[name] = texts_.Intern(plain);
    if (plain.size() == text.size()) continue;
    if (const uint32_t sequence = SequenceIn(text.substr(plain.size())); sequence != kNoIndex) {
      if (sequences_.empty()) sequences_.assign(of_name_.size(), kNoIndex);
      sequences_[name] = sequence;
    }
  }
  size_t steps = 0;
  if (texts_.size() > most_texts) steps = FoldRare(trace.ranges, most_texts, WithoutIds);
  if (texts_.size() - steps > 2 * most_texts)
    FoldRare(trace.ranges, most_texts, [](std::string_view) { return kRareText; });
  markers_.resize(texts_.size());
  ParallelFor((texts_.size() + kTextsAtOnce - 1) / kTextsAtOnce, [&](size_t part) {
    const size_t end = std::min(texts_.size(), (part + 1) * kTextsAtOnce);
    for (size_t i = part * kTextsAtOnce; i < end; ++i)
      markers_[i] = ParseMarker(texts_.View(static_cast<NameId>(i)));
  });
}

template <class Fold>
size_t RangeTexts::FoldRare(const Ranges& ranges, size_t most_texts, const Fold& fold) {
  std::vector<size_t> occurrences(texts_.size(), 0);
  for (const NameId name : ranges.name) ++occurrences[of_name_[name]];
  StringPool folded;
  const auto marks_step = [&](std::string_view text) {
    static const RE2 step(kNumberedStep);
    return MayNumberStep(text) && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), step);
  };
  std::vector<bool> is_step(texts_.size());
  size_t steps = 0;
  for (uint32_t i = 0; i < texts_.size(); ++i) {
    is_step[i] = marks_step(texts_.View(i));
    steps += is_step[i];
  }
  constexpr size_t kStepsByTexts = 10;
  const bool keeps_steps = steps <= kStepsByTexts * most_texts;
  std::vector<uint32_t> becomes(texts_.size());
  for (uint32_t i = 0; i < texts_.size(); ++i) {
    const std::string_view text = texts_.View(i);
    const bool is_rare = occurrences[i] * most_texts < ranges.name.size() && !(keeps_steps && is_step[i]);
    becomes[i] = is_rare && !text.starts_with("{") ? folded.Intern(fold(text)) : folded.Intern(text);
  }
  for (uint32_t& text : of_name_)
    if (text != kNoIndex) text = becomes[text];
  texts_ = std::move(folded);
  return keeps_steps ? steps : 0;
}

}  // namespace dladvisor
