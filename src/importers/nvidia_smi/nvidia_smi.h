// SPDX-License-Identifier: Apache-2.0
// Logs of nvidia-smi: of its dmon, and tables of --query-gpu in CSV; and JSON like it. Its table that people
// look at is read by the importer of training logs, in which it often stands.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kNvidiaSmiImporter;

}  // namespace dladvisor
