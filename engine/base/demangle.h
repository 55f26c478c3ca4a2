// SPDX-License-Identifier: Apache-2.0
// Names of functions as a linker has them, in C++'s words.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor {

// Whether a name is as the linker has it.
inline bool IsMangled(std::string_view name) { return name.starts_with("_Z"); }

// As written in the source, with all types; the name itself where it is none of a linker's, or may grow to
// more than a reader or the time allows (its parts may each name the one before twice). Kineto leaves some
// names of kernels as they are, all of them on some systems.
std::string Demangled(std::string_view name);

}  // namespace dladvisor
