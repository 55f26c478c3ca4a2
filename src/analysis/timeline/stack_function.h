// SPDX-License-Identifier: Apache-2.0
// What the frames of sampled stacks say of a program.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

// False for frames that say nothing of what a program computes: its start, the interpreter, addresses without
// a name.
bool NamesAFunction(std::string_view frame);

// A frame's function without its type, arguments and template arguments, "Points::clear"; "" where it is none
// of the program's, but of the standard library, of the C library within a call, or of CUDA.
std::string OwnFunction(std::string_view frame);

}  // namespace dladvisor
