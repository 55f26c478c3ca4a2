// SPDX-License-Identifier: Apache-2.0
// dladvisor report PROFILE... [-o FILE] [--format html|md|json|text]
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddReportCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
