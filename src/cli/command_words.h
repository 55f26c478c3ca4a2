// SPDX-License-Identifier: Apache-2.0
// The commands and their options as plain words, for whatever is generated from them: man pages and
// completions.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace dladvisor {

// What may stand in a place of a command line.
enum class Expected { kNothing, kText, kChoice, kFile, kFolder, kRule, kRelation, kProfileOrSql };

struct OptionWords {
  std::vector<std::string> names;  // "-o", "--output"; of a positional its name alone
  std::string value;               // "FILE"; "" of a flag
  std::string description;
  Expected expected = Expected::kNothing;
  std::vector<std::string> choices;
  bool repeats = false;
  bool is_required = false;
};

struct CommandWords {
  std::string name;               // "test"
  std::vector<std::string> path;  // {"rules", "test"}; {} of the program
  std::string description, footer;
  std::vector<OptionWords> options;      // without positionals
  std::vector<OptionWords> positionals;  // in order
  std::vector<CommandWords> commands;    // below it
};

CommandWords ProgramWords(const CLI::App& app);

// All of it, the program first, each command before those below it.
std::vector<const CommandWords*> AllCommands(const CommandWords& program);

}  // namespace dladvisor
