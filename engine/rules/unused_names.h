// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/rule.h"
#include "engine/rules/yaml_reader.h"

namespace dladvisor {

// Params, lets and helpers that nothing names are leftovers or typos.
void CheckUse(const Rule& rule, Problems& problems);

}  // namespace dladvisor
