// SPDX-License-Identifier: Apache-2.0
#include "src/cli/gate_sides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/fleet/load_profiles.h"

namespace dladvisor {
namespace {

TEST(GateSides, WhatReportsAloneDrawAreRelations) {
  std::vector<std::string> names;
  for (const Schema* schema : AllSchemas()) names.push_back(schema->name);
  for (const std::string_view name : kDrawnByReportsAlone)
    EXPECT_THAT(names, testing::Contains(std::string(name)));
}

}  // namespace
}  // namespace dladvisor
