// SPDX-License-Identifier: Apache-2.0
// Which framework a program is written in, so that advice can be in its words.
#pragma once

#include <optional>
#include <string>

#include "src/analysis/context/range_text.h"
#include "src/trace/trace.h"

namespace dladvisor {

// "PyTorch", "PyTorch/XLA", "TensorFlow", "JAX", "PaddlePaddle", "RAPIDS", "CuPy", "Numba", "OpenACC" or
// "OpenMP": from what the profile says of the framework, else from how kernels and ranges are named. Nothing
// where neither shows it, as for plain CUDA.
std::optional<std::string> FrameworkName(const Trace& trace, const RangeTexts& texts);

}  // namespace dladvisor
