// SPDX-License-Identifier: Apache-2.0
// Why a run does not have a metric that a project gates on, and what would make it known.
#pragma once

#include <string>
#include <string_view>

#include "engine/store/database.h"

namespace dladvisor {

// Sentences, in the words of the profiler that made the run: "Its operators' shapes were not recorded:
// record_shapes=True." Of a family ("op.time/*conv*") why nothing has such a name.
std::string WhyNotMeasured(const Database& db, std::string_view metric);

}  // namespace dladvisor
