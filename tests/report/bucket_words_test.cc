// SPDX-License-Identifier: Apache-2.0
#include "src/render/bucket_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dladvisor {
namespace {

TEST(BucketWords, BarsBeginWithTensorCoresAndEndWithIdleTime) {
  std::vector<std::string> buckets = {"idle/launch", "compute/other",  "idle/host",
                                      "copy",        "compute/tensor", "communication/exposed"};
  std::ranges::sort(buckets, IsDrawnBefore);
  EXPECT_THAT(buckets, testing::ElementsAre("compute/tensor", "compute/other", "communication/exposed",
                                            "copy", "idle/host", "idle/launch"));
}

}  // namespace
}  // namespace dladvisor
