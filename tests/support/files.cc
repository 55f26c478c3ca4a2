// SPDX-License-Identifier: Apache-2.0
#include "tests/support/files.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace dladvisor::test {
namespace fs = std::filesystem;

// Where profiles are looked for, from the checkout, without $DLADVISOR_DATA.
constexpr const char* kDataBesideCheckout = "../shared/data";

fs::path SourceDir() { return DLADVISOR_SOURCE_DIR; }
fs::path ProgramPath() { return DLADVISOR_PROGRAM; }

fs::path DataDir() {
  if (const char* dir = std::getenv("DLADVISOR_DATA")) return dir;
  const fs::path beside = (SourceDir() / kDataBesideCheckout).lexically_normal();
  return fs::is_directory(beside) ? beside : fs::path();
}

fs::path ProfilePath(const std::string& name) {
  return (name.starts_with("examples/") ? SourceDir() : DataDir()) / name;
}

std::vector<fs::path> DataFiles(const std::string& folder, const std::string& extension) {
  std::vector<fs::path> files;
  const fs::path root = DataDir().empty() ? fs::path() : DataDir() / folder;
  if (!fs::is_directory(root)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file() && entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

ScratchDir::ScratchDir() {
  std::string name = (fs::temp_directory_path() / "dladvisor-test-XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a scratch folder");
  path_ = name;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void WriteFile(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << content;
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

RunResult Run(const std::string& command) {
  ScratchDir scratch;
  const std::string out = (scratch.path() / "out").string(), err = (scratch.path() / "err").string();
  const int raw = std::system(("( " + command + " ) >" + out + " 2>" + err + " </dev/null").c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw), ReadFile(out), ReadFile(err)};
}

}  // namespace dladvisor::test
