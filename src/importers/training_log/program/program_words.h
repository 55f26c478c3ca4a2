// SPDX-License-Identifier: Apache-2.0
// What words of a program's output say of it.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace dladvisor::training_log {

// Whether the lines show that a program of deep learning or a GPU is at work:
// any text may have dates.
class LearningSigns {
 public:
  void Line(std::string_view line);
  bool shown() const { return shown_; }
  void Show() { shown_ = true; }

 private:
  std::set<std::string> words_;  // of which one alone shows nothing
  bool shown_ = false;
};

// Behind such a line nothing is at work until the next one: it tells of a
// failure or the end of the process, or that it waits for others, sleeps or has
// nothing to do.
bool NothingFollows(std::string_view line);

// Whether the line is a library's, by the file that it names.
bool OfLibrary(std::string_view line);

}  // namespace dladvisor::training_log
