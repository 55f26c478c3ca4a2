// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys_report/nsys_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/cancellation.h"
#include "engine/base/error.h"
#include "src/importers/nsys/nsys.h"

namespace dladvisor {
namespace fs = std::filesystem;

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code none;
    std::string name = (fs::temp_directory_path(none) / "dladvisor-XXXXXX").string();
    if (none || !mkdtemp(name.data()))
      throw Error(name, "cannot make a temporary folder", "set TMPDIR to a folder with room for the export");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// The program of that name on PATH, or empty.
fs::path FindProgram(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, end)) / name;
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::error_code none;
    if (fs::is_regular_file(candidate, none) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// Runs a program without a shell, its output going to `log`. Returns its exit status, or 128 and more.
int RunProgram(const fs::path& program, std::vector<std::string> arguments, const fs::path& log) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed) throw Error(program.string(), fmt::format("cannot be started: {}", std::strerror(failed)));
  int status = 0;
  for (pid_t ended = 0; ended == 0;) {
    ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == EINTR) ended = 0;
    if (ended < 0) throw Error(program.string(), fmt::format("was lost: {}", std::strerror(errno)));
    if (ended > 0) break;
    if (IsCancelled()) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ThrowIfCancelled();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// In single quotes, for the user's shell.
std::string ShellQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string LastLine(const fs::path& log) {
  std::ifstream in(log);
  std::string line, last;
  while (std::getline(in, line))
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  return last;
}

Trace ReadReport(const fs::path& path) {
  const std::string where = path.string();
  const std::string command =
      fmt::format("nsys export --type sqlite --force-overwrite true --output {} {}",
                  ShellQuoted(fs::path(path).replace_extension(".sqlite").string()), ShellQuoted(where));
  const fs::path nsys = FindProgram("nsys");
  if (nsys.empty())
    throw Error(where, "an Nsight Systems report, which only nsys can read, and nsys is not on PATH",
                "export it where nsys is installed, then give the .sqlite file: " + command);

  // Payloads of NVTX are left out unless asked for; old versions do not know the option.
  const TemporaryFolder folder;
  const fs::path exported = folder.path() / "export.sqlite", log = folder.path() / "log";
  const auto run = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"nsys", "export",   "--type",         "sqlite", "--force-overwrite",
                                          "true", "--output", exported.string()};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.push_back(fs::absolute(path).string());
    return RunProgram(nsys, std::move(arguments), log);
  };
  int status = run({"--include-blobs=true"});
  if (status != 0) status = run({});
  std::error_code none;
  if (status != 0 || !fs::is_regular_file(exported, none))
    throw Error(where, fmt::format("nsys could not export the report (status {}): {}", status, LastLine(log)),
                "export it with a version of nsys that is not older than the capture: " + command);
  try {
    Trace trace = ReadNsysExport(sqlite::Database(exported));
    trace.path = where;
    return trace;
  } catch (const Error& e) {
    throw Error(where, "its export cannot be read: " + e.reason(), e.hint());
  }
}

Importer::Fit ReportFits(const Input& input) {
  const std::string extension = input.path().extension().string();
  return !input.database() && (extension == ".nsys-rep" || extension == ".qdrep") ? Importer::Fit::kYes
                                                                                  : Importer::Fit::kNo;
}

}  // namespace

constinit const Importer kNsysReportImporter = {
    .in_list = "",
    .extensions = ".nsys-rep",
    .more_extensions = ".qdrep",
    .fits = ReportFits,
    .read = [](Input& input) { return std::optional(ReadReport(input.path())); },
};

}  // namespace dladvisor
