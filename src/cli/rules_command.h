// SPDX-License-Identifier: Apache-2.0
// dladvisor rules list | show | check | test | docs | new
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddRulesCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
