// SPDX-License-Identifier: Apache-2.0
// Scripts that complete commands, options, their choices, files, rules and relations. The names of rules and
// relations are asked of the program when they are needed, so that those of the project are among them.
#pragma once

#include <string>

#include "src/cli/command_words.h"

namespace dladvisor {

std::string BashCompletions(const CommandWords& program);
std::string ZshCompletions(const CommandWords& program);
std::string FishCompletions(const CommandWords& program);

}  // namespace dladvisor
