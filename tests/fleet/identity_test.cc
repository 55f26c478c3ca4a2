// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/identity.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

ProfileHints Hints(std::string path, std::optional<int64_t> rank = {}, int64_t processes = 1) {
  ProfileHints hints;
  hints.path = std::move(path);
  hints.processes = processes;
  hints.rank = rank;
  hints.by = rank ? "profile" : "";
  return hints;
}

std::vector<int64_t> RanksOf(const std::vector<ProfileRanks>& ranks) {
  std::vector<int64_t> first;
  for (const ProfileRanks& r : ranks) first.push_back(r.first);
  return first;
}

using Numbers = std::vector<int64_t>;

TEST(IdentifyRanks, WhatTheProfileTellsComesFirst) {
  const auto ranks = IdentifyRanks({Hints("run/rank_0.json", 4), Hints("run/rank_1.json", 2)});
  EXPECT_EQ(RanksOf(ranks), (Numbers{4, 2}));
  EXPECT_EQ(ranks[0].source, "profile");
}

TEST(IdentifyRanks, LabelsInNames) {
  EXPECT_EQ(RanksOf(IdentifyRanks({Hints("a/worker3_step_12.1694128201545.pt.trace.json"),
                                   Hints("a/worker7_step_12.1694128201999.pt.trace.json")})),
            (Numbers{3, 7}));
  const auto ranks = IdentifyRanks({Hints("node0/gpu0.sqlite"), Hints("node0/gpu1.sqlite"),
                                    Hints("node1/gpu0.sqlite"), Hints("node1/gpu1.sqlite")});
  EXPECT_EQ(RanksOf(ranks), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(ranks[3].node, 1);
  EXPECT_EQ(ranks[3].local_rank, 1);
  EXPECT_EQ(ranks[3].source, "file name");
}

TEST(IdentifyRanks, NodeAndLocalRankOfSlurmNames) {
  std::vector<ProfileHints> hints;
  for (int node = 0; node < 3; ++node)
    for (int local = 0; local < 8; ++local)
      hints.push_back(
          Hints("runs/job4711_" + std::to_string(node) + "_" + std::to_string(local) + ".sqlite"));
  const auto ranks = IdentifyRanks(hints);
  EXPECT_EQ(ranks[23].first, 23);
  EXPECT_EQ(ranks[23].node, 2);
  EXPECT_EQ(ranks[23].local_rank, 7);
}

TEST(IdentifyRanks, TimesInNamesAreNoRanks) {
  const auto ranks = IdentifyRanks({Hints("t.1694128201545.json"), Hints("t.1694128201556.json")});
  EXPECT_EQ(RanksOf(ranks), (Numbers{0, 1}));
  EXPECT_EQ(ranks[0].source, "order of files");
}

TEST(IdentifyRanks, ThreeNumbersAreAmbiguous) {
  const auto ranks = IdentifyRanks({Hints("a_1_2_3.json"), Hints("a_2_3_4.json")});
  EXPECT_EQ(ranks[1].source, "order of files");
  EXPECT_EQ(RanksOf(ranks), (Numbers{0, 1}));
}

TEST(IdentifyRanks, TheSecondOfARankIsADuplicate) {
  const auto ranks = IdentifyRanks({Hints("a.json", 0), Hints("b.json", 1), Hints("c.json", 1)});
  EXPECT_FALSE(ranks[1].duplicate_of);
  EXPECT_EQ(ranks[2].duplicate_of, 1u);
}

TEST(IdentifyRanks, FilesOfSeveralProcessesFollowEachOther) {
  EXPECT_EQ(RanksOf(IdentifyRanks({Hints("node_1.sqlite", {}, 4), Hints("node_0.sqlite", {}, 4)})),
            (Numbers{4, 0}));
  EXPECT_EQ(RanksOf(IdentifyRanks({Hints("x.sqlite", {}, 2), Hints("y.sqlite", {}, 2)})), (Numbers{0, 2}));
}

TEST(IdentifyRanks, NodesByTheNameOfTheMachine) {
  std::vector<ProfileHints> hints = {Hints("a.json", 0), Hints("b.json", 1), Hints("c.json", 2)};
  hints[0].host = hints[1].host = "n17";
  hints[2].host = "n18";
  const auto ranks = IdentifyRanks(hints);
  EXPECT_EQ(ranks[1].node, 0);
  EXPECT_EQ(ranks[2].node, 1);
}

TEST(IdentifyRanks, LogsDoNotDisturbTheTraces) {
  std::vector<ProfileHints> hints = {Hints("run/job_3.sqlite"), Hints("run/job_5.sqlite"),
                                     Hints("run/smi_7.csv", {}, 0), Hints("run/smi_8.csv", {}, 0)};
  hints[2].is_log = hints[3].is_log = true;
  const auto ranks = IdentifyRanks(hints);
  EXPECT_EQ(ranks[0].first, 3);
  EXPECT_EQ(ranks[1].first, 5);
  EXPECT_EQ(ranks[1].source, "file name");
  EXPECT_FALSE(ranks[1].node);
  EXPECT_EQ(ranks[2].node, 7);
  EXPECT_EQ(ranks[3].node, 8);
  hints[2].path = "run/node_4/gpu.csv";
  EXPECT_EQ(IdentifyRanks(hints)[2].node, 4);
}

TEST(IdentifyRanks, OneFileAlone) {
  EXPECT_EQ(RanksOf(IdentifyRanks({Hints("rank_5.json")})), (Numbers{0}));
  EXPECT_EQ(RanksOf(IdentifyRanks({Hints("rank_5.json", 5)})), (Numbers{5}));
}

}  // namespace
}  // namespace dladvisor
