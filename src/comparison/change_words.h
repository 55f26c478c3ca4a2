// SPDX-License-Identifier: Apache-2.0
// What a comparison says in sentences.
#pragma once

#include <string>
#include <string_view>

#include "src/comparison/compare_runs.h"

namespace dladvisor {

// Kernels of a kind in the plural: "matrix products", "element-wise kernels".
std::string_view KindWords(std::string_view kind);

// "3.1 ms more", "12 µs less".
std::string MoreOrLess(double change_ns);
// "22.0 % less", "4.1 % more".
std::string MoreOrLessShare(double change);

// The headline and the reasons, from all else that `compared` holds.
void DescribeChange(RunsCompared& compared);

}  // namespace dladvisor
