// SPDX-License-Identifier: Apache-2.0
#include "src/cli/command_words.h"

#include <algorithm>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

Expected ExpectedOf(const std::string& value, bool has_choices) {
  if (has_choices) return Expected::kChoice;
  if (value == "RULE") return Expected::kRule;
  if (value == "RELATION") return Expected::kRelation;
  if (value == "PROFILE... SQL") return Expected::kProfileOrSql;
  if (value == "FOLDER") return Expected::kFolder;
  if (value == "FILE" || value == "A B" || value.starts_with("PROFILE")) return Expected::kFile;
  return Expected::kText;
}

OptionWords ToWords(const CLI::Option& option) {
  OptionWords words;
  words.description = option.get_description();
  // "TEXT:{html,md}" lists the choices.
  const std::string type = option.get_type_name();
  if (const size_t open = type.find(":{"); open != std::string::npos) {
    const std::string listed = type.substr(open + 2, type.rfind('}') - open - 2);
    for (const std::string_view choice : Split(listed, ',')) words.choices.emplace_back(choice);
  }
  if (option.get_positional()) {
    words.names = {option.get_name(true)};
    words.value = option.get_name(true);
    words.repeats = option.get_expected_max() > 1;
    words.is_required = option.get_required();
  } else {
    for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
    if (option.get_type_size() > 0) {
      words.value = type.substr(0, type.find(':'));
      words.repeats = option.get_expected_max() > 1;
    }
  }
  if (!words.value.empty()) words.expected = ExpectedOf(words.value, !words.choices.empty());
  return words;
}

CommandWords ToWords(const CLI::App& app, std::vector<std::string> path) {
  CommandWords words;
  words.name = app.get_name();
  words.path = std::move(path);
  words.description = app.get_description();
  words.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? words.positionals : words.options).push_back(ToWords(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::vector<std::string> below = words.path;
    below.push_back(command->get_name());
    words.commands.push_back(ToWords(*command, std::move(below)));
  }
  return words;
}

void Collect(const CommandWords& words, std::vector<const CommandWords*>& all) {
  all.push_back(&words);
  for (const CommandWords& command : words.commands) Collect(command, all);
}

}  // namespace

CommandWords ProgramWords(const CLI::App& app) { return ToWords(app, {}); }

std::vector<const CommandWords*> AllCommands(const CommandWords& program) {
  std::vector<const CommandWords*> all;
  Collect(program, all);
  return all;
}

}  // namespace dladvisor
