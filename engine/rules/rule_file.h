// SPDX-License-Identifier: Apache-2.0
// The text of rule files: built in, or from a folder.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/base/embedded.h"

namespace dladvisor {

struct RuleFile {
  std::string path;     // as shown in messages; its stem is the rule's id, its folder the category
  std::string content;  // YAML
};

// The *.yaml files below `folder` (not *.test.yaml), sorted by path. Throws Error where it is not a folder,
// holds
// *.yml files or, without `tests`, no rule.
std::vector<RuleFile> ReadRuleFolder(const std::filesystem::path& folder, bool tests = false);
std::vector<RuleFile> EmbeddedRuleFiles(std::span<const EmbeddedFile> files, bool tests = false);

}  // namespace dladvisor
