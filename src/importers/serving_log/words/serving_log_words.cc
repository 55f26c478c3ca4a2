// SPDX-License-Identifier: Apache-2.0
#include "src/importers/serving_log/words/serving_log_words.h"

namespace dladvisor {

constinit const CaptureWords kServingLogWords = {
    .format = "serving log",
    .options = {},
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "",
    .records_operators = false,
};

}  // namespace dladvisor
