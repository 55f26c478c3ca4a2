// SPDX-License-Identifier: Apache-2.0
// dladvisor facts [RELATION | --order]
#pragma once

#include <string>

#include "src/cli/session.h"

namespace dladvisor {

// All relations and views, or the columns of one. Throws Error for one that is not there.
std::string FactsText(const KnowledgeBase& knowledge, const std::string& relation);

void AddFactsCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
