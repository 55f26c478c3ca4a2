// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/lines/growth.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dladvisor::training_log {
namespace {

// Fewer times grow by chance; unless they do so evenly or to a multiple, as many as the second.
constexpr size_t kLeastGrowing = 5, kSurelyGrowing = 10;
// A clock that began long before the first line grows by a small part of what it shows. What work takes is
// not as steady as that.
constexpr double kSmallPart = 0.03;
// Differences that are so even, by their standard deviation, are those of a clock.
constexpr double kEven = 0.1;
constexpr double kMultiple = 2;
// Of differences of times with a noise of their own: each that is too great is followed by one that is too
// small. Their correlation is -0.5, and that of a clock's 0.
constexpr size_t kLeastOfNoise = 40;
constexpr double kLeastNoise = 0.05, kMostNoise = 0.45, kLeastTurn = -0.75, kMostTurn = -0.35;

struct Differences {
  std::vector<double> all;
  double mean = 0, deviation = 0;  // relative to the mean
  double turn = 0;                 // correlation of each with the next
};

Differences DifferencesOf(std::span<const TimesOfRun> runs) {
  Differences result;
  for (const TimesOfRun& run : runs)
    for (size_t i = 1; i < run.size(); ++i) result.all.push_back(run[i] - run[i - 1]);
  if (result.all.empty()) return result;
  const auto count = static_cast<double>(result.all.size());
  for (const double difference : result.all) result.mean += difference / count;
  double square = 0, next = 0, pairs = 0;
  for (const double difference : result.all)
    square += (difference - result.mean) * (difference - result.mean) / count;
  for (const TimesOfRun& run : runs)
    for (size_t i = 2; i < run.size(); ++i) {
      next += (run[i] - run[i - 1] - result.mean) * (run[i - 1] - run[i - 2] - result.mean);
      ++pairs;
    }
  result.deviation = std::sqrt(square) / result.mean;
  if (pairs > 0 && square > 0) result.turn = next / pairs / square;
  return result;
}

// The last digit that is printed.
double Resolution(std::span<const TimesOfRun> runs) {
  for (double unit = 1; unit > 1e-6; unit /= 10) {
    const auto whole = [&](double time) { return std::abs(time / unit - std::round(time / unit)) < 1e-4; };
    if (std::ranges::all_of(runs, [&](const TimesOfRun& run) { return std::ranges::all_of(run, whole); }))
      return unit;
  }
  return 0;
}

bool HasNoise(const Differences& differences, double resolution) {
  return differences.all.size() >= kLeastOfNoise && differences.deviation >= kLeastNoise &&
         differences.deviation <= kMostNoise && differences.turn >= kLeastTurn &&
         differences.turn <= kMostTurn && differences.deviation * differences.mean > 2 * resolution;
}

}  // namespace

bool GrowsAsClock(std::span<const TimesOfRun> runs) {
  const Differences differences = DifferencesOf(runs);
  const double resolution = Resolution(runs);
  if (differences.all.size() < kLeastGrowing ||
      std::ranges::any_of(differences.all, [](double difference) { return !(difference > 0); }) ||
      HasNoise(differences, resolution))
    return false;
  const bool multiple = std::ranges::any_of(
      runs, [](const TimesOfRun& run) { return !run.empty() && run.back() > kMultiple * run.front(); });
  double first = 0;
  for (const TimesOfRun& run : runs)
    if (!run.empty()) first = std::max(first, run.front());
  const bool small = differences.all.size() >= kSurelyGrowing && differences.mean <= kSmallPart * first;
  const bool even = differences.deviation <= kEven && differences.mean > 2 * resolution;
  return multiple || small || even;
}

}  // namespace dladvisor::training_log
