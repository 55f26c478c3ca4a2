// SPDX-License-Identifier: Apache-2.0
// What a text without a step of a training shows of itself, for the message that refuses it: the program that
// wrote it, and its longest progress bar.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/memory_taken.h"

namespace dladvisor::training_log {

class OtherLinesReader {
 public:
  void Line(std::string_view line);

  // What the text is, "" where nothing is known of it, and what to do then.
  struct Refusal {
    std::string what, next_step;
  };
  // `error` ended the program, "" for none, and tells of `memory`.
  Refusal Refuse(const std::string& error, const std::optional<MemoryTaken>& memory) const;

 private:
  void Bar(std::string_view line);
  struct Point {
    int64_t done = 0, seconds = 0;
  };
  Point Late() const;
  void Profile(std::string_view line);
  void BarWithoutTotal(std::string_view line);
  void TakeTitle(std::string_view text);

  std::string_view program_;
  bool serves_ = false;
  std::string title_, stop_;
  int64_t done_ = 0, total_ = 0, seconds_ = 0;                  // of the longest bar
  int64_t first_done_ = 0, first_seconds_ = 0, last_done_ = 0;  // from where a bar that goes on counts
  std::vector<Point> points_;                                   // of the last bar, one for each second
  Point late_;                                                  // of the longest
  int64_t lines_ = 0, records_ = 0, rows_ = 0;                  // in JSON with a loss; numbers behind a date
  std::set<std::string, std::less<>> values_;                   // of these rows, of few the first
  std::string action_;                                          // of Lightning's advanced profiler
  int64_t profiles_ = 0;
  double data_seconds_ = 0, batch_seconds_ = 0;
  int64_t full_memories_ = 0;  // lines that tell of these
};

}  // namespace dladvisor::training_log
