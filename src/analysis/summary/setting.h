// SPDX-License-Identifier: Apache-2.0
// Variables of the program's environment that change how it runs. Only those that are known to matter here
// are facts: an environment holds secrets, which no report may repeat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct SettingRow {
  int64_t profile = 0;
  std::string name, value;
};
const RelationOf<SettingRow>& SettingRelation();

std::vector<SettingRow> ComputeSettings(const Context& context);

}  // namespace dladvisor
