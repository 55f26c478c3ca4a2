// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ranks/persistence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "src/statistics/probability.h"

namespace dladvisor {
namespace {

// Runs are sought among this many rounds with the item as the worst, evenly spread over all of them: their
// number grows with its square.
constexpr size_t kMostHits = 128;
// What counts need not be asked about any more.
constexpr double kRare = 0.01;
// Rounds whose deviation can be told, at least.
constexpr size_t kFewestRounds = 3;

// The median of sorted values without the one at `left_out`; at least two values.
double MedianWithout(const std::vector<double>& sorted, size_t left_out) {
  const auto at = [&](size_t i) { return sorted[i < left_out ? i : i + 1]; };
  const size_t others = sorted.size() - 1;
  return others % 2 == 1 ? at(others / 2) : (at(others / 2 - 1) + at(others / 2)) / 2;
}

}  // namespace

bool WorstItems::IsAmongWorst(size_t item, size_t round, size_t among) const {
  if (std::isnan(At(item, round))) return false;
  size_t worse = 0;
  for (size_t other = 0; other < items(); ++other)
    worse += At(other, round) > At(item, round);  // NaN is never greater
  return worse < among;
}

void WorstItems::Exclude(size_t item, size_t first, size_t last) {
  for (size_t round = first; round <= last; ++round) values_[item * rounds_ + round] = kAbsent;
}

WorstItems WorstItems::ExcessOverOthers() const {
  WorstItems excess(items(), rounds_);
  std::vector<std::pair<double, size_t>> values;
  std::vector<double> sorted;
  for (size_t round = 0; round < rounds_; ++round) {
    values.clear();
    for (size_t item = 0; item < items(); ++item)
      if (!std::isnan(At(item, round))) values.emplace_back(At(item, round), item);
    if (values.size() < 2) continue;
    std::ranges::sort(values);
    sorted.clear();
    for (const auto& [value, item] : values) sorted.push_back(value);
    for (size_t i = 0; i < values.size(); ++i)
      excess.Set(values[i].second, round, values[i].first - MedianWithout(sorted, i));
  }
  return excess;
}

std::optional<Persistence> WorstItems::Find() const {
  std::vector<size_t> tried = {1};  // 1, 2, 3, 5, 8, 13, ...
  for (size_t next = 2; next <= items() / 4;) {
    tried.push_back(next);
    next = tried[tried.size() - 1] + tried[tried.size() - 2];
  }
  std::optional<Persistence> best;
  for (const size_t among : tried) FindAmong(among, static_cast<double>(tried.size()), best);
  if (!best || best->probability > kRare) FindBySize(best);
  return best;
}

void WorstItems::FindBySize(std::optional<Persistence>& best) const {
  const WorstItems excess = ExcessOverOthers();
  for (size_t item = 0; item < items(); ++item) {
    Persistence run{item, 0, 0, 0, 0, 1, 1};
    double sum = 0, squares = 0;
    for (size_t round = 0; round < rounds_; ++round) {
      const double value = excess.At(item, round);
      if (std::isnan(value)) continue;
      if (run.rounds++ == 0) run.first = round;
      run.last = round;
      run.worst += IsAmongWorst(item, round, 1);
      sum += value;
      squares += value * value;
    }
    const auto n = static_cast<double>(run.rounds);
    if (run.rounds < static_cast<int64_t>(kFewestRounds) || !(sum > 0)) continue;
    const double variance = (squares - sum * sum / n) / (n - 1);
    if (!(variance > 0)) continue;
    const double t = sum / n / std::sqrt(variance / n);
    run.probability = std::min(1.0, 2 * StudentTail(t, n - 1) * static_cast<double>(items()));
    if (!best || run.probability < best->probability) best = run;
  }
}

void WorstItems::FindAmong(size_t among, double looked_at, std::optional<Persistence>& best) const {
  const size_t n = items();
  std::map<size_t, std::vector<size_t>> hits;  // by item, rounds in which it is among the worst
  std::vector<int64_t> peers(rounds_, 0);
  size_t used = 0;
  std::vector<std::pair<double, size_t>> values;
  for (size_t round = 0; round < rounds_; ++round) {
    values.clear();
    for (size_t item = 0; item < n; ++item)
      if (!std::isnan(At(item, round))) values.emplace_back(-At(item, round), item);
    peers[round] = static_cast<int64_t>(values.size());
    if (values.size() < 2 * among) continue;
    ++used;
    std::partial_sort(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(among), values.end());
    for (size_t i = 0; i < among; ++i) hits[values[i].second].push_back(round);
  }
  const auto runs = static_cast<double>(used) * static_cast<double>(used + 1) / 2;
  const auto corrected = [&](double chance) {
    return std::min(1.0, chance * runs * static_cast<double>(n) * looked_at);
  };
  for (const auto& [item, rounds] : hits) {
    // Rounds and hits before each round, of those in which the item took part among peers.
    std::vector<int64_t> part(rounds_ + 1, 0), worst(rounds_ + 1, 0);
    std::vector<double> chance(rounds_ + 1, 0);  // sum of among / peers
    size_t hit = 0;
    for (size_t round = 0; round < rounds_; ++round) {
      const bool takes_part = peers[round] >= static_cast<int64_t>(2 * among) && !std::isnan(At(item, round));
      const bool is_hit = hit < rounds.size() && rounds[hit] == round;
      hit += is_hit;
      part[round + 1] = part[round] + takes_part;
      worst[round + 1] = worst[round] + is_hit;
      chance[round + 1] =
          chance[round] + (takes_part ? static_cast<double>(among) / static_cast<double>(peers[round]) : 0);
    }
    std::vector<size_t> ends = rounds;
    if (ends.size() > kMostHits) {
      ends.clear();
      for (size_t i = 0; i < kMostHits; ++i)
        ends.push_back(rounds[i * (rounds.size() - 1) / (kMostHits - 1)]);
    }
    for (size_t a = 0; a < ends.size(); ++a)
      for (size_t b = a; b < ends.size(); ++b) {
        Persistence run{
            item,  ends[a], ends[b], part[ends[b] + 1] - part[ends[a]], worst[ends[b] + 1] - worst[ends[a]],
            among, 1};
        const double p = (chance[ends[b] + 1] - chance[ends[a]]) / static_cast<double>(run.rounds);
        // Only runs in which it is a hit more often than others are can become the best.
        if (static_cast<double>(run.worst) <= p * static_cast<double>(run.rounds)) continue;
        // The bound is cheap, and mostly shows that the run is not the best.
        if (best && corrected(BinomialTailBound(run.rounds, run.worst, p)) >= best->probability) continue;
        run.probability = corrected(BinomialTail(run.rounds, run.worst, p));
        if (!best || run.probability < best->probability) best = run;
      }
  }
}

}  // namespace dladvisor
