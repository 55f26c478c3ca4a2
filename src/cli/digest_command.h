// SPDX-License-Identifier: Apache-2.0
// dladvisor digest PROFILE... -o FILE
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddDigestCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
