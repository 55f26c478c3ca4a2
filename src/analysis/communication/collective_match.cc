// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/communication/collective_match.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

constexpr size_t kMostCompared = 64;  // calls from which layouts and clocks are derived, evenly spread
constexpr size_t kFewestForOffset = 5;
constexpr double kAgreeingCalls = 0.75;  // share of the calls in which ends must agree
constexpr int kRounds = 30;
// Ends of the groups taken may differ by this much more than those of the best layout.
constexpr double kNearlyAsWell = 2;
constexpr Ns kNearly = 2'000;

// The distance from the median that `share` of the values keep.
int64_t Deviation(std::vector<int64_t> values, double share = 0.5) {
  const int64_t median = IntegerMedian(values);
  for (int64_t& value : values) value = std::abs(value - median);
  return std::llround(Quantile(values, share));
}

std::vector<size_t> SomeOf(size_t count) {
  std::vector<size_t> some;
  const size_t wanted = std::min(count, kMostCompared);
  for (size_t i = 0; i < wanted; ++i) some.push_back(i * count / wanted);
  return some;
}

using Groups = std::vector<int32_t>;  // by track of a kind

int32_t CountOf(const Groups& groups) {
  int32_t count = 0;
  for (const int32_t group : groups) count = std::max(count, group + 1);
  return count;
}

class Matcher {
 public:
  Matcher(std::span<const CollectiveTrack> tracks, std::span<const std::optional<int64_t>> origins)
      : tracks_(tracks) {
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const auto& origin : origins)
      if (origin) first = std::min(first, *origin);
    for (size_t i = 0; i < tracks.size(); ++i) {
      RankClock& clock = result_.clocks.emplace_back();
      clock.origin_utc_ns = origins[i];
      clock.base_ns = origins[i] ? *origins[i] - first : 0;
      if (!tracks[i].calls.empty())
        clock.middle_ns = (tracks[i].calls.front().end + tracks[i].calls.back().end) / 2;
    }
  }

  MatchedCollectives Match() {
    Collect();
    for (MatchedKind& kind : result_.kinds) {
      kind.group_of = kind.kind.group.empty() ? BestLayout(kind) : Groups(kind.tracks.size(), 0);
      kind.groups = CountOf(kind.group_of);
    }
    AlignClocks();
    return std::move(result_);
  }

 private:
  void Collect() {
    std::map<CollectiveTrack::Kind, size_t> index;
    for (size_t t = 0; t < tracks_.size(); ++t)
      for (const CollectiveTrack::Kind& of_track : tracks_[t].kinds) {
        CollectiveTrack::Kind key = of_track;
        if (!key.group.empty()) key.stream = 0;  // the group is decisive, streams are numbered by rank
        const auto [entry, is_new] = index.emplace(key, result_.kinds.size());
        if (is_new) result_.kinds.emplace_back().kind = key;
        std::vector<size_t>& members = result_.kinds[entry->second].tracks;
        if (members.empty() || members.back() != t) members.push_back(t);
      }
    std::erase_if(result_.kinds, [](const MatchedKind& kind) { return kind.tracks.size() < 2; });
    for (MatchedKind& kind : result_.kinds) {
      const auto each = [&](size_t t, auto visit) {
        for (size_t i = 0; i < tracks_[t].calls.size(); ++i) {
          const CollectiveTrack::Call& call = tracks_[t].calls[i];
          CollectiveTrack::Kind key = tracks_[t].kinds[call.kind];
          if (!key.group.empty()) key.stream = 0;
          if (key == kind.kind) visit(call, i);
        }
      };
      // By the framework's number, the first step in which a rank ran it; none where a call has none, or has
      // that of another.
      std::map<int64_t, int64_t> step_of_number;
      bool is_numbered = !kind.kind.group.empty();
      for (const size_t t : kind.tracks) {
        std::set<int64_t> numbers;
        each(t, [&](const CollectiveTrack::Call& call, size_t) {
          is_numbered = is_numbered && call.number != 0 && numbers.insert(call.number).second;
          int64_t& step = step_of_number.try_emplace(call.number, call.step).first->second;
          step = std::min(step, call.step);
        });
      }
      const auto key_of = [&](const CollectiveTrack::Call& call) {
        return is_numbered ? std::pair(step_of_number.at(call.number), call.number)
                           : std::pair(call.step, call.order);
      };
      std::set<std::pair<int64_t, int64_t>> calls;
      for (const size_t t : kind.tracks)
        each(t, [&](const CollectiveTrack::Call& call, size_t) { calls.insert(key_of(call)); });
      kind.calls.assign(calls.begin(), calls.end());
      kind.call_of.assign(kind.tracks.size() * kind.calls.size(), -1);
      for (size_t m = 0; m < kind.tracks.size(); ++m)
        each(kind.tracks[m], [&](const CollectiveTrack::Call& call, size_t i) {
          const auto at =
              std::lower_bound(kind.calls.begin(), kind.calls.end(), key_of(call)) - kind.calls.begin();
          kind.call_of[m * kind.calls.size() + static_cast<size_t>(at)] = static_cast<int32_t>(i);
        });
    }
  }

  std::optional<int64_t> EndOf(const MatchedKind& kind, size_t member, size_t call) const {
    const CollectiveTrack::Call* found = kind.At(tracks_, member, call);
    if (!found) return std::nullopt;
    return result_.clocks[kind.tracks[member]].Common(found->end);
  }

  // How far the ends of a group lie apart in most calls: median over members of the deviation of their
  // distances from the group's median. Where calls are many each member's own offset is left out.
  std::optional<int64_t> Disagreement(const MatchedKind& kind, const Groups& groups) const {
    const std::vector<size_t> calls = SomeOf(kind.calls.size());
    std::vector<std::vector<int64_t>> distances(kind.tracks.size());
    const auto count = static_cast<size_t>(CountOf(groups));
    std::vector<std::vector<std::pair<size_t, int64_t>>> ends(count);
    for (const size_t call : calls) {
      for (auto& of_group : ends) of_group.clear();
      for (size_t m = 0; m < kind.tracks.size(); ++m)
        if (const auto end = EndOf(kind, m, call)) ends[static_cast<size_t>(groups[m])].emplace_back(m, *end);
      for (const auto& of_group : ends) {
        if (of_group.size() < 2) continue;
        std::vector<int64_t> values;
        for (const auto& [m, end] : of_group) values.push_back(end);
        // Of two groups taken for one, neither's own end passes for that of both: the mean of the middle two.
        const int64_t median = IntegerMedian(values);
        for (const auto& [m, end] : of_group) distances[m].push_back(end - median);
      }
    }
    std::vector<int64_t> of_members;
    for (std::vector<int64_t>& own : distances) {
      if (own.empty()) continue;
      if (own.size() >= kFewestForOffset) {
        of_members.push_back(Deviation(std::move(own), kAgreeingCalls));
      } else {
        for (int64_t& distance : own) distance = std::abs(distance);
        of_members.push_back(*std::ranges::max_element(own));
      }
    }
    if (of_members.empty()) return std::nullopt;
    return IntegerMedian(of_members);
  }

  Groups BestLayout(const MatchedKind& kind) const {
    const size_t n = kind.tracks.size();
    std::vector<Groups> layouts;  // the largest groups first
    layouts.emplace_back(n, 0);
    for (size_t size = n / 2; size >= 2; --size) {
      if (n % size != 0) continue;
      Groups blocks(n), strides(n);
      for (size_t m = 0; m < n; ++m) {
        blocks[m] = static_cast<int32_t>(m / size);
        strides[m] = static_cast<int32_t>(m % (n / size));
      }
      layouts.push_back(std::move(blocks));
      layouts.push_back(std::move(strides));
    }
    std::vector<std::optional<int64_t>> apart;
    std::optional<int64_t> best;
    for (const Groups& layout : layouts) {
      apart.push_back(Disagreement(kind, layout));
      if (apart[0] && *apart[0] <= kNearly) return layouts[0];  // however well the others agree
      if (apart.back()) best = std::min(best.value_or(*apart.back()), *apart.back());
    }
    if (best && *best <= kEndsAgree)
      for (size_t i = 0; i < layouts.size(); ++i)
        if (apart[i] && static_cast<double>(*apart[i]) <=
                            kNearlyAsWell * static_cast<double>(*best) + static_cast<double>(kNearly))
          return layouts[i];
    return Groups(n, -1);
  }

  // What each track's ends differ by from the medians of their groups, with the time.
  std::vector<std::vector<std::pair<Ns, int64_t>>> Differences() const {
    std::vector<std::vector<std::pair<Ns, int64_t>>> differences(tracks_.size());
    for (const MatchedKind& kind : result_.kinds) {
      if (kind.groups == 0 || (any_waits_ && !WaitsForAll(kind.kind.collective))) continue;
      std::vector<std::vector<int64_t>> ends(static_cast<size_t>(kind.groups));
      for (const size_t call : SomeOf(kind.calls.size())) {
        for (auto& of_group : ends) of_group.clear();
        for (size_t m = 0; m < kind.tracks.size(); ++m)
          if (const auto end = EndOf(kind, m, call); end && kind.group_of[m] >= 0)
            ends[static_cast<size_t>(kind.group_of[m])].push_back(*end);
        std::vector<int64_t> medians;
        for (auto& of_group : ends) medians.push_back(of_group.size() < 2 ? 0 : IntegerMedian(of_group));
        for (size_t m = 0; m < kind.tracks.size(); ++m) {
          const auto end = EndOf(kind, m, call);
          if (!end || kind.group_of[m] < 0) continue;
          const auto group = static_cast<size_t>(kind.group_of[m]);
          if (ends[group].size() < 2) continue;
          differences[kind.tracks[m]].emplace_back(kind.At(tracks_, m, call)->end, medians[group] - *end);
        }
      }
    }
    return differences;
  }

  void AlignClocks() {
    any_waits_ = std::ranges::any_of(result_.kinds, [](const MatchedKind& kind) {
      return kind.groups > 0 && WaitsForAll(kind.kind.collective);
    });
    for (int round = 0; round < kRounds; ++round) {
      const auto differences = Differences();
      int64_t largest = 0;
      for (size_t t = 0; t < tracks_.size(); ++t) {
        if (differences[t].empty()) continue;
        std::vector<int64_t> values;
        for (const auto& [time, difference] : differences[t]) values.push_back(difference);
        const int64_t shift = IntegerMedian(values);
        result_.clocks[t].offset_ns += shift;
        largest = std::max(largest, std::abs(shift));
      }
      if (largest < 100) break;
    }
    const auto differences = Differences();
    for (size_t t = 0; t < tracks_.size(); ++t) FitDrift(differences[t], result_.clocks[t]);
    const auto remaining = Differences();
    for (size_t t = 0; t < tracks_.size(); ++t) {
      RankClock& clock = result_.clocks[t];
      clock.collectives = static_cast<int64_t>(remaining[t].size());
      if (remaining[t].empty()) continue;
      std::vector<int64_t> values;
      for (const auto& [time, difference] : remaining[t]) values.push_back(difference);
      clock.uncertainty_ns = std::llround(kDeviationPerMad * static_cast<double>(Deviation(values)));
    }
  }

  // Drift is taken where it shows: over the time seen more than three deviations of what it leaves.
  static void FitDrift(const std::vector<std::pair<Ns, int64_t>>& differences, RankClock& clock) {
    if (differences.size() < 2 * kFewestForOffset) return;
    std::vector<double> slopes;
    for (size_t i = 0; i < differences.size(); ++i)
      for (size_t j = i + 1; j < differences.size(); j += 1 + differences.size() / kMostCompared) {
        const auto& [time_a, a] = differences[i];
        const auto& [time_b, b] = differences[j];
        if (time_a != time_b)
          slopes.push_back(static_cast<double>(b - a) / static_cast<double>(time_b - time_a));
      }
    if (slopes.empty()) return;
    const double drift = Median(slopes);
    std::vector<int64_t> values;
    Ns first = differences[0].first, last = first;
    for (const auto& [time, difference] : differences) {
      values.push_back(difference - std::llround(drift * static_cast<double>(time - clock.middle_ns)));
      first = std::min(first, time);
      last = std::max(last, time);
    }
    const double deviation = kDeviationPerMad * static_cast<double>(Deviation(values));
    if (std::abs(drift) * static_cast<double>(last - first) > 3 * std::max(deviation, 1.0))
      clock.drift = drift;
  }

  std::span<const CollectiveTrack> tracks_;
  MatchedCollectives result_;
  bool any_waits_ = false;  // for all: what others end by says nothing of clocks then
};

}  // namespace

bool WaitsForAll(std::string_view collective) {
  return collective == "AllReduce" || collective == "AllGather" || collective == "ReduceScatter" ||
         collective == "AllToAll" || collective == "SendRecv";
}

MatchedCollectives MatchCollectives(std::span<const CollectiveTrack> tracks,
                                    std::span<const std::optional<int64_t>> origins) {
  return Matcher(tracks, origins).Match();
}

}  // namespace dladvisor
