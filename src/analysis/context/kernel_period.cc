// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/kernel_period.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace dladvisor {
namespace {

constexpr double kMinCoverage = 0.8;

// z[i]: length of the longest common prefix of `s` and its suffix from i (the Z algorithm; Gusfield 1997).
std::vector<uint32_t> CommonPrefixes(const std::vector<uint32_t>& s) {
  std::vector<uint32_t> z(s.size(), 0);
  for (size_t i = 1, left = 0, right = 0; i < s.size(); ++i) {
    size_t length = i < right ? std::min<size_t>(right - i, z[i - left]) : 0;
    while (i + length < s.size() && s[length] == s[i + length]) ++length;
    z[i] = static_cast<uint32_t>(length);
    if (i + length > right) {
      left = i;
      right = i + length;
    }
  }
  return z;
}

// The period of the sequence that ends `tail` items before the end. Only the shortest counts: a longer one
// that repeats as often is several of its rounds (Fine and Wilf 1965).
std::optional<SequencePeriod> PeriodBefore(std::span<const uint32_t> sequence, size_t tail,
                                           const PeriodCriteria& least) {
  const size_t size = sequence.size() - tail;
  const std::vector<uint32_t> z =
      CommonPrefixes({sequence.rbegin() + static_cast<std::ptrdiff_t>(tail), sequence.rend()});
  for (size_t period = 1; period * least.repeats <= size; ++period) {
    const size_t covered = period + z[period];
    if (covered < period * least.repeats ||
        static_cast<double>(covered) < kMinCoverage * static_cast<double>(sequence.size()))
      continue;
    const auto last = sequence.begin() + static_cast<std::ptrdiff_t>(size);
    if (period < least.items ||
        std::set<uint32_t>(last - static_cast<std::ptrdiff_t>(period), last).size() < least.names)
      return std::nullopt;
    const size_t count = covered / period;
    return SequencePeriod{period, size - count * period, count};
  }
  return std::nullopt;
}

}  // namespace

std::optional<SequencePeriod> FindPeriod(std::span<const uint32_t> sequence, const PeriodCriteria& least) {
  if (sequence.size() < least.items * least.repeats) return std::nullopt;
  // What follows the last step (evaluation, a checkpoint) breaks the repetition: try without ever more of it.
  for (size_t tail = 0; tail * 10 <= sequence.size(); tail = tail == 0 ? 1 : tail * 2)
    if (auto period = PeriodBefore(sequence, tail, least)) return period;
  return std::nullopt;
}

SequencePeriod WithoutAlternation(std::span<const uint32_t> sequence, const SequencePeriod& found) {
  const size_t half = found.period / 2;
  if (found.period % 2 != 0 || half < PeriodCriteria().items) return found;
  const auto at = [&](size_t i) { return sequence[found.first + i % found.period]; };
  std::map<uint32_t, int64_t> more;  // of an item in the first half than in the second; none where equal
  const auto count = [&](uint32_t item, int64_t by) {
    const auto entry = more.try_emplace(item, 0).first;
    if ((entry->second += by) == 0) more.erase(entry);
  };
  for (size_t i = 0; i < half; ++i) {
    count(at(i), 1);
    count(at(i + half), -1);
  }
  size_t shift = 0;
  for (; shift < half && !more.empty(); ++shift) {
    count(at(shift), -2);
    count(at(shift + half), 2);
  }
  if (!more.empty()) return found;
  size_t same = 0;
  for (size_t i = 0; i < half; ++i) same += at(shift + i) == at(shift + half + i);
  if (2 * same < half) return found;
  const size_t length = found.count * found.period - shift;
  return {half, found.first + shift, length / half};
}

}  // namespace dladvisor
