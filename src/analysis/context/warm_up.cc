// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/warm_up.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

std::vector<double> LengthsOf(std::span<const Step> steps) {
  std::vector<double> lengths;
  for (const Step& step : steps) lengths.push_back(static_cast<double>(step.time.length()));
  return lengths;
}

// How long steps are, and how much work they have.
struct Usual {
  double median = 0, deviation = 0, operations = 0;

  explicit Usual(std::span<const Step> steps) {
    std::vector<double> lengths = LengthsOf(steps), work;
    for (const Step& step : steps) work.push_back(static_cast<double>(step.operations));
    median = Median(lengths);
    deviation = kDeviationPerMad * MedianAbsoluteDeviation(lengths);
    operations = Median(work);
  }

  // What was launched before the profile began, autotuning.
  bool HasOtherWork(const Step& step) const {
    return std::abs(static_cast<double>(step.operations) - operations) > 0.2 * operations;
  }
  bool IsLonger(const Step& step) const {
    const auto length = static_cast<double>(step.time.length());
    return length > median + 5 * deviation && length > 1.2 * median;
  }
};

// Whether steps become shorter all the way, as of work that shrinks: each quarter than the one before.
bool Shrink(std::span<const Step> steps) {
  constexpr size_t kParts = 4;
  const size_t part = steps.size() / kParts;
  if (part == 0) return false;
  double before = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < kParts; ++i) {
    const double median = Median(LengthsOf(steps.subspan(i * part, part)));
    if (before <= 1.1 * median) return false;
    before = median;
  }
  return true;
}

// How many of the first steps end with one that does at its first use what none does later: far longer than
// all behind it. 0 where none does.
size_t FirstUses(std::span<const Step> steps) {
  constexpr size_t kFirst = 5, kLeastBehind = 10;
  constexpr double kFarLonger = 10, kOfOthers = 3;
  if (steps.size() < kFirst + kLeastBehind) return 0;
  const std::vector<double> lengths = LengthsOf(steps);
  std::vector<double> all = lengths;
  const double median = Median(all);
  double behind = *std::ranges::max_element(lengths.begin() + kFirst, lengths.end());
  for (size_t i = kFirst; i > 0; --i) {
    if (lengths[i - 1] > kFarLonger * median && lengths[i - 1] > kOfOthers * behind) return i;
    behind = std::max(behind, lengths[i - 1]);
  }
  return 0;
}

}  // namespace

void MarkWarmup(std::vector<Step>& steps) {
  const std::span<const Step> all(steps);
  size_t count = 0, least = 0;  // least: those up to the last with other work
  std::optional<Usual> usual;   // of later steps; of many it is hardly another one for the next step
  for (size_t next = 0; count < steps.size() / 3; ++count) {
    if (count >= next) {
      usual.emplace(all.subspan(count + 1));
      next = count + 1 + count / 4;
    }
    const bool other_work = usual->HasOtherWork(steps[count]);
    if (!other_work && !usual->IsLonger(steps[count])) break;
    if (other_work) least = count + 1;
  }
  // A warm-up ends at once where what follows shrinks, too.
  const auto length = [&](size_t i) { return static_cast<double>(steps[i].time.length()); };
  if (count > least && Shrink(all.subspan(count)))
    while (count > least && length(count - 1) <= 1.2 * length(count)) --count;
  count = std::max(count, FirstUses(all));
  for (size_t i = 0; i < count; ++i) steps[i].warmup = true;
}

void MarkCutOff(std::vector<Step>& steps) {
  constexpr size_t kLeast = 3;
  constexpr double kMissing = 0.05;
  if (steps.size() < kLeast) return;
  const auto wait = [](const Step& s) { return static_cast<double>(s.gpu.start - s.time.start); };
  std::vector<double> waits;
  for (const Step& step : std::span(steps).subspan(1)) waits.push_back(wait(step));
  std::vector<double> lengths = LengthsOf(std::span<const Step>(steps).subspan(1));
  if (Median(waits) - wait(steps.front()) > kMissing * Median(lengths)) steps.front().warmup = true;
}

bool HaveEqualWork(const std::vector<Step>& steps) {
  if (steps.empty()) return false;
  const Usual usual(steps);
  const auto odd = std::ranges::count_if(steps, [&](const Step& step) { return usual.HasOtherWork(step); });
  return usual.operations > 0 && 5 * odd <= std::ssize(steps);
}

}  // namespace dladvisor
