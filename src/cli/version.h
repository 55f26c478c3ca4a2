// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dladvisor {

// What --version prints: the program, how it was built, with which libraries, and what of the CPU is used.
std::string VersionText();

}  // namespace dladvisor
