// SPDX-License-Identifier: Apache-2.0
// dladvisor facts [RELATION | --order]
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddFactsCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
