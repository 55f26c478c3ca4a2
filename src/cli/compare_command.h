// SPDX-License-Identifier: Apache-2.0
// dladvisor compare A B [-o FILE] [--format html|md|json|text]
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddCompareCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
