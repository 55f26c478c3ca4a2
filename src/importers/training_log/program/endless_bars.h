// SPDX-License-Identifier: Apache-2.0
// Progress bars of which the total is not known: "Predicting DataLoader 0: |      | 621/? [3:12:18<00:00,
// 0.05it/s]". Their rates have too few digits, so that what each takes comes from their clock. Several
// programs may write to one output: bars of one title that go on by turns are kept apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class EndlessBarsReader {
 public:
  // Whether the line has such a bar.
  bool Line(std::string_view line);
  // The ones of a while.
  void AddTo(ProgramOutput& output) const;

 private:
  struct Bar {
    int64_t first = 0, first_seconds = 0;  // where it was seen first, behind its start
    int64_t done = 0, seconds = 0, step = 1;
  };
  struct Bars {
    std::string name;
    std::vector<Bar> all;
    size_t last = 0;    // of them the one that was drawn last
    int64_t turns = 0;  // that another one went on than the last
  };

  static void Take(Bars& bars, int64_t done, int64_t seconds);

  std::map<std::string, Bars, std::less<>> bars_;
};

}  // namespace dladvisor::training_log
