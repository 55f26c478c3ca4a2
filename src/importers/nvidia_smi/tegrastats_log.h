// SPDX-License-Identifier: Apache-2.0
// Reads what tegrastats prints on Jetson boards: a line a sample, "RAM 2532/6834MB ... GR3D_FREQ 99% ...
// GPU@53C VDD_IN 13711mW/12890mW", since JetPack 4.4 with date and time before it. The memory is the board's,
// which CPU and GPU share.
#pragma once

#include <string_view>

#include "src/importers/bytes/byte_source.h"
#include "src/trace/trace.h"

namespace dladvisor {

bool LooksLikeTegrastatsLog(std::string_view head);

// Throws Error where no line can be used.
Trace ReadTegrastatsLog(ByteSource& source);

}  // namespace dladvisor
