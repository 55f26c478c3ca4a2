// SPDX-License-Identifier: Apache-2.0
#include "src/gate/judge/course.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "src/statistics/probability.h"

namespace dladvisor {
namespace {

using Series = std::span<const double>;
using Random = std::mt19937_64;

// The least chance of a false alarm that is tested: what is less takes too many orders.
constexpr double kLeastAlpha = 0.001;
// The chance that the correlation is above what is taken for plausible: with kDefaultAlpha 1 of 100.
constexpr double kImplausible = 0.0075;

// A rise or fall in a straight line from one run to another, level before and after; of one run to the next
// it is a step.
struct Ramp {
  size_t from = 0, to = 0;
  double explained = 0;  // the sum of squares that it takes off

  double At(size_t run) const {
    if (run <= from) return 0;
    return run >= to ? 1 : static_cast<double>(run - from) / static_cast<double>(to - from);
  }
};

// The one that explains most, by least squares; both of its ends count for kShortestLevel runs or more.
Ramp BestRamp(Series series) {
  const size_t n = series.size();
  const auto runs = static_cast<double>(n);
  double mean = 0;
  for (const double value : series) mean += value / runs;
  std::vector<double> sum(n + 1), along(n + 1);  // of what is before: deviations, and these times their place
  for (size_t i = 0; i < n; ++i) {
    sum[i + 1] = sum[i] + (series[i] - mean);
    along[i + 1] = along[i] + static_cast<double>(i) * (series[i] - mean);
  }
  // Of long histories not every run is tried.
  constexpr size_t kPlaces = 64;
  const size_t stride = (n + kPlaces - 1) / kPlaces;
  Ramp best;
  const auto try_ramp = [&](size_t from, size_t to) {
    const double length = static_cast<double>(to - from), after = static_cast<double>(n - to);
    const double x = (length - 1) / 2 + after;
    if (x < static_cast<double>(kShortestLevel) || runs - x < static_cast<double>(kShortestLevel)) return;
    const double xx = (length - 1) * (2 * length - 1) / (6 * length) + after - x * x / runs;
    const double xy =
        ((along[to] - along[from + 1]) - static_cast<double>(from) * (sum[to] - sum[from + 1])) / length +
        (sum[n] - sum[to]);
    if (const double explained = xy * xy / xx; explained > best.explained) best = {from, to, explained};
  };
  for (size_t from = 0; from + 1 < n; ++from) {
    try_ramp(from, from + 1);
    if (from % stride == 0)
      for (size_t to = from + 2; to < n; to += stride) try_ramp(from, to);
  }
  return best;
}

// What is left of a series without its levels up to the best one, and without the ramp that begins there.
struct Remainder {
  std::vector<double> rest;
  double explained = 0, squares = 0;  // by the ramp; and of the rest

  double Strength() const {
    return squares > 0 ? explained / squares : std::numeric_limits<double>::infinity();
  }
  double Correlation() const {
    double products = 0;
    for (size_t i = 1; i < rest.size(); ++i) products += rest[i] * rest[i - 1];
    return squares > 0 ? products / squares : 0;
  }
};

Remainder RemainderOf(Series series, const Course& course) {
  Remainder left;
  const size_t begin = course.has_changed() ? course.best().begin : 0;
  for (const LevelSegment& level : course.levels)
    for (size_t i = level.begin; i < std::min(level.end, begin); ++i)
      left.rest.push_back(series[i] - level.level);
  const Series since = series.subspan(begin);
  const auto runs = static_cast<double>(since.size());
  const Ramp ramp = BestRamp(since);
  double x = 0, y = 0, xx = 0, xy = 0;
  if (ramp.explained > 0)
    for (size_t i = 0; i < since.size(); ++i) x += ramp.At(i) / runs;
  for (const double value : since) y += value / runs;
  for (size_t i = 0; i < since.size() && ramp.explained > 0; ++i) {
    xx += (ramp.At(i) - x) * (ramp.At(i) - x);
    xy += (ramp.At(i) - x) * (since[i] - y);
  }
  for (size_t i = 0; i < since.size(); ++i)
    left.rest.push_back(since[i] - y - (xx > 0 ? xy / xx * (ramp.At(i) - x) : 0));
  for (const double value : left.rest) left.squares += value * value;
  if (course.has_changed()) left.explained = ramp.explained;
  return left;
}

Remainder RemainderOf(Series series) { return RemainderOf(series, CourseOf(series)); }

// Whether runs of a level differ by no more than what rounding leaves: such runs do not wander.
bool IsExact(Series series, const Course& course) {
  double scale = 0;
  for (const double value : series) scale = std::max(scale, std::abs(value));
  return course.deviation <= 1e-10 * scale;
}

std::vector<double> SimulatedRuns(size_t runs, double correlation, Random& random) {
  std::normal_distribution<double> normal;
  std::vector<double> series(runs);
  double state = normal(random);
  for (double& value : series) {
    value = state;
    state = correlation * state + std::sqrt(1 - correlation * correlation) * normal(random);
  }
  return series;
}

double LargestPlausibleCorrelation(size_t runs, double observed, Random& random) {
  constexpr double kCorrelations[] = {0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9};
  constexpr size_t kHistories = 100;
  const double quantile = StudentQuantile(kImplausible, std::numeric_limits<double>::infinity());
  const auto is_plausible = [&](double correlation) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < kHistories; ++i) {
      const double estimate = RemainderOf(SimulatedRuns(runs, correlation, random)).Correlation();
      sum += estimate / kHistories;
      squares += estimate * estimate / kHistories;
    }
    return observed >= sum - quantile * std::sqrt(std::max(0.0, squares - sum * sum));
  };
  size_t low = 0, high = std::size(kCorrelations) - 1;
  while (low < high) {
    const size_t middle = (low + high + 1) / 2;
    if (is_plausible(kCorrelations[middle]))
      low = middle;
    else
      high = middle - 1;
  }
  return kCorrelations[low];
}

std::vector<double> Innovations(Series rest, double correlation) {
  std::vector<double> innovations;
  for (size_t i = 1; i < rest.size(); ++i) innovations.push_back(rest[i] - correlation * rest[i - 1]);
  return innovations;
}

void Shuffle(std::vector<double>& values, Random& random) {
  for (size_t left = values.size(); left > 1; --left) std::swap(values[left - 1], values[random() % left]);
}

// So many runs made of innovations drawn at random, from where these lead in the long run.
std::vector<double> Drawn(size_t runs, const std::vector<double>& innovations, double correlation,
                          Random& random) {
  double state = 0;
  const auto next = [&] { return state = correlation * state + innovations[random() % innovations.size()]; };
  const auto burn_in = static_cast<size_t>(std::ceil(3 / (1 - correlation)));
  for (size_t i = 0; i < burn_in && correlation > 0; ++i) next();
  std::vector<double> series(runs);
  std::ranges::generate(series, next);
  return series;
}

// Whether at most `alpha` of drawn series are as strong; what was observed is one of them (Phipson and Smyth
// 2010).
template <typename Draw>
bool IsRare(double alpha, Draw is_as_strong) {
  alpha = std::max(alpha, kLeastAlpha);
  const auto orders = static_cast<size_t>(std::ceil(4 / alpha));
  size_t as_strong = 1;
  for (size_t i = 1; i < orders; ++i) {
    as_strong += is_as_strong();
    if (static_cast<double>(as_strong) > alpha * static_cast<double>(orders)) return false;
  }
  return true;
}

}  // namespace

const LevelSegment& Course::best() const {
  return *std::min_element(levels.begin(), levels.end() - 1,
                           [](const auto& a, const auto& b) { return a.level < b.level; });
}

double Course::Strength() const {
  if (!has_changed() || rise() == 0) return 0;
  const double runs =
      1 / (1 / static_cast<double>(best().size()) + 1 / static_cast<double>(current().size()));
  return rise() * std::sqrt(runs) / deviation;
}

Course CourseOf(std::span<const double> series) {
  Course course;
  course.levels = FindLevels(series);
  double sum = 0;
  for (const LevelSegment& level : course.levels)
    for (size_t i = level.begin; i < level.end; ++i) sum += std::abs(series[i] - level.level);
  course.deviation = sum / static_cast<double>(series.size() - course.levels.size());
  return course;
}

CorrelatedNoise NoiseBetween(std::span<const double> series, const Course& course) {
  if (IsExact(series, course)) return {};
  const Remainder left = RemainderOf(series, course);
  Random random(series.size());
  CorrelatedNoise noise;
  noise.correlation = LargestPlausibleCorrelation(series.size(), left.Correlation(), random);
  double squares = 0;
  const std::vector<double> innovations = Innovations(left.rest, noise.correlation);
  for (const double innovation : innovations) squares += innovation * innovation;
  noise.sd = std::sqrt(squares / static_cast<double>(innovations.size()) /
                       (1 - noise.correlation * noise.correlation));
  return noise;
}

bool IsMoreThanNoise(std::span<const double> series, const Course& course, double alpha) {
  Random random(series.size());
  const double strength = std::abs(course.Strength());
  const bool is_rare_order =
      IsRare(alpha, [&, shuffled = std::vector(series.begin(), series.end())]() mutable {
        Shuffle(shuffled, random);
        return std::abs(CourseOf(shuffled).Strength()) >= strength;
      });
  if (!is_rare_order) return false;
  if (IsExact(series, course)) return true;
  const Remainder left = RemainderOf(series, course);
  const double correlation = LargestPlausibleCorrelation(series.size(), left.Correlation(), random);
  const std::vector<double> innovations = Innovations(left.rest, correlation);
  return IsRare(alpha, [&] {
    return RemainderOf(Drawn(series.size(), innovations, correlation, random)).Strength() >= left.Strength();
  });
}

}  // namespace dladvisor
