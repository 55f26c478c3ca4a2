// SPDX-License-Identifier: Apache-2.0
// Where the time goes of a program whose output no other reader knows: its progress bars, what passes after
// lines with dates, and the figures that it prints.
#pragma once

#include <cstdint>
#include <string_view>

#include "src/importers/training_log/program/dated_lines.h"
#include "src/importers/training_log/program/endless_bars.h"
#include "src/importers/training_log/program/program_bars.h"
#include "src/importers/training_log/program/program_figures.h"
#include "src/importers/training_log/program/program_words.h"
#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class ProgramTimeReader {
 public:
  // Whether the line shows that the program goes on.
  bool Line(std::string_view line, int64_t number);
  // That it does, as another reader found.
  void IsLearning() { signs_.Show(); }
  // Parts of a while, and what is known of waiting.
  ProgramOutput Finish() const;

 private:
  LearningSigns signs_;
  ProgramBarsReader bars_;
  EndlessBarsReader endless_;
  DatedLinesReader dated_;
  ProgramFiguresReader figures_;
};

}  // namespace dladvisor::training_log
