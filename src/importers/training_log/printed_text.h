// SPDX-License-Identifier: Apache-2.0
// Texts that are no logs, by how they begin: what says so throws an error with what to give instead.
#pragma once

#include "src/importers/bytes/byte_source.h"

namespace dladvisor::training_log {

// What profilers print for people to read.
void RefusePrintedStatistics(ByteSource& source);
// The recording of a terminal on which a program draws.
void RefuseTerminal(ByteSource& source);

}  // namespace dladvisor::training_log
