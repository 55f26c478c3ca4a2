// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "engine/base/error.h"

namespace dladvisor {
namespace {

// RssAnon of a process, now. Its peak is sampled: the kernel keeps only that of all memory, mapped files
// included.
double AnonymousMb(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) * 1024 / 1e6;
  return 0;
}

}  // namespace

double OwnCpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return CpuSeconds(usage);
}

double LeastCpu(int times, const std::function<void()>& work) {
  double least = 1e300;
  for (int i = 0; i < times; ++i) {
    const double start = OwnCpuSeconds();
    work();
    least = std::min(least, OwnCpuSeconds() - start);
  }
  return least;
}

double CpuSeconds(const rusage& usage) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ChildRun RunChild(const std::vector<std::string>& arguments, ChildOutput output) {
  std::vector<std::string> texts = {"/proc/self/exe"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output == ChildOutput::kDropped)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ChildRun run;
  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw Error("bench", "cannot start itself");
  int status = 0;
  rusage usage{};
  while (wait4(pid, &status, WNOHANG, &usage) == 0) {
    run.peak_anonymous_mb = std::max(run.peak_anonymous_mb, AnonymousMb(pid));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.cpu_seconds = CpuSeconds(usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error("bench", fmt::format("`bench {}` failed", fmt::join(arguments, " ")));
  return run;
}

}  // namespace dladvisor
