// SPDX-License-Identifier: Apache-2.0
// The error with which a program ended, by what it printed last.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// "ImportError: No module named 'x'", "Assertion `n > 0' failed": of one line, valid UTF-8 and at most some
// 200 bytes; "" where none is among the last lines of `streams`, which are what one process printed: standard
// output and standard error. What it goes on from, and what it ends well after, is none. `did_nothing` says
// that it did none of its work: then more may follow the error, and a last line that begins with the word
// error counts, which of a program at work is often a message that it gets over.
std::string ProgramError(std::span<const std::string_view> streams, bool did_nothing);

// Words of a program that ends well, or that goes on from an error.
bool SaysItWentWell(std::string_view line);

}  // namespace dladvisor::training_log
