// SPDX-License-Identifier: Apache-2.0
// Man pages, made from what --help says: one of the program, one of each command.
#include "src/cli/man_command.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/text.h"
#include "src/cli/command_words.h"

namespace dladvisor {
namespace {

// Text as roff prints it as it is: a line must not begin with a control character.
std::string Roff(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (roff.empty() || roff.back() == '\n')) roff += "\\&";
    if (c == '\\')
      roff += "\\e";
    else if (c == '-')
      roff += "\\-";
    else
      roff += c;
  }
  return roff;
}

std::string Sentence(const std::string& text) { return Roff(text) + (text.ends_with('.') ? "\n" : ".\n"); }

std::string Bold(std::string_view text) { return "\\fB" + Roff(text) + "\\fR"; }
std::string Italic(std::string_view text) { return "\\fI" + Roff(text) + "\\fR"; }

std::string ValueOf(const OptionWords& option) {
  if (option.choices.empty()) return Italic(option.value);
  std::vector<std::string> choices;
  for (const std::string& choice : option.choices) choices.push_back(Bold(choice));
  return fmt::format("{}", fmt::join(choices, "|"));
}

void WriteOption(std::string& page, const OptionWords& option, bool is_positional) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(is_positional ? Italic(name) : Bold(name));
  page += fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!is_positional && !option.value.empty()) page += " " + ValueOf(option);
  page += "\n" + Roff(option.description) + "\n";
}

std::string Synopsis(const CommandWords& command) {
  std::string line = "dladvisor";
  for (const std::string& word : command.path) line += " " + word;
  std::string text = Bold(line);
  if (!command.options.empty()) text += " [" + Italic("OPTION") + "]...";
  if (!command.commands.empty()) text += " " + Italic("COMMAND");
  for (const OptionWords& positional : command.positionals) {
    const std::string name = Italic(positional.names[0]);
    text += positional.is_required ? " " + name : " [" + name + "]";
  }
  return text + "\n";
}

void WriteOptions(std::string& page, const CommandWords& command) {
  for (const OptionWords& positional : command.positionals) WriteOption(page, positional, true);
  for (const OptionWords& option : command.options) WriteOption(page, option, false);
}

// "dladvisor-rules"
std::string PageName(const CommandWords& command) {
  return command.path.empty() ? "dladvisor" : "dladvisor-" + command.path[0];
}

std::string Page(const CommandWords& command, const CommandWords& program) {
  const bool is_program = command.path.empty();
  std::string title = PageName(command);
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string page =
      fmt::format(".TH {} 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", Roff(title),
                  kProgram, Roff(PageName(command)), Roff(command.description));
  if (is_program)
    page += Bold("dladvisor") + " " + Italic("PROFILE") + "... [" + Italic("OPTION") + "]...\n.br\n";
  page += Synopsis(command) + ".SH DESCRIPTION\n" + Sentence(command.description);
  if (is_program) page += "A profile without a command is reported.\n";
  if (!command.positionals.empty() || !command.options.empty()) page += ".SH OPTIONS\n";
  WriteOptions(page, command);
  if (!command.commands.empty()) page += ".SH COMMANDS\n";
  for (const CommandWords& below : command.commands) {
    if (is_program) {
      page += ".TP\n" + Bold(below.name) + "\n" + Roff(below.description) + "\n";
      continue;
    }
    page += ".SS " + Roff(below.name) + "\n" + Synopsis(below) + ".PP\n" + Sentence(below.description);
    WriteOptions(page, below);
  }
  if (!command.footer.empty()) page += ".SH NOTES\n" + Roff(command.footer) + "\n";
  page += ".SH SEE ALSO\n";
  std::vector<std::string> others;
  if (!is_program) others.push_back(Bold("dladvisor") + "(1)");
  for (const CommandWords& other : program.commands)
    if (is_program) others.push_back(Bold(PageName(other)) + "(1)");
  return page + fmt::format("{}\n", fmt::join(others, ",\n"));
}

void Run(const CommandWords& program, const std::string& command, const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> pages;
  std::vector<std::string> names;
  std::vector<const CommandWords*> commands = {&program};
  for (const CommandWords& each : program.commands) commands.push_back(&each);
  for (const CommandWords* each : commands) {
    names.push_back(each->name);
    if (command.empty() || command == each->name)
      pages.emplace_back(PageName(*each) + ".1", Page(*each, program));
  }
  if (pages.empty())
    throw Error("man " + command, "is not a command" + DidYouMean(command, names),
                "`dladvisor --help` lists them.");
  if (folder.empty()) {
    fmt::print("{}", pages[0].second);
    return;
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);  // writing reports it
  for (const auto& [name, page] : pages) WriteFileWhole(std::filesystem::path(folder) / name, page);
}

}  // namespace

void AddManCommand(CLI::App& app, const CommonOptions&) {
  auto name = std::make_shared<std::string>(), folder = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("man", "Print the man page of the program or of a command");
  command->add_option("COMMAND", *name, "Of this command; default: of the program");
  command->add_option("-o,--output", *folder, "Folder to write all pages to, or that of the command")
      ->type_name("FOLDER");
  command->callback([&app, name, folder] { Run(ProgramWords(app), *name, *folder); });
}

}  // namespace dladvisor
