// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/words/training_log_words.h"

namespace dladvisor {

constinit const CaptureWords kTrainingLogWords = {
    .format = "training log",
    .options = {},
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "",
    .records_operators = false,
};

constinit const CaptureWords kProgramLogWords = {
    .format = "program log",
    .options = {},
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "",
    .records_operators = false,
};

constinit const CaptureWords kSummaryWords = {
    .format = "summary",
    .options = {},
    .idle_causes = "",
    .idle_causes_beyond_calls = "",
    .no_gpu_work = "",
    .records_operators = false,
};

}  // namespace dladvisor
