// SPDX-License-Identifier: Apache-2.0
// Steps that are not like the others.
#pragma once

#include <vector>

#include "src/analysis/context/context.h"

namespace dladvisor {

// Marks the leading steps that are the warm-up. The criteria are in step_detection.h.
void MarkWarmup(std::vector<Step>& steps);

// Marks the first of three and more steps whose beginnings no range marks where later ones begin with a wait
// of the GPU, for a batch that is loaded or for the host to launch, and it lacks more of that than a
// twentieth of a step: only that from its first launch on is known of it.
void MarkCutOff(std::vector<Step>& steps);

// Whether four fifths of the steps launch about as many operations as the median.
bool HaveEqualWork(const std::vector<Step>& steps);

}  // namespace dladvisor
