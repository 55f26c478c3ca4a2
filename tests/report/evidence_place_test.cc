// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/evidence_place.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "tests/report/fixture.h"

namespace dladvisor {
namespace {
using I = int64_t;

// Of rank 1, with an event at each of the times.
Finding FindingAt(std::initializer_list<I> times) {
  Finding finding;
  finding.outcome = Outcome::kFired;
  finding.subject = {{"rank", I{1}, Unit::kNone}};
  finding.evidence.columns = {{"start_ns", Unit::kNanoseconds}, {"cause", Unit::kText}};
  for (const I time : times) finding.evidence.rows.push_back({time, std::string("idle/input")});
  return finding;
}

Advice Placed(Finding finding) {
  test::FakeRun run;
  run.Give("step",
           {{{"rank", I{0}}, {"step", I{7}}, {"start_ns", I{0}}, {"end_ns", I{90'000'000}}},
            {{"rank", I{1}}, {"step", I{7}}, {"start_ns", I{10'000'000}}, {"end_ns", I{50'000'000}}},
            {{"rank", I{1}}, {"step", I{8}}, {"start_ns", I{50'000'000}}, {"end_ns", I{90'000'000}}}});
  Advice advice;
  advice.findings.push_back(std::move(finding));
  PlaceEvidence(advice, run.Build());
  return advice;
}

TEST(PlaceEvidence, SaysHowFarIntoWhichStep) {
  const ResultSet evidence = Placed(FindingAt({22'300'000, 50'000'000, 95'000'000})).findings[0].evidence;
  ASSERT_EQ(evidence.columns.size(), 3u);
  EXPECT_EQ(evidence.columns[1].name, "place");
  EXPECT_EQ(std::get<std::string>(evidence.rows[0][1]), "12.3 ms into step 7");
  EXPECT_EQ(std::get<std::string>(evidence.rows[1][1]), "0 ns into step 8");
  EXPECT_TRUE(IsNull(evidence.rows[2][1]));
  EXPECT_EQ(std::get<std::string>(evidence.rows[2][2]), "idle/input");
}

TEST(PlaceEvidence, LeavesOutWhatIsInNoStep) {
  EXPECT_EQ(Placed(FindingAt({1, 95'000'000})).findings[0].evidence.columns.size(), 2u);
}

}  // namespace
}  // namespace dladvisor
