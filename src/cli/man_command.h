// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddManCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
