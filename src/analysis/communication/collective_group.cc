// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/communication/collective_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "src/analysis/communication/collective.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/persistence.h"
#include "src/capture/capability.h"
#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// Groups of which fewer calls than this share have their ends after the last start were matched wrongly.
constexpr double kPlausible = 0.95;

// "0-7", "0, 8, 16, ..." or all of few.
std::string RanksText(const std::vector<int64_t>& ranks) {
  constexpr size_t kShown = 4;
  if (ranks.size() > 2 && ranks.back() - ranks.front() + 1 == static_cast<int64_t>(ranks.size()))
    return fmt::format("{}-{}", ranks.front(), ranks.back());
  if (ranks.size() <= kShown + 4) return fmt::format("{}", fmt::join(ranks, ", "));
  return fmt::format("{}, ... {}", fmt::join(ranks.begin(), ranks.begin() + kShown, ", "), ranks.back());
}

// One collective of one group.
struct GroupCall {
  int64_t step = 0;
  double transfer_ns = 0, bytes = -1;
  int64_t last_rank = 0;
  double lead_ns = 0;     // of the last but one over the last to come
  double waiting_ns = 0;  // mean over ranks
};

struct WaitSums {
  double calls = 0, transfer = 0, waiting = 0, exposed_transfer = 0, exposed_waiting = 0;

  void Add(const WaitSums& other) {
    calls += other.calls;
    transfer += other.transfer;
    waiting += other.waiting;
    exposed_transfer += other.exposed_transfer;
    exposed_waiting += other.exposed_waiting;
  }
};

class Kind {
 public:
  Kind(const MatchedKind& kind, const MatchedCollectives& matched, std::span<const CollectiveTrack> tracks)
      : kind_(kind), matched_(matched), tracks_(tracks) {}

  // The calls of each group that all its members have; sums of each member into `waits`, by track.
  std::vector<std::vector<GroupCall>> Calls(std::map<size_t, WaitSums>& waits) const {
    std::vector<std::vector<size_t>> members(static_cast<size_t>(kind_.groups));
    for (size_t m = 0; m < kind_.tracks.size(); ++m)
      members[static_cast<size_t>(kind_.group_of[m])].push_back(m);
    std::vector<std::vector<GroupCall>> calls(members.size());
    for (size_t g = 0; g < members.size(); ++g) {
      std::map<size_t, WaitSums> of_group;
      size_t possible = 0;
      for (size_t c = 0; c < kind_.calls.size(); ++c) {
        const auto call = Call(members[g], c, of_group);
        if (!call) continue;
        calls[g].push_back(*call);
        possible += call->transfer_ns >= 0;
      }
      if (static_cast<double>(possible) < kPlausible * static_cast<double>(calls[g].size())) {
        calls[g].clear();
        continue;
      }
      for (const auto& [track, sums] : of_group) waits[track].Add(sums);
    }
    return calls;
  }

 private:
  std::optional<GroupCall> Call(const std::vector<size_t>& members, size_t c,
                                std::map<size_t, WaitSums>& waits) const {
    GroupCall result;
    result.step = kind_.calls[c].first;
    Ns latest = 0, second = 0;
    bool first = true;
    int64_t uncertainty = 0;
    std::vector<double> transfers;
    for (const size_t m : members) {
      const CollectiveTrack::Call* call = kind_.At(tracks_, m, c);
      if (!call) return std::nullopt;
      const RankClock& clock = matched_.clocks[kind_.tracks[m]];
      const Ns start = clock.Common(call->start);
      uncertainty = std::max(uncertainty, clock.uncertainty_ns.value_or(0));
      if (first || start > latest) {
        second = first ? start : latest;
        latest = start;
        result.last_rank = tracks_[kind_.tracks[m]].rank;
      } else {
        second = std::max(second, start);
      }
      first = false;
      result.bytes = std::max(result.bytes, static_cast<double>(call->bytes));
    }
    if (members.size() < 2) return std::nullopt;
    for (const size_t m : members) {
      const CollectiveTrack::Call& call = *kind_.At(tracks_, m, c);
      const RankClock& clock = matched_.clocks[kind_.tracks[m]];
      const Ns duration = call.end - call.start;
      Ns waiting = latest - clock.Common(call.start);
      if (waiting <= uncertainty) waiting = 0;
      waiting = std::min(waiting, duration);
      transfers.push_back(static_cast<double>(clock.Common(call.end) - latest));
      result.waiting_ns += static_cast<double>(waiting) / static_cast<double>(members.size());
      // What is exposed is one interval but for computation that starts and ends while it runs.
      const Ns before = std::clamp<Ns>(waiting - (call.exposed_from - call.start), 0, call.exposed_ns);
      WaitSums& sums = waits[kind_.tracks[m]];
      ++sums.calls;
      sums.waiting += static_cast<double>(waiting);
      sums.transfer += static_cast<double>(duration - waiting);
      sums.exposed_waiting += static_cast<double>(before);
      sums.exposed_transfer += static_cast<double>(call.exposed_ns - before);
    }
    result.transfer_ns = Median(transfers);
    result.lead_ns = static_cast<double>(latest - second);
    return result;
  }

  const MatchedKind& kind_;
  const MatchedCollectives& matched_;
  std::span<const CollectiveTrack> tracks_;
};

// Who comes last, by the steps in which it is last most often.
void FindLast(const std::vector<GroupCall>& calls, const std::vector<int64_t>& ranks,
              CollectiveGroupRow& row) {
  std::map<int64_t, std::map<int64_t, int64_t>> last;  // by step and rank, calls
  for (const GroupCall& call : calls) ++last[call.step][call.last_rank];
  WorstItems items(ranks.size(), last.size());
  size_t round = 0;
  for (const auto& [step, counts] : last) {
    for (size_t i = 0; i < ranks.size(); ++i) {
      const auto found = counts.find(ranks[i]);
      items.Set(i, round, found == counts.end() ? 0 : static_cast<double>(found->second));
    }
    ++round;
  }
  const auto worst = items.Find();
  if (!worst) return;
  row.last_rank = ranks[worst->item];
  row.last_steps = worst->worst;
  row.last_probability = worst->probability;
}

// Whether ranks of a group are missing: fewer than the framework names, or the largest group there can be
// while the job has more ranks than were recorded.
bool IsIncomplete(const CollectiveTrack::Kind& kind, size_t members, size_t tracks,
                  std::optional<int64_t> world_size) {
  if (!kind.group_ranks.empty() && kind.group_ranks.find("...") == std::string::npos)
    return members < 1 + static_cast<size_t>(std::ranges::count(kind.group_ranks, ','));
  return members == tracks && world_size && static_cast<int64_t>(tracks) < *world_size;
}

struct Group {
  std::vector<GroupCall> calls;
  CollectiveGroupRow row;
};

// Of groups that run the same collectives, whether one takes longer step after step.
void CompareGroups(const std::vector<Group*>& groups) {
  std::map<int64_t, std::vector<double>> transfer;  // by step and group
  for (size_t g = 0; g < groups.size(); ++g)
    for (const GroupCall& call : groups[g]->calls) {
      std::vector<double>& of_step = transfer[call.step];
      of_step.resize(groups.size(), WorstItems::kAbsent);
      of_step[g] = std::isnan(of_step[g]) ? call.transfer_ns : of_step[g] + call.transfer_ns;
    }
  WorstItems items(groups.size(), transfer.size());
  std::vector<int64_t> steps;
  for (const auto& [step, of_groups] : transfer) {
    for (size_t g = 0; g < groups.size(); ++g) items.Set(g, steps.size(), of_groups[g]);
    steps.push_back(step);
  }
  for (Group* group : groups) group->row.peers = static_cast<int64_t>(groups.size());
  const auto worst = items.Find();
  if (!worst) return;
  CollectiveGroupRow& row = groups[worst->item]->row;
  std::vector<double> own, others;
  for (size_t s = worst->first; s <= worst->last; ++s) {
    std::vector<double> of_step;
    for (size_t g = 0; g < groups.size(); ++g)
      if (g != worst->item && !std::isnan(items.At(g, s))) of_step.push_back(items.At(g, s));
    if (of_step.empty() || std::isnan(items.At(worst->item, s))) continue;
    others.push_back(Median(of_step));
    own.push_back(items.At(worst->item, s) - others.back());
  }
  if (own.empty()) return;
  row.peers_transfer_ns = Median(others);
  row.excess_ns = Median(own);
  row.first_step = steps[worst->first];
  row.last_step = steps[worst->last];
  row.slowest_steps = worst->worst;
  row.probability = worst->probability;
}

// A group's row from its calls, of which there is one at least. `ranks` and `nodes` are those of its members.
CollectiveGroupRow RowOf(const CollectiveTrack::Kind& kind, const std::vector<GroupCall>& calls,
                         const std::vector<int64_t>& ranks, const std::set<std::optional<int64_t>>& nodes) {
  CollectiveGroupRow row;
  row.collective = kind.collective;
  row.stream = kind.stream;
  row.ranks = RanksText(ranks);
  row.size = static_cast<int64_t>(ranks.size());
  if (nodes.size() == 1) row.node = *nodes.begin();
  std::set<int64_t> steps;
  std::vector<double> transfers;
  double bytes = 0, bus = 0, with_bytes = 0;
  for (const GroupCall& call : calls) {
    steps.insert(call.step);
    transfers.push_back(call.transfer_ns);
    row.transfer_ns += call.transfer_ns;
    row.waiting_ns += call.waiting_ns;
    if (call.bytes < 0 || call.transfer_ns <= 0) continue;
    bytes += call.bytes;
    bus += call.transfer_ns;
    ++with_bytes;
  }
  const auto count = static_cast<double>(steps.size());
  row.steps = static_cast<int64_t>(steps.size());
  row.calls_per_step = static_cast<double>(calls.size()) / count;
  row.transfer_ns /= count;
  row.waiting_ns /= count;
  row.median_ns = Median(transfers);
  if (with_bytes > 0) {
    row.bytes = bytes / with_bytes;
    row.bus_bandwidth = bytes / bus * 1e9 * BusFactor(row.collective, static_cast<double>(ranks.size()));
  }
  FindLast(calls, ranks, row);
  return row;
}

void AddClocks(const MatchedCollectives& matched, std::span<const CollectiveTrack> tracks,
               std::span<const std::optional<int64_t>> nodes, std::vector<ClockRow>& rows) {
  std::vector<double> offsets;
  bool all_known = true;
  for (const RankClock& clock : matched.clocks) {
    if (clock.uncertainty_ns) offsets.push_back(static_cast<double>(clock.offset_ns));
    all_known &= clock.origin_utc_ns.has_value();
  }
  for (size_t t = 0; t < tracks.size(); ++t) {
    const RankClock& clock = matched.clocks[t];
    ClockRow& row = rows.emplace_back();
    row.rank = tracks[t].rank;
    row.device = tracks[t].device;
    row.node = nodes[t];
    row.origin_utc_ns = clock.origin_utc_ns;
    row.offset_ns = clock.offset_ns;
    row.uncertainty_ns = clock.uncertainty_ns;
    row.drift_ppm = clock.drift * 1e6;
    row.collectives = clock.collectives;
    if (all_known && clock.uncertainty_ns) row.skew_ns = clock.offset_ns - std::llround(Median(offsets));
  }
}

}  // namespace

const RelationOf<CollectiveGroupRow>& CollectiveGroupRelation() {
  using Row = CollectiveGroupRow;
  static const auto relation =
      RelationOf<Row>("collective_group", "Collectives by the ranks that take part, in steady steps.")
          .Key("collective", &Row::collective, Unit::kText, "AllReduce, AllGather, ...")
          .Key("stream", &Row::stream, Unit::kNone,
               "Of the streams that a rank communicates on, in order of their first collective, from 0.")
          .Key("ranks", &Row::ranks, Unit::kText, "Ranks of the group.")
          .Column("size", &Row::size, Unit::kCount, "How many they are.")
          .Column("node", &Row::node, Unit::kNone, "Their node; unknown where they are of several.")
          .Column("steps", &Row::steps, Unit::kCount, "Steps with such collectives.")
          .Column("calls_per_step", &Row::calls_per_step, Unit::kCount, "Collectives of a step.")
          .Column("transfer_ns", &Row::transfer_ns, Unit::kNanoseconds,
                  "Mean per step of the time from when the last rank has come to the end.")
          .Column("waiting_ns", &Row::waiting_ns, Unit::kNanoseconds,
                  "Mean per step and rank of the time before.")
          .Column("median_ns", &Row::median_ns, Unit::kNanoseconds, "Median transfer of a collective.")
          .Column("bytes", &Row::bytes, Unit::kBytes,
                  "Mean size of a collective; unknown where the framework does not record it.",
                  capability::kOperatorShapes)
          .Column("bus_bandwidth", &Row::bus_bandwidth, Unit::kBytesPerSecond, "As NCCL's tests define it.",
                  capability::kOperatorShapes)
          .Column("last_rank", &Row::last_rank, Unit::kNone, "Rank that comes last, most persistently.")
          .Column("last_steps", &Row::last_steps, Unit::kCount, "Steps in which it does.")
          .Column("last_probability", &Row::last_probability, Unit::kNone,
                  "That chance alone makes one rank the last so often.")
          .Column("peers", &Row::peers, Unit::kCount,
                  "Groups that run the same collectives, itself included; 0 where it is the only one.")
          .Column("peers_transfer_ns", &Row::peers_transfer_ns, Unit::kNanoseconds,
                  "Transfer per step of the others (median), from first_step to last_step; known for the "
                  "most persistently slowest group.")
          .Column("excess_ns", &Row::excess_ns, Unit::kNanoseconds, "How much longer its own takes.")
          .Column("first_step", &Row::first_step, Unit::kNone, "First step in which it does.")
          .Column("last_step", &Row::last_step, Unit::kNone, "Last step in which it does.")
          .Column("slowest_steps", &Row::slowest_steps, Unit::kCount,
                  "Steps between them in which it is the slowest.")
          .Column("probability", &Row::probability, Unit::kNone,
                  "That chance alone makes one group the slowest so often.");
  return relation;
}

const RelationOf<CollectiveWaitRow>& CollectiveWaitRelation() {
  using Row = CollectiveWaitRow;
  static const auto relation =
      RelationOf<Row>("collective_wait",
                      "What each rank's collectives are: transfer, or waiting for other ranks; of those that "
                      "could be matched between ranks, per step.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Key("collective", &Row::collective, Unit::kText, "AllReduce, AllGather, ...")
          .Column("calls_per_step", &Row::calls_per_step, Unit::kCount, "Collectives.")
          .Column("transfer_ns", &Row::transfer_ns, Unit::kNanoseconds, "After the last rank came.")
          .Column("waiting_ns", &Row::waiting_ns, Unit::kNanoseconds, "Before.")
          .Column("exposed_transfer_ns", &Row::exposed_transfer_ns, Unit::kNanoseconds,
                  "Transfer without computation beside it.")
          .Column("exposed_waiting_ns", &Row::exposed_waiting_ns, Unit::kNanoseconds,
                  "Waiting without computation beside it.");
  return relation;
}

const RelationOf<ClockRow>& ClockRelation() {
  using Row = ClockRow;
  static const auto relation =
      RelationOf<Row>("clock", "The clocks of ranks with collectives, aligned by the ends of these.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Column("node", &Row::node, Unit::kNone, "Its node, where known.")
          .Column("origin_utc_ns", &Row::origin_utc_ns, Unit::kNone,
                  "UTC of time 0 according to its profile.")
          .Column("offset_ns", &Row::offset_ns, Unit::kNanoseconds,
                  "What was added to that so that collectives end together; a negative clock is ahead.")
          .Column("uncertainty_ns", &Row::uncertainty_ns, Unit::kNanoseconds,
                  "Robust deviation of the ends after it; unknown without collectives to compare.")
          .Column("skew_ns", &Row::skew_ns, Unit::kNanoseconds,
                  "offset_ns minus its median over ranks; unknown where not all profiles record their UTC.")
          .Column("drift_ppm", &Row::drift_ppm, Unit::kNone, "Drift that was taken out, in ns per ms.")
          .Column("collectives", &Row::collectives, Unit::kCount, "Collectives that were used.");
  return relation;
}

CollectiveFacts ComputeCollectiveGroups(std::span<const CollectiveTrack> tracks,
                                        std::span<const std::optional<int64_t>> origins,
                                        std::span<const std::optional<int64_t>> nodes,
                                        std::optional<int64_t> world_size) {
  CollectiveFacts facts;
  if (tracks.size() < 2) return facts;
  const MatchedCollectives matched = MatchCollectives(tracks, origins);
  std::map<std::pair<size_t, std::string>, WaitSums> waits;  // by track and collective
  std::vector<Group> groups;
  for (const MatchedKind& kind : matched.kinds) {
    if (kind.groups == 0 || !WaitsForAll(kind.kind.collective)) continue;
    std::map<size_t, WaitSums> of_kind;
    std::vector<std::vector<GroupCall>> calls = Kind(kind, matched, tracks).Calls(of_kind);
    bool incomplete = false;
    for (size_t g = 0; g < calls.size(); ++g) {
      if (calls[g].empty()) continue;
      std::vector<int64_t> ranks;
      std::set<std::optional<int64_t>> of_nodes;
      for (size_t m = 0; m < kind.tracks.size(); ++m)
        if (kind.group_of[m] == static_cast<int32_t>(g)) {
          ranks.push_back(tracks[kind.tracks[m]].rank);
          of_nodes.insert(nodes[kind.tracks[m]]);
        }
      if (IsIncomplete(kind.kind, ranks.size(), tracks.size(), world_size)) {
        incomplete = true;
        continue;
      }
      CollectiveGroupRow row = RowOf(kind.kind, calls[g], ranks, of_nodes);
      groups.push_back({std::move(calls[g]), std::move(row)});
    }
    if (!incomplete)
      for (const auto& [track, sums] : of_kind) waits[{track, kind.kind.collective}].Add(sums);
  }
  // Groups of equal size with equally many calls of a collective do the same.
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t>, std::vector<Group*>> alike;
  for (Group& group : groups)
    alike[{group.row.collective, group.row.stream, group.row.size,
           std::llround(group.row.calls_per_step * 1000)}]
        .push_back(&group);
  for (const auto& [key, of_kind] : alike)
    if (of_kind.size() >= 2) CompareGroups(of_kind);
  for (Group& group : groups) facts.groups.push_back(std::move(group.row));
  std::ranges::stable_sort(facts.groups, [](const CollectiveGroupRow& a, const CollectiveGroupRow& b) {
    return a.transfer_ns > b.transfer_ns;
  });
  for (const auto& [key, sums] : waits) {
    const CollectiveTrack& track = tracks[key.first];
    std::set<int64_t> steps;
    for (const CollectiveTrack::Call& call : track.calls) steps.insert(call.step);
    const auto count = static_cast<double>(steps.size());
    facts.waits.push_back({track.rank, track.device, key.second, sums.calls / count, sums.transfer / count,
                           sums.waiting / count, sums.exposed_transfer / count,
                           sums.exposed_waiting / count});
  }
  AddClocks(matched, tracks, nodes, facts.clocks);
  return facts;
}

CollectiveFacts CollectivesOfFleet(const OfFleet<CollectiveTrack>& tracks,
                                   const OfFleet<RankIdentity>& identities,
                                   const RowsOfFleet<ProfileRelation>& profiles,
                                   const RowsOfFleet<SystemRelation>& systems) {
  std::map<int64_t, std::optional<int64_t>> origin_of;  // by profile
  for (const ProfileRow& row : profiles.rows) origin_of[row.profile] = row.clock_origin_utc_ns;
  std::vector<std::optional<int64_t>> origins, nodes;
  for (const CollectiveTrack& track : tracks.all) {
    const auto identity = std::ranges::find(identities.all, track.rank, &RankIdentity::rank);
    const bool known = identity != identities.all.end();
    origins.push_back(known ? origin_of[identity->profile] : std::nullopt);
    nodes.push_back(known ? identity->node : std::nullopt);
  }
  std::optional<int64_t> world_size;
  for (const SystemRow& row : systems.rows)
    if (row.world_size) world_size = std::max(world_size.value_or(0), *row.world_size);
  return ComputeCollectiveGroups(tracks.all, origins, nodes, world_size);
}

const Family& CollectiveGroupFamily() {
  static const Family family = FamilyOf(CollectiveGroupRelation(), &CollectiveFacts::groups);
  return family;
}

const Family& CollectiveWaitFamily() {
  static const Family family = FamilyOf(CollectiveWaitRelation(), &CollectiveFacts::waits);
  return family;
}

const Family& ClockFamily() {
  static const Family family = FamilyOf(ClockRelation(), &CollectiveFacts::clocks);
  return family;
}

}  // namespace dladvisor
