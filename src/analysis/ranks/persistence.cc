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

std::optional<Persistence> WorstItems::Find() const {
  std::vector<size_t> tried = {1};  // 1, 2, 3, 5, 8, 13, ...
  for (size_t next = 2; next <= items() / 4;) {
    tried.push_back(next);
    next = tried[tried.size() - 1] + tried[tried.size() - 2];
  }
  std::optional<Persistence> best;
  for (const size_t among : tried) FindAmong(among, static_cast<double>(tried.size()), best);
  return best;
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
