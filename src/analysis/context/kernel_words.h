// SPDX-License-Identifier: Apache-2.0
// A kernel's name as its classification asks for it: hundreds of parts and a dozen patterns of each name,
// which CUTLASS makes thousands of characters long. Most are told to be absent by the name's trigrams alone.
#pragma once

#include <re2/re2.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace dladvisor {

// A pattern of whole words, of letters and digits in lower case.
class WordPattern {
 public:
  explicit WordPattern(const std::string& pattern) : pattern_(" (?:" + pattern + ") ") {}

 private:
  friend class KernelWords;
  RE2 pattern_;
};

// In lower case, as a whole and as the words between its punctuation. Parts that only look like matrix work
// are left out: FBGEMM's prefix on everything it holds, argument types that cuBLAS shares between kernels,
// CUTLASS's and vLLM's scalar types.
class KernelWords {
 public:
  explicit KernelWords(std::string_view name);
  KernelWords(const KernelWords&) = delete;
  KernelWords& operator=(const KernelWords&) = delete;

  bool Has(std::string_view part) const { return MayHave(part) && text_.find(part) != std::string::npos; }
  bool HasAny(std::initializer_list<std::string_view> parts) const;
  bool StartsWith(std::string_view part) const { return text_.starts_with(part); }
  bool HasWord(std::string_view word) const { return FindWord(word) != std::string::npos; }
  bool HasAnyWord(std::initializer_list<std::string_view> words) const;
  bool HasWordLike(const WordPattern& pattern) const { return RE2::PartialMatch(words_, pattern.pattern_); }
  // The word that stands `distance` words after the first one equal to `word`; "" where there is none. Valid
  // as long as this.
  std::string_view WordAfter(std::string_view word, size_t distance = 1) const;
  // An Itanium-mangled name has no words: its substitutions ("S8_") would read as types.
  bool mangled() const { return mangled_; }

 private:
  static constexpr size_t kTrigramBits = 12;

  static size_t HashOf(std::string_view text, size_t at) {
    const auto byte = [&](size_t i) {
      return static_cast<uint32_t>(static_cast<unsigned char>(text[at + i]));
    };
    return (byte(0) | byte(1) << 8 | byte(2) << 16) * uint32_t{0x9E3779B1} >> (32 - kTrigramBits);
  }
  void AddTrigrams();
  // False only where it does not.
  bool MayHave(std::string_view part) const;
  size_t FindWord(std::string_view word) const;

  std::string text_;
  std::string words_;  // each behind a space, and a space behind the last
  std::array<uint64_t, (size_t{1} << kTrigramBits) / 64> trigrams_{};  // by hash
  bool mangled_ = false;
};

}  // namespace dladvisor
