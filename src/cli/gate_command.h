// SPDX-License-Identifier: Apache-2.0
// dladvisor gate --baseline BASELINE... PROFILE...
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddGateCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
