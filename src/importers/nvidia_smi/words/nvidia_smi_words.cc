// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/words/nvidia_smi_words.h"

namespace dladvisor {

constinit const CaptureWords kNvidiaSmiWords = {
    .format = "nvidia-smi",
    .options = {},
    .is_own = [](std::string_view flag) { return flag.starts_with("--query-gpu="); },
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .records_operators = false,
};

}  // namespace dladvisor
