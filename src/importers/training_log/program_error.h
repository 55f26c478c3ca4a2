// SPDX-License-Identifier: Apache-2.0
// The error with which a program ended, by what it printed last.
#pragma once

#include <string>
#include <string_view>

namespace dladvisor::training_log {

// "ImportError: No module named 'x'", "assertion `n > 0' failed (a.cu:19)": of one line, valid UTF-8 and at
// most some 200 bytes; "" where none is among the last lines of what one process printed, standard output or
// standard error. `did_nothing` says that it did none of its work: then also a last line that begins with the
// word error counts, which of a program at work is often a message that it gets over.
std::string ProgramError(std::string_view printed, bool did_nothing);

}  // namespace dladvisor::training_log
