// SPDX-License-Identifier: Apache-2.0
// dladvisor explain RULE PROFILE... [--subject COLUMN=VALUE]
#pragma once

#include "src/cli/session.h"

namespace dladvisor {

void AddExplainCommand(CLI::App& app, const CommonOptions& common);

}  // namespace dladvisor
