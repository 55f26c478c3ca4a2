// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddMcpCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
