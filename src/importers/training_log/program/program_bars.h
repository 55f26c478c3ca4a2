// SPDX-License-Identifier: Apache-2.0
// Progress bars of which the total is known, and such that only count: how long what they count takes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class ProgramBarsReader {
 public:
  // A line with "%|". Whether it shows that the program goes on.
  bool TakeBar(std::string_view line);
  // A line with "it [".
  void TakeBarWithoutTotal(std::string_view line);
  // The ones of a while.
  void AddTo(ProgramOutput& output) const;

 private:
  struct Point {
    int64_t done = 0, seconds = 0;
  };
  struct Bar {
    std::vector<Point> points;  // one for each second
    Point latest;
    std::string title;  // with its numbers
    int64_t total = 0, first = 0, first_seconds = 0;
    int64_t starts = 0, ends = 0;  // times that it is drawn so
  };
  struct Bars {
    Bar last;
    std::set<std::string> open;  // that others were drawn behind before they were done
    bool mixed = false;          // drawn by turns, or so that their number is not known
    ProgramPart all;             // of the ones before
    double rated_ns = 0, tokens = 0;
  };
  Bars* BarsOf(std::string_view title, int64_t total, std::string& with_numbers);
  static void TakePoint(Bars& bars, const std::string& title, Point point, int64_t total);
  static bool DrawnByTurns(Bars& bars, const std::string& title, Point point, int64_t total);
  static void EndBar(Bars& bars);
  static void TakeSlowOnes(const Bar& bar, ProgramPart& all);
  static ProgramPart PartOf(Bars bars);

  std::map<std::string, Bars, std::less<>> bars_;
};

}  // namespace dladvisor::training_log
