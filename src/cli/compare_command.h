// SPDX-License-Identifier: Apache-2.0
// dladvisor compare A B [-o FILE] [--format html|md|json|text]
#pragma once

#include <string>

#include "src/cli/session.h"
#include "src/comparison/compare_runs.h"

namespace dladvisor {

// The two runs of the options; `output` is no input of theirs. Throws Error.
RunsCompared Compare(const ProfileOptions& options, const std::string& output, const Project& project,
                     const KnowledgeBase& knowledge, Stages& stages);

void AddCompareCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
