// SPDX-License-Identifier: Apache-2.0
// dladvisor rules list | show | check | test | docs | new
#pragma once

#include <string>

#include "src/cli/session.h"

namespace dladvisor {

// A line for each rule and derived relation, or the file of one. Throws Error for one that is not there.
std::string RulesText(const CommonOptions& common, const Project& project, const KnowledgeBase& knowledge,
                      const std::string& id);

void AddRulesCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
