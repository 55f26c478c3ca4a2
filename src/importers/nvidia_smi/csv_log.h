// SPDX-License-Identifier: Apache-2.0
// Reads CSV logs of GPU telemetry: nvidia-smi --query-gpu=... --format=csv, with or without units, and what
// scripts around NVML write under names of GPU metrics. One header line, one row per sample and GPU. Without
// the header (--format=csv,noheader) columns are told by their units.
#pragma once

#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

// Whether these first bytes of a file are a header that names a GPU and other columns, or rows with
// nvidia-smi's times and units.
bool LooksLikeGpuCsv(std::string_view head);

// `head` is what the source begins with. Throws Error where no column is a metric that is known, or no row
// can be used.
Trace ReadGpuCsv(std::string_view head, ByteSource& source);

}  // namespace dladvisor
