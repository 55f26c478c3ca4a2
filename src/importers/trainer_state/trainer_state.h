// SPDX-License-Identifier: Apache-2.0
// Reads trainer_state.json, in which Hugging Face's Trainer keeps with each checkpoint what it logged: losses
// by step, evaluations with their times, and, where the training ended, its totals. Of a step it holds no
// time.
#pragma once

#include "src/importers/input/importer.h"

namespace dladvisor {

extern const Importer kTrainerStateImporter;

}  // namespace dladvisor
