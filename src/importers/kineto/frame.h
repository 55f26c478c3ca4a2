// SPDX-License-Identifier: Apache-2.0
// What a Chrome trace has around its events: devices, versions, options, the distributed job.
#pragma once

#include <optional>
#include <string>

#include "src/trace/trace.h"

namespace dladvisor::kineto {

// `frame` is the text of the root object without its events. Fills the trace's facts, capture options, rank
// and the properties of the devices that its events name. Returns what `baseTimeNanoseconds` says. A frame
// that is not valid JSON adds a note.
std::optional<int64_t> ReadFrame(const std::string& frame, Trace& trace);

}  // namespace dladvisor::kineto
