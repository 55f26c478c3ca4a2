// SPDX-License-Identifier: Apache-2.0
// Small text helpers that the standard library lacks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dladvisor {

// The candidate with the least edit distance to `word`, when near enough to be a likely typo.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

// " (did you mean X?)" for the nearest candidate, or "".
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

// `text` with every byte that is not valid UTF-8 replaced by U+FFFD: names from profiles can hold anything.
std::string ValidUtf8(std::string_view text);

// The parts of `text` between separators, without empty ones: "a  b", ' ' -> "a", "b".
std::vector<std::string_view> Split(std::string_view text, char separator);

// "Step time" -> "step time", "GPU memory" as it is.
std::string WithinSentence(std::string text);

// 1234567 -> "1,234,567".
std::string WithThousands(int64_t n);

// Three digits, or whole from 1,000 on: a rate that is measured is no more exact.
std::string ThreeDigits(double value);

}  // namespace dladvisor
