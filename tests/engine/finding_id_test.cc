// SPDX-License-Identifier: Apache-2.0
#include "engine/model/finding_id.h"

#include <gtest/gtest.h>

#include <set>

namespace dladvisor {
namespace {

Finding WithSubject(std::vector<NamedValue> subject) {
  Finding finding;
  finding.rule = "slow-host";
  finding.subject = std::move(subject);
  return finding;
}

TEST(FindingId, FollowsFromRuleAndSubjectAlone) {
  Finding finding = WithSubject({{"rank", int64_t{3}}, {"device", int64_t{0}}});
  const std::string id = FindingId(finding);
  EXPECT_TRUE(id.starts_with("slow-host/")) << id;
  finding.problem = "The host is 3 % slower.";
  finding.severity = Severity::kError;
  EXPECT_EQ(FindingId(finding), id);
  // What other runs are compared with: a change of this number breaks everybody's lists of known findings.
  EXPECT_EQ(id, "slow-host/156076b7ce579b38");
}

TEST(FindingId, DiffersByEveryValueOfTheSubject) {
  std::set<std::string> ids;
  for (const int64_t rank : {0, 1, 11})
    for (const int64_t device : {0, 1})
      ids.insert(FindingId(WithSubject({{"rank", rank}, {"device", device}})));
  ids.insert(FindingId(WithSubject({{"op", std::string("a")}, {"kernel", std::string("bc")}})));
  ids.insert(FindingId(WithSubject({{"op", std::string("ab")}, {"kernel", std::string("c")}})));
  ids.insert(FindingId(WithSubject({{"op", Value()}})));
  EXPECT_EQ(ids.size(), 9U);
}

TEST(FindingId, OfOneSubjectIsTheRule) { EXPECT_EQ(FindingId(WithSubject({})), "slow-host"); }

}  // namespace
}  // namespace dladvisor
