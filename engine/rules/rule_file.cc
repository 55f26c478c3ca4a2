// SPDX-License-Identifier: Apache-2.0
#include "engine/rules/rule_file.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include "engine/base/error.h"

namespace dladvisor {
namespace fs = std::filesystem;
namespace {

bool IsTest(const std::string& path) { return path.ends_with(".test.yaml"); }
bool IsRule(const std::string& path) { return path.ends_with(".yaml") && !IsTest(path); }

}  // namespace

std::vector<RuleFile> ReadRuleFolder(const fs::path& folder, bool tests) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    throw Error(folder.string(), "is not a folder of rules",
                "Give a folder that holds CATEGORY/ID.yaml files to --rules.");
  std::vector<RuleFile> files;
  std::set<fs::path> seen = {fs::weakly_canonical(folder, error)};  // links may lead back
  constexpr auto kFollow = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator it(folder, kFollow, error), end; it != end && !error;
       it.increment(error)) {
    const std::string path = it->path().string();
    std::error_code unknown;
    if (it->is_directory(unknown) && !seen.insert(fs::weakly_canonical(it->path(), unknown)).second) {
      it.disable_recursion_pending();
      continue;
    }
    if (path.ends_with(".yml")) throw Error(path, "is not read: files of rules end in .yaml", "Rename it.");
    if (!it->is_regular_file(unknown) || !(tests ? IsTest(path) : IsRule(path))) continue;
    std::ifstream in(it->path(), std::ios::binary);
    if (!in) throw Error(path, "cannot be read", "Check its permissions.");
    files.push_back({path, {std::istreambuf_iterator<char>(in), {}}});
  }
  if (error) throw Error(folder.string(), "cannot be read: " + error.message(), "Check its permissions.");
  if (files.empty() && !tests)
    throw Error(folder.string(), "holds no rule",
                "Rules are files CATEGORY/ID.yaml in the folder given to --rules.");
  std::sort(files.begin(), files.end(), [](const RuleFile& a, const RuleFile& b) { return a.path < b.path; });
  return files;
}

std::vector<RuleFile> EmbeddedRuleFiles(std::span<const EmbeddedFile> embedded, bool tests) {
  std::vector<RuleFile> files;
  for (const EmbeddedFile& file : embedded) {
    const std::string path = "built-in/" + std::string(file.path);
    if (tests ? IsTest(path) : IsRule(path)) files.push_back({path, std::string(file.content)});
  }
  return files;
}

}  // namespace dladvisor
