// SPDX-License-Identifier: Apache-2.0
// Measures the program's reports against labels of real profiles: ./dev evaluate.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tests/corpus/evaluation/print.h"
#include "tests/support/files.h"

int main(int argc, char** argv) {
  using namespace dladvisor;
  CLI::App app{"Measures the reports of dladvisor against labels of real profiles.", "evaluate"};
  std::string half, program = test::ProgramPath().string();
  bool unseen_misses = false, markdown = false;
  app.add_option("--half", half, "Only this half of the files")->check(CLI::IsMember({"seen", "unseen"}));
  app.add_flag("--unseen-misses", unseen_misses,
               "List what is missed in the half that rules are not made on");
  app.add_flag("--markdown", markdown, "Print docs/ACCURACY.md");
  app.add_option("--program", program, "Another build of dladvisor")->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  if (!std::filesystem::exists(program)) {
    std::fprintf(stderr, "evaluate: there is no program %s\n  build it, or name another with --program\n",
                 program.c_str());
    return 3;
  }
  try {
    const std::filesystem::path data = test::DataDir(), labels = evaluation::LabelsBeside(data);
    if (!std::filesystem::is_directory(labels)) {
      std::fprintf(
          stderr,
          "evaluate: there are no labels in %s\n  set DLADVISOR_DATA to the folder of profiles, which has "
          "truth/labels beside it (tests/README.md)\n",
          labels.c_str());
      return 3;
    }
    const auto expectations =
        evaluation::ReadExpectations(labels, test::SourceDir() / "tests/corpus/evaluation");
    const auto files = evaluation::JudgeFiles(expectations, program, data);
    const auto pairs = evaluation::JudgePairs(expectations, program);
    std::fputs((markdown ? evaluation::AsMarkdown(files, pairs)
                         : evaluation::AsText(files, pairs, half, unseen_misses))
                   .c_str(),
               stdout);
    if (files.size() < expectations.labels.size())
      std::fprintf(stderr, "evaluate: %zu of %zu labelled files are not there\n",
                   expectations.labels.size() - files.size(), expectations.labels.size());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "evaluate: %s\n", error.what());
    return 3;
  }
}
