// SPDX-License-Identifier: Apache-2.0
// TensorFlow tells of each kernel which operator launched it, "alex_net/conv2d/Conv2D:Conv2D", and has no
// range of the operator on the host: calls of one operator become one here.
#pragma once

#include <string_view>
#include <vector>

#include "src/trace/trace.h"

namespace dladvisor::xla {

// "alex_net/conv2d/Conv2D" of the annotation above; "" of what is none.
std::string_view OperatorOf(std::string_view annotation);

// Adds a range for calls of one operator that follow each other on a thread. `operators` has its name by row
// of kernels and of calls by their correlation. Ranges and calls are in order of start, and stay so.
struct OperatorOfCall {
  int64_t correlation;
  NameId name;
};
void AddAnnotatedOperators(Trace& trace, std::vector<OperatorOfCall> operators, NameId domain);

}  // namespace dladvisor::xla
