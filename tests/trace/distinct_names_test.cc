// SPDX-License-Identifier: Apache-2.0
#include "src/trace/distinct_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dladvisor {
namespace {

using testing::ElementsAre;

TEST(DistinctNames, AreInTheOrderOfTheirRows) {
  Trace trace;
  const NameId a = trace.names.Intern("a"), b = trace.names.Intern("b"), c = trace.names.Intern("c");
  EXPECT_THAT(DistinctNames(trace, {c, kNoName, a, c, a, c}), ElementsAre(c, a));
  for (const NameId domain : {kNoName, b, b}) trace.ranges.domain.push_back(domain);
  EXPECT_THAT(DistinctNames(trace, trace.ranges.domain), ElementsAre(b));
  EXPECT_THAT(DistinctNames(trace, trace.kernels.name), ElementsAre());
}

}  // namespace
}  // namespace dladvisor
