// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/communication/collective_match.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace dladvisor {
namespace {

// Collectives of one group that end at i * 1 ms, of which a rank recorded those from `first` on.
CollectiveTrack Recorded(int64_t rank, int64_t first, bool numbered) {
  CollectiveTrack track;
  track.rank = rank;
  track.kinds = {{"AllReduce", "dp", "[0, 1]", 0}};
  for (int64_t i = first; i < 20; ++i) {
    CollectiveTrack::Call& call = track.calls.emplace_back();
    call.step = i / 4;
    call.order = first > i / 4 * 4 ? i - first : i % 4;
    call.start = i * 1'000'000 - 100'000;
    call.end = i * 1'000'000;
    call.number = numbered ? i + 1 : 0;
  }
  return track;
}

std::vector<std::pair<Ns, Ns>> Pairs(const std::vector<CollectiveTrack>& tracks) {
  const MatchedCollectives matched = MatchCollectives(tracks, std::vector<std::optional<int64_t>>(2, 0));
  std::vector<std::pair<Ns, Ns>> ends;
  for (const MatchedKind& kind : matched.kinds)
    for (size_t call = 0; call < kind.calls.size(); ++call)
      if (const auto* a = kind.At(tracks, 0, call), *b = kind.At(tracks, 1, call); a && b)
        ends.emplace_back(a->end, b->end);
  return ends;
}

TEST(CollectiveMatch, FollowsTheFrameworksNumbers) {
  const auto pairs = Pairs({Recorded(0, 0, true), Recorded(1, 2, true)});
  EXPECT_EQ(pairs.size(), 18u);
  for (const auto& [a, b] : pairs) EXPECT_EQ(a, b);
}

TEST(CollectiveMatch, FollowsStepAndOrderWithoutNumbers) {
  const auto pairs = Pairs({Recorded(0, 0, false), Recorded(1, 2, false)});
  EXPECT_EQ(pairs.size(), 18u);
  EXPECT_NE(pairs[0].first, pairs[0].second);  // the cut step is matched from its beginning
  for (size_t i = 2; i < pairs.size(); ++i) EXPECT_EQ(pairs[i].first, pairs[i].second);
}

TEST(CollectiveMatch, NumbersThatRepeatAreNotFollowed) {
  std::vector<CollectiveTrack> tracks = {Recorded(0, 0, true), Recorded(1, 0, true)};
  tracks[1].calls[7].number = 3;
  const auto pairs = Pairs(tracks);
  EXPECT_EQ(pairs.size(), 20u);
  for (const auto& [a, b] : pairs) EXPECT_EQ(a, b);
}

// The root of a broadcast is done long before the others; the clocks are one.
TEST(CollectiveMatch, BroadcastsSayNothingOfClocks) {
  std::vector<CollectiveTrack> tracks = {Recorded(0, 0, false), Recorded(1, 0, false)};
  for (CollectiveTrack& track : tracks) {
    track.kinds.push_back({"Broadcast", "dp", "[0, 1]", 0});
    for (int64_t i = 0; i < 60; ++i) {
      CollectiveTrack::Call& call = track.calls.emplace_back();
      call.kind = 1;
      call.step = i / 12;
      call.order = i % 12;
      call.start = 30'000'000 + i * 1'000'000;
      call.end = call.start + (track.rank == 0 ? 10'000 : 400'000 + i * 1000);
    }
  }
  const MatchedCollectives matched = MatchCollectives(tracks, std::vector<std::optional<int64_t>>(2, 0));
  for (const RankClock& clock : matched.clocks) {
    EXPECT_EQ(clock.offset_ns, 0);
    EXPECT_EQ(clock.drift, 0);
    EXPECT_EQ(clock.collectives, 20);
  }
}

}  // namespace
}  // namespace dladvisor
