// SPDX-License-Identifier: Apache-2.0
// dladvisor query PROFILE... SQL|RELATION [--format table|csv|json]
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddQueryCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
