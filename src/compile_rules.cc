// SPDX-License-Identifier: Apache-2.0
// Run by the build: checks the rules of a folder and writes them as an image (engine/rules/rule_image.h).
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/output_file.h"
#include "engine/rules/rule_image.h"
#include "src/fleet/load_profiles.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: compile_rules FOLDER IMAGE\n");
    return 1;
  }
  try {
    dladvisor::KnowledgeBase knowledge = dladvisor::EmptyKnowledge();
    std::vector<dladvisor::RuleFile> files = dladvisor::ReadRuleFolder(argv[1]);
    // The table of GPU models, which lies beside the categories.
    std::erase_if(files,
                  [&](const auto& file) { return file.path == std::string(argv[1]) + "/hardware.yaml"; });
    knowledge.AddLayer(files);
    // The program calls them what they are to its users, who have no such folder.
    for (dladvisor::RuleFile& file : files)
      file.path.replace(0, std::string_view(argv[1]).size(), "built-in");
    dladvisor::KnowledgeBase built_in = dladvisor::EmptyKnowledge();
    built_in.AddLayer(files);
    // What `rules check` would warn an author of is mended before it is built in.
    if (!knowledge.warnings().empty()) throw dladvisor::RuleErrors(knowledge.warnings());
    dladvisor::WriteFileWhole(argv[2], dladvisor::WriteRuleImage(built_in));
  } catch (const dladvisor::RuleErrors& errors) {
    for (const std::string& problem : errors.problems()) fmt::print(stderr, "{}\n", problem);
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
