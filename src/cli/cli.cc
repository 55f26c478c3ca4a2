// SPDX-License-Identifier: Apache-2.0
#include "src/cli/cli.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/text.h"
#include "src/cli/compare_command.h"
#include "src/cli/completions_command.h"
#include "src/cli/digest_command.h"
#include "src/cli/doctor_command.h"
#include "src/cli/explain_command.h"
#include "src/cli/facts_command.h"
#include "src/cli/gate_command.h"
#include "src/cli/help.h"
#include "src/cli/man_command.h"
#include "src/cli/mcp_command.h"
#include "src/cli/query_command.h"
#include "src/cli/report_command.h"
#include "src/cli/rules_command.h"
#include "src/cli/session.h"
#include "src/cli/timeline_command.h"
#include "src/cli/version.h"
#include "src/importers/importers.h"
#include "src/render/escape.h"

namespace dladvisor {
namespace {

constexpr int kUnusable = 3;

int Fail(std::string_view message) {
  fmt::print(stderr, "dladvisor: {}\n", VisibleLines(message));
  return kUnusable;
}

// The word that stands where a command must, or "".
std::string UnknownCommand(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands()[0];
  std::vector<std::string> names;
  for (const CLI::App* sub : command->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  const std::vector<std::string> words = app.remaining(/*recurse=*/true);
  if (names.empty() || words.empty() || words[0].starts_with('-')) return "";
  return fmt::format("'{}' is not a command{}", words[0], DidYouMean(words[0], names));
}

// An option that neither the command nor the program has, or "".
std::string UnknownOption(const CLI::App& app) {
  std::string unknown;
  for (const std::string& word : app.remaining(/*recurse=*/true))
    if (unknown.empty() && word.starts_with("--")) unknown = word.substr(0, word.find('='));
  if (unknown.empty()) return "";
  std::vector<std::string> names;
  const auto has = [&](const CLI::App* command) {
    return std::ranges::any_of(command->get_options(), [&](const CLI::Option* option) {
      return std::ranges::any_of(option->get_lnames(),
                                 [&](const std::string& name) { return "--" + name == unknown; });
    });
  };
  for (const CLI::App* command : app.get_subcommands())
    if (has(command))
      return fmt::format("{} stands behind the command: {} {}", unknown, command->get_name(), unknown);
  for (const CLI::App* command = &app; command != nullptr;
       command = command->get_subcommands().empty() ? nullptr : command->get_subcommands()[0])
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return fmt::format("{} is not an option{}", unknown, DidYouMean(unknown, names));
}

// -o of a command that has none, or "".
std::string OutputOption(const CLI::App& app) {
  if (app.get_subcommands().empty()) return "";
  const std::vector<std::string> words = app.remaining(/*recurse=*/true);
  if (words.empty() || (words[0] != "-o" && words[0] != "--output")) return "";
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_subcommands()[0]->get_options())
    for (const std::string& name : option->get_lnames())
      for (const char* format : {"html", "markdown", "json", "junit", "sarif"})
        if (name == format) names.push_back("--" + name);
  return names.empty() ? "" : fmt::format("-o is not an option: {} FILE write", fmt::join(names, ", "));
}

// An option that ends in "=": CLI11 takes the word behind it for its value.
std::string EmptyOption(const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1)
      return fmt::format("{} names nothing; an unset variable of the shell leaves nothing behind the =",
                         argument);
  }
  return "";
}

// The command that was being parsed, e.g. "dladvisor rules test".
std::string CommandLine(const CLI::App& app) {
  std::string line = app.get_name();
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands()[0];
    line += " " + command->get_name();
  }
  return line;
}

// Whether profiles stand where a command does otherwise: `dladvisor run.sqlite` is a report. A word that is
// no file, and does not look like one, is a command mistyped.
bool IsReport(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  const auto is_command = [&](const std::string& argument) {
    return std::ranges::any_of(commands, [&](const CLI::App* c) { return c->get_name() == argument; });
  };
  const auto is_profile = [](const std::string& argument) {
    std::error_code error;
    return argument == "-" || std::filesystem::exists(argument, error) ||
           (!argument.starts_with('-') && argument.find_first_of("./*") != std::string::npos);
  };
  if (arguments.empty()) return false;
  if (!arguments[0].starts_with('-') || arguments[0] == "-")
    return !is_command(arguments[0]) && is_profile(arguments[0]);
  return std::ranges::none_of(arguments, is_command) && std::ranges::any_of(arguments, is_profile);
}

void NameGroups(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    command->group("Commands");
    NameGroups(*command);
  }
}

// A command has no use for the program's own footer.
void SetFooters(CLI::App& app, const std::string& of_program) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    std::string footer = command->get_footer();
    if (footer == of_program) footer = "Exit status: 0 done, 3 bad usage or unreadable input.";
    command->footer(footer + "\nOptions of every command, such as --rules and --config: `dladvisor --help`.");
    SetFooters(*command, of_program);
  }
}

// What an exception says; of {fmt}'s, which prints to nothing but standard output, where.
std::string WhatOf(const std::exception& error) {
  constexpr std::string_view kPrinting = "cannot write to file";
  const std::string_view what = error.what();
  if (!what.starts_with(kPrinting)) return std::string(what);
  return "standard output cannot be written" + std::string(what.substr(kPrinting.size()));
}

}  // namespace

int Main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `dladvisor ... | head` ends quietly
  CLI::App app("Says what makes a deep-learning run slow, why, and what fixing it would save.", "dladvisor");
  app.set_version_flag("--version", VersionText, "Print the version, how it was built and with what");
  app.require_subcommand(1);
  app.fallthrough();
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "PROFILE, a file, a folder or a pattern: " + ReadableFormats() +
      " or digest.\nExit status: 0 clean, 1 gate failed, 2 not comparable or no baseline, 3 bad usage or "
      "unreadable input.\nSee `dladvisor COMMAND --help` for details.");
  CommonOptions common;
  app.add_option("--rules", common.rule_folders, "Folder with more rules; may be given several times")
      ->allow_extra_args(false)
      ->type_name("FOLDER")
      ->check(NamesFile());
  app.add_option("--config", common.config,
                 "Project file; default: the first dladvisor.yaml from the working folder upwards")
      ->type_name("FILE")
      ->check(NamesFile());
  app.add_flag("--quiet", common.quiet, "No progress messages");
  app.add_flag("--stats", common.stats, "Print how long each stage took to stderr");
  for (const Command add :
       {AddReportCommand, AddCompareCommand, AddTimelineCommand, AddQueryCommand, AddFactsCommand,
        AddDigestCommand, AddRulesCommand, AddExplainCommand, AddGateCommand, AddDoctorCommand, AddMcpCommand,
        AddCompletionsCommand, AddManCommand})
    add(app, common);
  NameGroups(app);
  SetFooters(app, app.get_footer());
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const std::string problem = EmptyOption(arguments); !problem.empty()) return Fail(problem);
  if (IsReport(app, arguments)) arguments.insert(arguments.begin(), "report");
  try {
    std::ranges::reverse(arguments);  // as CLI11 takes them
    app.parse(arguments);
    return std::fflush(stdout) == 0 ? 0 : Fail("standard output cannot be written");
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::RuntimeError& status) {  // a command that ends with a status of its own
    return status.get_exit_code();
  } catch (const CLI::ParseError& error) {
    const bool none = app.get_subcommands().empty();
    std::string problem = UnknownCommand(app);
    if (problem.empty()) problem = OutputOption(app);
    if (problem.empty()) problem = UnknownOption(app);
    if (problem.empty())
      problem = none && error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError)
                    ? "give a command, or a profile for its report"
                    : error.what();
    return Fail(fmt::format("{}\n  `{} --help` shows {}.", problem, CommandLine(app),
                            none ? "the commands and options" : "how it is used"));
  } catch (const std::bad_alloc&) {
    return Fail("out of memory");
  } catch (const std::exception& error) {  // Error and its like
    return Fail(WhatOf(error));
  }
}

}  // namespace dladvisor
