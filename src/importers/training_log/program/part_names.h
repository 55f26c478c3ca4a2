// SPDX-License-Identifier: Apache-2.0
// How parts of a program's output are named: by words of it that stay as it goes on.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// Without control characters and what is not ASCII.
std::string PlainWords(std::string_view text);

// At most so many characters, without blanks around them.
std::string CutTo(std::string_view text, size_t most);

// With "#" for each number.
std::string WithoutNumbers(std::string text);

bool HasWord(std::string_view text);

}  // namespace dladvisor::training_log
