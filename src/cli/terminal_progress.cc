// SPDX-License-Identifier: Apache-2.0
#include "src/cli/terminal_progress.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace dladvisor {
namespace {

constexpr const char* kEmptyLine = "\r\x1b[K";

}  // namespace

TerminalProgress::TerminalProgress() : thread_([this](const std::stop_token& stop) { Run(stop); }) {}

TerminalProgress::~TerminalProgress() {
  thread_.request_stop();
  thread_.join();
  Hide();
}

void TerminalProgress::Show(std::string what) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
}

void TerminalProgress::Hide() {
  const std::lock_guard lock(mutex_);
  what_.clear();
  if (std::exchange(shown_, false)) fmt::print(stderr, "{}", kEmptyLine);
}

void TerminalProgress::Run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (int seconds = 1;; ++seconds) {
    if (ended_.wait_for(lock, stop, std::chrono::seconds(1), [&] { return stop.stop_requested(); })) return;
    if (what_.empty()) continue;
    shown_ = true;
    fmt::print(stderr, "{}{}, {} s", kEmptyLine, what_, seconds);
    std::fflush(stderr);
  }
}

}  // namespace dladvisor
