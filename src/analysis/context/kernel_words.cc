// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_words.h"

#include <algorithm>
#include <utility>

namespace dladvisor {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kLookAlikes = {
    {{"fbgemm_gpu", ""},
     {"cublasgemv", ""},
     {"cublasgemm", ""},
     {"cudnnconvolutionstruct", ""},
     {"cutlass::bfloat16_t", "bfloat16"},
     {"cutlass::half_t", "half"},
     {"cutlass::float_e", "e"},
     {"fp8kvcachedatatype", ""}}};

bool IsWordCharacter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

}  // namespace

KernelWords::KernelWords(std::string_view name) : text_(name) {
  for (char& c : text_)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  AddTrigrams();
  for (const auto& [part, instead] : kLookAlikes) {
    if (!Has(part)) continue;
    for (size_t at = text_.find(part); at != std::string::npos; at = text_.find(part, at))
      text_.replace(at, part.size(), instead);
    AddTrigrams();  // those that are no more do no harm
  }
  mangled_ = text_.starts_with("_z");
  words_ = " ";
  if (mangled_) return;
  words_.reserve(text_.size() + 2);
  for (const char c : text_)
    if (IsWordCharacter(c))
      words_ += c;
    else if (words_.back() != ' ')
      words_ += ' ';
  if (words_.back() != ' ') words_ += ' ';
}

bool KernelWords::HasAny(std::initializer_list<std::string_view> parts) const {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return Has(part); });
}

bool KernelWords::HasAnyWord(std::initializer_list<std::string_view> words) const {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return HasWord(word); });
}

std::string_view KernelWords::WordAfter(std::string_view word, size_t distance) const {
  size_t at = FindWord(word);
  if (at == std::string::npos) return {};
  for (size_t i = 0; i < distance; ++i)
    if (at = words_.find(' ', at + 1); at == std::string::npos) return {};
  const size_t end = words_.find(' ', at + 1);
  return end == std::string::npos ? std::string_view()
                                  : std::string_view(words_).substr(at + 1, end - at - 1);
}

void KernelWords::AddTrigrams() {
  for (size_t i = 0; i + 3 <= text_.size(); ++i) {
    const size_t hash = HashOf(text_, i);
    trigrams_[hash / 64] |= uint64_t{1} << hash % 64;
  }
}

bool KernelWords::MayHave(std::string_view part) const {
  for (size_t i = 0; i + 3 <= part.size(); ++i)
    if (const size_t hash = HashOf(part, i); (trigrams_[hash / 64] >> hash % 64 & 1) == 0) return false;
  return true;
}

// Where the space before it stands.
size_t KernelWords::FindWord(std::string_view word) const {
  if (!MayHave(word)) return std::string::npos;
  for (size_t at = words_.find(word); at != std::string::npos; at = words_.find(word, at + 1))
    if (words_[at - 1] == ' ' && words_[at + word.size()] == ' ') return at - 1;
  return std::string::npos;
}

}  // namespace dladvisor
