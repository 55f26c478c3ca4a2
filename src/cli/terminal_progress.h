// SPDX-License-Identifier: Apache-2.0
// What a command does, on one line of the terminal from its first second on.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace dladvisor {

class TerminalProgress {
 public:
  TerminalProgress();
  ~TerminalProgress();  // leaves an empty line
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  // "read: 3 of 8 files". Seconds are added.
  void Show(std::string what);
  // Empties the line until something else is shown.
  void Hide();

 private:
  void Run(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::string what_;
  bool shown_ = false;
  std::jthread thread_;
};

}  // namespace dladvisor
