// SPDX-License-Identifier: Apache-2.0
// Where the time goes of a program whose output no other reader knows: its
// progress bars, and what passes after lines with dates, by kind of line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/training_log/program/endless_bars.h"
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
  struct Lines {
    ProgramPart part;
    std::string first;                       // as it is written
    std::optional<int64_t> counted, out_of;  // the last "12/300" in it
    int64_t counted_ns = 0;                  // when
    int64_t items = 0;                       // from one such line to the next
    double items_ns = 0;
    int64_t counts = 0;                 // such lines behind the first
    bool falls = false;                 // what they count
    double second_ns = 0;               // the longest but one
    int64_t first_ns = 0, last_ns = 0;  // dates of the first and the last
    double undated_ns = 0;              // that passes while lines without a date tell what is done
  };
  struct Stamp {
    int64_t ns = 0, number = 0;
    std::string kind;
  };

  Bars* BarsOf(std::string_view title, int64_t total, std::string& with_numbers);
  bool TakeBar(std::string_view line);
  void TakeBarWithoutTotal(std::string_view line);
  static void TakePoint(Bars& bars, const std::string& title, Point point, int64_t total);
  static bool DrawnByTurns(Bars& bars, const std::string& title, Point point, int64_t total);
  static void EndBar(Bars& bars);
  static ProgramPart PartOf(Bars bars);
  using Kinds = std::map<std::string, Lines, std::less<>>;
  static Lines* KindOf(Kinds& kinds, const std::string& words);
  bool TakeStamp(std::string_view line, int64_t number);
  static ProgramPart PartOf(const Lines& lines);
  static double PauseIn(const Lines& lines);
  void AddLines(ProgramOutput& output) const;
  void AddRounds(ProgramOutput& output) const;

  LearningSigns signs_;
  std::map<std::string, Bars, std::less<>> bars_;
  Kinds kinds_, sections_;
  std::optional<Stamp> last_;
  std::string first_kind_;
  bool failed_ = false;                               // since then: what follows is not the program's time
  std::string section_;                               // what the last line without a date announces
  int64_t restarts_ = 0;                              // between which the program did not run
  int64_t known_since_ = 0;                           // lines of known kinds since an exception
  int64_t undated_ = 0;                               // lines since the last with a date
  int64_t stamps_ = 0, backward_ = 0, wordless_ = 0;  // lines with dates
  double passed_ns_ = 0, restarts_ns_ = 0;
  bool between_hours_ = false;  // that a date is not at a full hour
  EndlessBarsReader endless_;
  ProgramFiguresReader figures_;
};

}  // namespace dladvisor::training_log
