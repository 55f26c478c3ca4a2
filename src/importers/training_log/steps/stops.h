// SPDX-License-Identifier: Apache-2.0
// Times of iterations that only the dates of lines tell, and in which the program did not run.
#pragma once

#include "src/trace/training_progress.h"

namespace dladvisor::training_log {

// An hour and more between two lines, many times what is between the others, those with an evaluation or the
// end of an epoch among themselves: the program stood, or was stopped and started again. What the iterations
// themselves took is not known then. A checkpoint takes less.
void LeaveOutStops(TrainingLog& log);

}  // namespace dladvisor::training_log
