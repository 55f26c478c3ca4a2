// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/spans/uneven_spans.h"

#include <algorithm>
#include <map>
#include <utility>

namespace dladvisor {
namespace {

constexpr size_t kLeastPeers = 3;
constexpr double kMostOfThem = 0.5;  // that have the name, and of the time that they last
constexpr double kFarMore = 1.5;     // than the mean
constexpr double kLeastUneven = 0.05;

struct Peer {
  std::string name;
  double start = 0, end = 0, busy = 0, waits = 0;
  size_t tracks = 0;
  std::map<uint32_t, double> self;  // by name
};

// A process, or a track, with what its spans take.
class Peers {
 public:
  Peers(const ProgramSpans& spans, const SpanTimes& times, const std::vector<uint32_t>& names,
        const std::vector<bool>& waits)
      : spans_(spans), times_(times), names_(names), waits_(waits) {}

  // The groups of those that are compared.
  std::vector<std::vector<Peer>> Groups(bool of_processes) const {
    std::map<int64_t, std::map<int64_t, Peer>> groups;
    const auto peer_of = [&](uint32_t track) -> Peer& {
      const SpanTrack& t = spans_.tracks[track];
      return of_processes ? groups[0][t.process] : groups[t.process][track];
    };
    for (uint32_t i = 0; i < spans_.tracks.size(); ++i) {
      const TrackTimes& track = times_.tracks[i];
      if (track.spans == 0) continue;
      Peer& peer = peer_of(i);
      const bool is_first = peer.tracks++ == 0;
      peer.name = of_processes ? spans_.tracks[i].process_name : spans_.tracks[i].name;
      peer.start = is_first ? track.start_ns : std::min(peer.start, track.start_ns);
      peer.end = is_first ? track.end_ns : std::max(peer.end, track.end_ns);
      peer.busy += track.busy_ns;
    }
    for (size_t i = 0; i < spans_.size(); ++i) {
      Peer& peer = peer_of(spans_.track[i]);
      peer.self[names_[i]] += times_.self_ns[i];
      if (waits_[names_[i]]) peer.waits += times_.self_ns[i];
    }
    std::vector<std::vector<Peer>> list;
    for (auto& [key, peers] : groups) {
      std::vector<Peer>& group = list.emplace_back();
      for (auto& [number, peer] : peers) group.push_back(std::move(peer));
    }
    return list;
  }

 private:
  const ProgramSpans& spans_;
  const SpanTimes& times_;
  const std::vector<uint32_t>& names_;
  const std::vector<bool>& waits_;
};

// Those that come and go, as requests do, are no peers: each takes its own time.
bool LastAsLong(const std::vector<Peer>& group) {
  double start = group.front().start, end = group.front().end;
  for (const Peer& peer : group) {
    start = std::min(start, peer.start);
    end = std::max(end, peer.end);
  }
  const auto lasting = std::ranges::count_if(
      group, [&](const Peer& peer) { return peer.end - peer.start >= kMostOfThem * (end - start); });
  return static_cast<double>(lasting) >= 0.8 * static_cast<double>(group.size());
}

bool AreMost(size_t count, size_t of) {
  return static_cast<double>(count) >= kMostOfThem * static_cast<double>(of);
}

std::optional<UnevenSpans> UnevenOf(const std::vector<Peer>& group, uint32_t name, double duration,
                                    double mean_busy) {
  const Peer *most = nullptr, *least = nullptr;
  double sum = 0;
  size_t count = 0;
  for (const Peer& peer : group) {
    const auto self = peer.self.find(name);
    if (self == peer.self.end()) continue;
    ++count;
    sum += self->second;
    if (most == nullptr || self->second > most->self.at(name)) most = &peer;
    if (least == nullptr || self->second < least->self.at(name)) least = &peer;
  }
  const double most_ns = most->self.at(name), least_ns = least->self.at(name),
               mean = sum / static_cast<double>(count);
  if (most_ns < kFarMore * mean || most_ns - mean < kLeastUneven * mean_busy) return std::nullopt;
  const auto waiting = [&](const Peer& peer) {
    return peer.waits + static_cast<double>(peer.tracks) * duration - peer.busy;
  };
  if (waiting(*least) - waiting(*most) < kMostOfThem * (most_ns - least_ns)) return std::nullopt;
  return UnevenSpans{.name = name,
                     .most = most->name,
                     .least = least->name,
                     .peers = static_cast<int64_t>(count),
                     .most_ns = most_ns,
                     .mean_ns = mean,
                     .least_ns = least_ns,
                     .excess_share = (most_ns - mean) / mean_busy};
}

}  // namespace

std::optional<UnevenSpans> FindUnevenSpans(const ProgramSpans& spans, const SpanTimes& times,
                                           const std::vector<uint32_t>& names,
                                           const std::vector<bool>& waits) {
  const Peers peers(spans, times, names, waits);
  std::vector<std::vector<Peer>> groups = peers.Groups(true);
  const bool of_processes = !groups.empty() && groups.front().size() >= kLeastPeers;
  if (!of_processes) groups = peers.Groups(false);
  std::optional<UnevenSpans> worst;
  for (const std::vector<Peer>& group : groups) {
    if (group.size() < kLeastPeers || !LastAsLong(group)) continue;
    double busy = 0;
    std::map<uint32_t, size_t> holders;  // by name
    for (const Peer& peer : group) {
      busy += peer.busy;
      for (const auto& [name, ns] : peer.self) ++holders[name];
    }
    if (!(busy > 0)) continue;
    for (const auto& [name, count] : holders) {
      if (waits[name] || count < kLeastPeers || !AreMost(count, group.size())) continue;
      const auto uneven = UnevenOf(group, name, times.duration_ns, busy / static_cast<double>(group.size()));
      if (uneven && (!worst || uneven->excess_share > worst->excess_share)) worst = uneven;
    }
  }
  if (worst) worst->of_processes = of_processes;
  return worst;
}

}  // namespace dladvisor
