// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_repeats.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace dladvisor {
namespace {

// What processes that print beside each other have in common is less.
constexpr int64_t kLeastLinesTwice = 3;
// Where most is done twice, the lines are of several processes.
constexpr int64_t kMostPart = 2;

int64_t RepeatedOf(std::vector<std::pair<int64_t, int64_t>> covered) {
  std::ranges::sort(covered);
  int64_t all = 0, repeated = 0, lines = 0, end = covered.empty() ? 0 : covered.front().first;
  for (const auto& [from, to] : covered) {
    const int64_t twice = std::max<int64_t>(0, std::min(to, end) - from);
    repeated += twice;
    lines += twice > 0;
    all += to - from;
    end = std::max(end, to);
  }
  return lines >= kLeastLinesTwice && kMostPart * repeated < all ? repeated : 0;
}

}  // namespace

int64_t RepeatedIterations(const std::vector<TrainingLogRow>& log) {
  int64_t repeated = 0;
  std::vector<std::pair<int64_t, int64_t>> covered;
  for (size_t i = 0; i < log.size(); ++i) {
    const int64_t covers = log[i].covers.value_or(1), from = log[i].iteration - covers;
    if (i > 0 && log[i].attempt != log[i - 1].attempt && from <= std::max<int64_t>(covers, 1))
      repeated += RepeatedOf(std::exchange(covered, {}));
    covered.emplace_back(from, log[i].iteration);
  }
  return repeated + RepeatedOf(std::move(covered));
}

}  // namespace dladvisor
