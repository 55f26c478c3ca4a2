// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/align_steps.h"

#include <algorithm>
#include <cstdlib>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

constexpr double kWithin = 0.25;  // of a step

int64_t StepLength(const StepStarts& starts) {
  std::vector<int64_t> lengths;
  for (size_t i = 1; i < starts.size(); ++i) lengths.push_back(starts[i] - starts[i - 1]);
  return lengths.empty() ? 0 : IntegerMedian(lengths);
}

std::optional<int64_t> ShiftOf(const StepStarts& starts, const StepStarts& reference) {
  const auto count = static_cast<int64_t>(starts.size()), others = static_cast<int64_t>(reference.size());
  const int64_t needed = (std::min(count, others) + 1) / 2;
  std::optional<int64_t> best;
  int64_t least = 0;
  for (int64_t shift = needed - count; shift <= others - needed; ++shift) {
    std::vector<int64_t> distances;
    for (int64_t i = std::max<int64_t>(0, -shift); i < count && i + shift < others; ++i)
      distances.push_back(
          std::abs(starts[static_cast<size_t>(i)] - reference[static_cast<size_t>(i + shift)]));
    if (static_cast<int64_t>(distances.size()) < needed) continue;
    const int64_t distance = IntegerMedian(distances);
    if (!best || distance < least) {
      best = shift;
      least = distance;
    }
  }
  if (!best || static_cast<double>(least) > kWithin * static_cast<double>(StepLength(reference)))
    return std::nullopt;
  return best;
}

}  // namespace

std::vector<std::optional<int64_t>> StepShifts(const std::vector<StepStarts>& profiles) {
  const StepStarts* reference = nullptr;
  std::vector<std::optional<int64_t>> shifts;
  for (const StepStarts& starts : profiles) {
    if (starts.empty() || !reference)
      shifts.emplace_back(0);
    else
      shifts.push_back(ShiftOf(starts, *reference));
    if (!starts.empty() && !reference) reference = &starts;
  }
  return shifts;
}

}  // namespace dladvisor
