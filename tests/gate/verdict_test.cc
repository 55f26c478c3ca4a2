// SPDX-License-Identifier: Apache-2.0
#include "src/gate/model/verdict.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(Verdict, HasTheNamesThatTheDocumentsGive) {
  EXPECT_EQ(VerdictName(Verdict::kNotComparable), "not comparable");
  EXPECT_EQ(LevelName(Level::kExplain), "explain");
}

}  // namespace
}  // namespace dladvisor
