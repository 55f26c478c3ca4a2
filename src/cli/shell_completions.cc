// SPDX-License-Identifier: Apache-2.0
#include "src/cli/shell_completions.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace dladvisor {
namespace {

std::string Joined(const std::vector<std::string>& words, const char* separator = " ") {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string Replaced(std::string_view text, std::string_view what, const std::string& by) {
  std::string result;
  for (const char c : text) {
    if (what.find(c) != std::string_view::npos)
      result += by + c;
    else
      result += c;
  }
  return result;
}

// Within single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted;
}

std::string PathOf(const CommandWords& command) { return Joined(command.path); }

std::string NamesOf(const CommandWords& command) {
  std::vector<std::string> names;
  for (const CommandWords& below : command.commands) names.push_back(below.name);
  return Joined(names);
}

std::string BashWords(const std::string& words) {
  return fmt::format("mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$current\")", words);
}

// Adds to COMPREPLY.
std::string BashMore(const std::string& words) {
  return fmt::format("mapfile -t -O ${{#COMPREPLY[@]}} COMPREPLY < <(compgen {} -- \"$current\")", words);
}

// What fills COMPREPLY.
std::string BashAnswer(const OptionWords& option) {
  constexpr const char* kFiles = "mapfile -t COMPREPLY < <(compgen -f -- \"$current\")";
  switch (option.expected) {
    case Expected::kChoice:
      return BashWords(Joined(option.choices));
    case Expected::kFile:
      return kFiles;
    case Expected::kFolder:
      return "mapfile -t COMPREPLY < <(compgen -d -- \"$current\")";
    case Expected::kRule:
      return BashWords("$(dladvisor completions rules 2>/dev/null)");
    case Expected::kRelation:
      return BashWords("$(dladvisor completions relations 2>/dev/null)");
    case Expected::kProfileOrSql:
      return std::string(kFiles) + "; ((place)) && " +
             BashMore("-W \"$(dladvisor completions relations 2>/dev/null)\"");
    case Expected::kNothing:
    case Expected::kText:
      break;
  }
  return ":";
}

std::string ZshAction(const OptionWords& option) {
  switch (option.expected) {
    case Expected::kChoice:
      return "(" + Joined(option.choices) + ")";
    case Expected::kFile:
      return "_files";
    case Expected::kFolder:
      return "_files -/";
    case Expected::kRule:
      return "{compadd -- $(dladvisor completions rules 2>/dev/null)}";
    case Expected::kRelation:
      return "{compadd -- $(dladvisor completions relations 2>/dev/null)}";
    case Expected::kProfileOrSql:
      return "{_files; compadd -- $(dladvisor completions relations 2>/dev/null)}";
    case Expected::kNothing:
    case Expected::kText:
      break;
  }
  return " ";
}

std::string ZshText(std::string_view text) { return Quoted(Replaced(text, "[]:\\", "\\")); }

std::string ZshFunction(const CommandWords& command) {
  std::string name = "_dladvisor";
  for (const std::string& word : command.path) name += "_" + word;
  return name;
}

void WriteZshFunction(std::string& script, const CommandWords& command) {
  script += ZshFunction(command) + "() {\n  local curcontext=$curcontext state line ret=1\n" +
            "  typeset -A opt_args\n  _arguments -C";
  for (const OptionWords& option : command.options)
    for (const std::string& name : option.names)
      script += fmt::format(
          " \\\n    '{}{}[{}]{}'", option.repeats ? "*" : "", name, ZshText(option.description),
          option.value.empty() ? ""
                               : fmt::format(":{}:{}", ZshText(option.value), Quoted(ZshAction(option))));
  for (const OptionWords& positional : command.positionals)
    script += fmt::format(" \\\n    '{}:{}:{}'", positional.repeats ? "*" : "", ZshText(positional.value),
                          Quoted(ZshAction(positional)));
  if (!command.commands.empty()) script += " \\\n    ':command:->command' '*::argument:->argument'";
  script += " && ret=0\n";
  if (!command.commands.empty()) {
    script += "  case $state in\n    command)\n      local -a commands=(";
    for (const CommandWords& below : command.commands)
      script += fmt::format("\n        '{}:{}'", below.name, Quoted(Replaced(below.description, ":", "\\")));
    script += ")\n      _describe command commands && ret=0\n";
    if (command.path.empty()) script += "      _files && ret=0\n";
    script += "      ;;\n    argument)\n      case $words[1] in\n";
    for (const CommandWords& below : command.commands)
      script += fmt::format("        {}) {} && ret=0 ;;\n", below.name, ZshFunction(below));
    script += "      esac\n      ;;\n  esac\n";
  }
  script += "  return ret\n}\n\n";
  for (const CommandWords& below : command.commands) WriteZshFunction(script, below);
}

std::string FishAnswer(const OptionWords& option) {
  switch (option.expected) {
    case Expected::kChoice:
      return fmt::format(" -f -a '{}'", Joined(option.choices));
    case Expected::kFile:
      return " -F";
    case Expected::kFolder:
      return " -f -a '(__fish_complete_directories)'";
    case Expected::kRule:
      return " -f -a '(dladvisor completions rules 2>/dev/null)'";
    case Expected::kRelation:
      return " -f -a '(dladvisor completions relations 2>/dev/null)'";
    case Expected::kProfileOrSql:
      return " -F -a '(dladvisor completions relations 2>/dev/null)'";
    case Expected::kNothing:
    case Expected::kText:
      break;
  }
  return " -f";
}

std::string FishText(std::string_view text) { return Replaced(text, "'\\", "\\"); }

}  // namespace

std::string BashCompletions(const CommandWords& program) {
  const std::vector<const CommandWords*> commands = AllCommands(program);
  std::string walk, values, options, places;
  for (const CommandWords* command : commands) {
    const std::string path = PathOf(*command);
    for (const CommandWords& below : command->commands)
      walk += fmt::format("      '{}:{}') command='{}' ;;\n", path, below.name, PathOf(below));
    std::vector<std::string> names;
    for (const OptionWords& option : command->options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back(path.empty() ? "*:" + name : fmt::format("'{}:{}'", path, name));
      values += fmt::format("    {}) {}; return ;;\n", Joined(patterns, "|"), BashAnswer(option));
      walk += fmt::format("      {}) ((++i)) ;;\n", Joined(patterns, "|"));
    }
    options += fmt::format("    '{}:'-*) {} ;;\n", path, BashWords(Joined(names)));
    if (!command->commands.empty())
      places += fmt::format("    '{}:'*) {}{} ;;\n", path, BashWords(NamesOf(*command)),
                            path.empty() ? "; " + BashMore("-f") : std::string());
    for (size_t i = 0; i < command->positionals.size(); ++i)
      places += fmt::format("    '{}:'{}) {} ;;\n", path,
                            command->positionals[i].repeats ? "*" : fmt::format("{}", i),
                            BashAnswer(command->positionals[i]));
  }
  return fmt::format(
      "# Completions of dladvisor for bash\n"
      "_dladvisor() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} command= place=0 "
      "i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$command:${{COMP_WORDS[i]}}\" in\n"
      "{}"
      "      *:-?*) ;;\n"
      "      *) ((++place)) ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command:$previous\" in\n{}  esac\n"
      "  case \"$command:$current\" in\n{}    *) false ;;\n  esac && return\n"
      "  case \"$command:$place\" in\n{}  esac\n"
      "}}\n"
      "complete -o filenames -F _dladvisor dladvisor\n",
      walk, values, options, places);
}

std::string ZshCompletions(const CommandWords& program) {
  std::string script = "#compdef dladvisor\n# Completions of dladvisor for zsh\n\n";
  WriteZshFunction(script, program);
  // As a file of $fpath it is the function itself; sourced, it defines it.
  return script +
         "if [ \"$funcstack[1]\" = _dladvisor ]; then\n  _dladvisor \"$@\"\nelse\n  compdef _dladvisor "
         "dladvisor\nfi\n";
}

std::string FishCompletions(const CommandWords& program) {
  std::string walk, lines;
  for (const CommandWords* command : AllCommands(program)) {
    const std::string path = PathOf(*command);
    const std::string begin = fmt::format("complete -c dladvisor -n '__dladvisor_is \"{}\"'", path);
    for (const CommandWords& below : command->commands) {
      walk += fmt::format("      case '{} {}'\n        set command '{}'\n", path, below.name, PathOf(below));
      lines += fmt::format("{}{} -a {} -d '{}'\n", begin, path.empty() ? "" : " -f", below.name,
                           FishText(below.description));
    }
    for (const OptionWords& option : command->options) {
      std::string names;
      for (const std::string& name : option.names)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      lines +=
          fmt::format("{}{}{} -d '{}'\n", path.empty() ? "complete -c dladvisor" : begin, names,
                      option.value.empty() ? "" : " -r" + FishAnswer(option), FishText(option.description));
    }
    for (const OptionWords& positional : command->positionals) lines += begin + FishAnswer(positional) + "\n";
  }
  return fmt::format(
      "# Completions of dladvisor for fish\n"
      "function __dladvisor_is\n"
      "  set -l command ''\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$command $word\"\n{}"
      "    end\n"
      "  end\n"
      "  test \"$command\" = \"$argv[1]\"\n"
      "end\n\n{}",
      walk, lines);
}

}  // namespace dladvisor
