// SPDX-License-Identifier: Apache-2.0
// Logs of nvidia-smi --format=csv,noheader: what a column holds is told by the units of its cells and by the
// order in which people ask for them.
#pragma once

#include <string_view>
#include <vector>

#include "src/importers/nvidia_smi/column.h"

namespace dladvisor::nvidia_smi {

// Of the first bytes of a file; none where its lines are not such rows. What cannot be told apart is kOther.
std::vector<LogColumn> UnnamedColumns(std::string_view head);

}  // namespace dladvisor::nvidia_smi
