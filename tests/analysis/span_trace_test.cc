// SPDX-License-Identifier: Apache-2.0
// Where the time of spans goes that a program marked itself.
#include "src/analysis/spans/span_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

class SpanTraceTest : public testing::Test {
 protected:
  // A track of its own process.
  uint32_t Track(int64_t process, const std::string& name) {
    spans().tracks.push_back({process, "p" + std::to_string(process), name});
    return static_cast<uint32_t>(spans().tracks.size() - 1);
  }
  void Add(uint32_t track, const std::string& name, Ns start, Ns end) {
    spans().track.push_back(track);
    spans().name.push_back(b_.trace.names.Intern(name));
    spans().start.push_back(start);
    spans().end.push_back(end);
  }
  SpanFamilies Compute() { return ComputeSpans(test::ContextOf(b_.trace)); }
  ProgramSpans& spans() { return b_.trace.program_spans; }

  test::TraceBuilder b_;
};

TEST_F(SpanTraceTest, EachMomentBelongsToTheInnermostSpan) {
  const uint32_t track = Track(0, "main");
  Add(track, "step", 0, 100);
  Add(track, "forward", 10, 70);
  Add(track, "linear", 20, 60);
  Add(track, "step", 120, 200);
  const SpanFamilies families = Compute();
  ASSERT_EQ(families.names.size(), 3u);
  EXPECT_EQ(families.names[0].name, "step");
  EXPECT_EQ(families.names[0].self_ns, 120);
  EXPECT_EQ(families.names[1].name, "linear");
  EXPECT_EQ(families.names[1].self_ns, 40);
  EXPECT_EQ(families.names[2].self_ns, 20);
  ASSERT_EQ(families.trace.size(), 1u);
  const SpanTraceRow& row = families.trace[0];
  EXPECT_EQ(row.name, "step");
  EXPECT_DOUBLE_EQ(*row.share, 120.0 / 180);
  EXPECT_DOUBLE_EQ(*row.covered_share, 0.9);
  EXPECT_EQ(row.gap_ns, 20);
  EXPECT_EQ(row.before_gap, "step");
  ASSERT_EQ(families.tracks.size(), 1u);
  EXPECT_EQ(families.tracks[0].busy_ns, 180);
  EXPECT_EQ(families.tracks[0].gap_start_ns, 100);
}

TEST_F(SpanTraceTest, TellsAfterWhatTimePassesAgainAndAgain) {
  const uint32_t track = Track(0, "main");
  for (Ns round = 0; round < 4; ++round) {
    const Ns at = 100 * round;
    Add(track, "forward", at, at + 30);
    Add(track, "backward", at + 32, at + 60);
  }
  const SpanTraceRow row = Compute().trace.at(0);
  EXPECT_EQ(row.apart_name, "backward");
  EXPECT_EQ(row.apart_count, 3);
  EXPECT_EQ(row.apart_ns, 120);
  EXPECT_DOUBLE_EQ(*row.apart_share, 120.0 / 360);
}

TEST_F(SpanTraceTest, HasNoTimeApartWhereSpansFollowEachOther) {
  const uint32_t track = Track(0, "main");
  Add(track, "forward", 0, 30);
  Add(track, "backward", 30, 60);
  EXPECT_FALSE(Compute().trace.at(0).apart_name.has_value());
}

TEST_F(SpanTraceTest, NamesTheRankThatIsReadyLast) {
  const uint32_t track = Track(1, "gradient");
  for (Ns round = 0; round < 3; ++round) {
    const Ns at = 100 * round;
    Add(track, "NEGOTIATE_ALLREDUCE", at, at + 50);
    Add(track, "1", at, at);
    Add(track, "2", at + 10, at + 10);
    Add(track, "0", at + 50, at + 50);
    Add(track, "ALLREDUCE", at + 50, at + 90);
  }
  Add(track, "NEGOTIATE_ALLREDUCE", 300, 350);
  Add(track, "0", 300, 300);
  Add(track, "1", 310, 310);
  const SpanTraceRow row = Compute().trace.at(0);
  EXPECT_EQ(row.with_marks, 4);
  EXPECT_EQ(row.marked_span, "NEGOTIATE_ALLREDUCE");
  EXPECT_EQ(row.last_mark, "0");
  EXPECT_EQ(row.last_count, 3);
  EXPECT_EQ(row.late_ns, 40);
  EXPECT_EQ(row.marked_ns, 200);
}

// As of requests on one track: what began last and has not ended is the innermost.
TEST_F(SpanTraceTest, SpansMayOverlap) {
  const uint32_t track = Track(0, "main");
  Add(track, "a", 0, 60);
  Add(track, "b", 40, 100);
  Add(track, "c", 50, 55);
  const SpanFamilies families = Compute();
  EXPECT_EQ(families.names[0].name, "b");
  EXPECT_EQ(families.names[0].self_ns, 55);
  EXPECT_EQ(families.names[1].self_ns, 40);
  EXPECT_EQ(families.names[2].self_ns, 5);
  EXPECT_EQ(families.tracks[0].busy_ns, 100);
}

TEST_F(SpanTraceTest, NumbersOfRoundsAreNoNames) {
  const uint32_t track = Track(0, "main");
  for (int i = 0; i < 4; ++i) Add(track, "step " + std::to_string(i), 100 * i, 100 * i + 50);
  EXPECT_EQ(Compute().trace[0].name, "step #");
}

TEST_F(SpanTraceTest, NumbersOfLayersAreNames) {
  const uint32_t track = Track(0, "main");
  for (int i = 0; i < 4; ++i)
    for (int round = 0; round < 2; ++round)
      Add(track, "layer " + std::to_string(i), 1000 * round + 100 * i, 1000 * round + 100 * i + 50 + i);
  EXPECT_EQ(Compute().trace[0].name, "layer 3");
}

TEST_F(SpanTraceTest, OneProcessHasMoreThanItsPeers) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    const uint32_t track = Track(rank, "0");
    const Ns sent = rank == 2 ? 900 : 100;
    Add(track, "send", 0, sent);
    Add(track, "wait", sent, 1000);
  }
  const SpanTraceRow row = Compute().trace[0];
  EXPECT_EQ(row.uneven_name, "send");
  EXPECT_EQ(row.peer_kind, "process");
  EXPECT_EQ(row.most_peer, "p2");
  EXPECT_EQ(row.peers, 4);
  EXPECT_EQ(row.mean_ns, 300);
  EXPECT_DOUBLE_EQ(*row.most_ratio, 3);
}

// What it has more of one thing it has less of another.
TEST_F(SpanTraceTest, PeersThatNeverWaitAreEven) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    const uint32_t track = Track(rank, "0");
    const Ns sent = rank == 2 ? 900 : 100;
    Add(track, "send", 0, sent);
    Add(track, "compute", sent, 1000);
  }
  EXPECT_EQ(Compute().trace[0].uneven_name, std::nullopt);
}

// Requests take their own time each.
TEST_F(SpanTraceTest, TracksThatComeAndGoAreNoPeers) {
  for (int i = 0; i < 6; ++i)
    Add(Track(0, std::to_string(i)), "decode", 100 * i, 100 * i + (i == 3 ? 90 : 10));
  EXPECT_EQ(Compute().trace[0].uneven_name, std::nullopt);
}

TEST_F(SpanTraceTest, TheFirstRoundIsStartUp) {
  const uint32_t track = Track(0, "main");
  Add(track, "forward", 0, 500);
  for (int i = 0; i < 5; ++i) Add(track, "forward", 500 + 100 * i, 590 + 100 * i);
  const SpanTraceRow row = Compute().trace[0];
  EXPECT_EQ(row.once_name, "forward");
  EXPECT_EQ(row.once_of, 6);
  EXPECT_EQ(row.once_ns, 500);
  EXPECT_EQ(row.once_others_ns, 90);
}

TEST_F(SpanTraceTest, WhatEnclosesAllIsNoStartUp) {
  const uint32_t track = Track(0, "main");
  Add(track, "run", 0, 1000);
  Add(track, "load", 0, 500);
  for (int i = 0; i < 5; ++i) Add(track, "forward", 500 + 100 * i, 590 + 100 * i);
  const SpanTraceRow row = Compute().trace[0];
  EXPECT_EQ(row.once_name, "load");
  EXPECT_EQ(row.once_of, 1);
}

TEST_F(SpanTraceTest, SpansWithoutTimeTellNothing) {
  Add(Track(0, "main"), "mark", 7, 7);
  const SpanTraceRow row = Compute().trace[0];
  EXPECT_EQ(row.name, std::nullopt);
  EXPECT_EQ(row.duration_ns, 0);
}

TEST_F(SpanTraceTest, OtherTracesHaveNone) { EXPECT_THAT(Compute().trace, testing::IsEmpty()); }

TEST_F(SpanTraceTest, NamesNoneWhereSpansOfATrackCross) {
  const uint32_t track = Track(0, "server");
  for (int i = 0; i < 20; ++i) Add(track, "request", i * 10'000, i * 10'000 + 200'000);
  const SpanTraceRow row = Compute().trace.at(0);
  EXPECT_EQ(row.name, std::nullopt);
  EXPECT_EQ(row.uneven_name, std::nullopt);
  EXPECT_EQ(row.covered_share, 1.0);
}

TEST_F(SpanTraceTest, DoesNotKnowWhereNoSpanIsWhereSomeWereLeftOut) {
  const uint32_t track = Track(0, "main");
  Add(track, "load", 0, 10);
  Add(track, "load", 90, 100);
  spans().never_ended = 1;
  const SpanTraceRow row = Compute().trace.at(0);
  EXPECT_EQ(row.covered_share, std::nullopt);
  EXPECT_EQ(row.gap_ns, std::nullopt);
  EXPECT_EQ(row.name, "load");
}

}  // namespace
}  // namespace dladvisor
