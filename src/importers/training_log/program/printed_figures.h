// SPDX-License-Identifier: Apache-2.0
// Times and rates that a program prints by name ("Prefill latency: 752.7 ms", "decode took 2.8 s", "bs=4
// tokens/s=221.9"), which are all that the output of many benchmarks says.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/training_log/program/program_words.h"
#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class PrintedFiguresReader {
 public:
  void Line(std::string_view line);
  // Nothing of a text that is no output: prose, source code, a configuration.
  void AddTo(ProgramOutput& output) const;
  // Whether these are times of a training or of its parts.
  bool OfTraining() const;
  // Whether times of parts are printed again and again: of several as often as steps are, or of one that
  // often and more.
  bool TimesParts(int64_t steps) const;
  // Leaves out what is printed far less often than these: of a start, of an answer of the model.
  void KeepParts() { keeps_parts_ = true; }

 private:
  struct Figure {
    ProgramFigure values;
    int64_t order = 0;  // of its first line
    double last = 0;    // of the values
    bool rises = true;  // whether none is below the one before
  };
  // Of one rate in lines that differ only in numbers, by what is worked on at once.
  struct Scaling {
    std::string name, unit;
    std::map<int64_t, double> rates;
  };

  // Of names that are alike but for a number.
  struct Counter {
    Figure figure;
    std::set<std::string, std::less<>> names;  // the first of them
    int64_t last = 0, reached = 0;
    bool broken = false;  // whether their numbers do not follow one another
  };

  static void AddTo(Figure& figure, double taken);
  static bool IsClock(const Figure& figure);
  bool TakeCounted(const std::string& name, const std::string& rate, double taken);
  std::map<std::string, Figure, std::less<>> Figures() const;
  bool TakeParts(std::string_view line);
  void Take(std::string_view name, double value, std::string_view unit);
  void TakeAtOnce(const std::string& line);
  static void TakeBreakdown(std::vector<ProgramFigure> block, std::vector<ProgramFigure>& breakdown);
  bool IsOutput() const;

  std::map<std::string, Figure, std::less<>> figures_;
  std::map<std::string, Counter, std::less<>> counters_;
  std::map<std::string, Scaling, std::less<>> scalings_;
  // Times of lines one below the other, and of such lines those of which one is the sum of all others.
  std::vector<ProgramFigure> block_, breakdown_;
  LearningSigns signs_;
  int64_t lines_ = 0, of_text_ = 0, with_figures_ = 0, fractions_ = 0, headings_ = 0, marks_ = 0;
  bool document_ = false, names_host_ = false, names_gpu_ = false, keeps_parts_ = false;
};

}  // namespace dladvisor::training_log
