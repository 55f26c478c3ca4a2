// SPDX-License-Identifier: Apache-2.0
// The words of all profilers, apart from the importers: for those who speak of a profile without reading it.
#pragma once

#include <string>
#include <string_view>

#include "src/capture/capture_words.h"

namespace dladvisor {

// Of the profiler that writes a format (Trace::format); those of Nsight Systems where it has none of its own.
// "" are profiles of several formats: the words of Nsight Systems and of nvidia-smi.
const CaptureWords& CaptureWordsOf(std::string_view format);

// How each profiler is asked for a capability: "nsys: --trace=cuda; kineto: activities=[...]".
std::string HowToRecord(std::string_view capability);

}  // namespace dladvisor
