// SPDX-License-Identifier: Apache-2.0
// dladvisor timeline PROFILE... -o FILE.json.gz
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddTimelineCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
