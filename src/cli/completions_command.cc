// SPDX-License-Identifier: Apache-2.0
#include "src/cli/completions_command.h"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "src/analysis/compat/views.h"
#include "src/cli/shell_completions.h"

namespace dladvisor {
namespace {

// One name a line. A project or rules that are wrong are no business of a completion: those built in remain.
void PrintNames(const CommonOptions& common, bool relations) {
  KnowledgeBase knowledge = EmptyKnowledge();
  try {
    knowledge = LoadRules(common, LoadProject(common.config));
  } catch (const std::exception&) {
    knowledge = LoadRules({}, {});
  }
  if (!relations) {
    for (const Rule& rule : knowledge.rules()) fmt::print("{}\n", rule.id);
    return;
  }
  for (const Schema* schema : knowledge.schemas()) fmt::print("{}\n", schema->name);
  for (const auto views : {NsysViews, DlprofViews, PytorchViews, TracelensViews})
    for (const View& view : views()) fmt::print("{}\n", view.name);
}

}  // namespace

void AddCompletionsCommand(CLI::App& app, const CommonOptions& common) {
  auto what = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completions", "Print a shell's completions of commands and options");
  command
      ->add_option("SHELL", *what, "bash, zsh or fish; rules or relations: their names, which these ask for")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "rules", "relations"}));
  command->footer(
      "To try: source <(dladvisor completions bash). To keep: write it to "
      "/usr/share/bash-completion/completions/dladvisor, a folder of zsh's $fpath as _dladvisor, or "
      "~/.config/fish/completions/dladvisor.fish.");
  command->callback([&app, &common, what] {
    if (*what == "rules" || *what == "relations") return PrintNames(common, *what == "relations");
    const CommandWords program = ProgramWords(app);
    fmt::print("{}", *what == "bash"  ? BashCompletions(program)
                     : *what == "zsh" ? ZshCompletions(program)
                                      : FishCompletions(program));
  });
}

}  // namespace dladvisor
