// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/words/nsys_words.h"

namespace dladvisor {

constinit const CaptureWords kNsysWords = {
    .format = "nsys",
    .options = {},
    // A trace never holds what a log of nvidia-smi does.
    .is_own = [](std::string_view flag) { return !flag.starts_with("--query-gpu="); },
    .idle_causes = "--trace=cuda,nvtx,osrt",
    .idle_causes_beyond_calls = "--sample=process-tree --cpuctxsw=process-tree",
    .records_operators = false,
};

}  // namespace dladvisor
