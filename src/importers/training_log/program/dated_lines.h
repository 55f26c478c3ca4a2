// SPDX-License-Identifier: Apache-2.0
// Where the time goes of a program whose lines have dates: what passes after each, by kind of line.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class DatedLinesReader {
 public:
  // Any line of the output. What passes until the next line with a date passes after this one. Whether lines
  // of kinds that are known show that the program goes on behind what was thrown.
  bool Line(std::string_view line, int64_t number);
  // Whether the dates are those of a log, and not of a table, data or a mixture of texts.
  bool IsLog() const;
  void AddTo(ProgramOutput& output) const;

 private:
  struct Lines {
    ProgramPart part;
    std::string first;                       // as it is written
    std::optional<int64_t> counted, out_of;  // the last "12/300" in it
    int64_t counted_ns = 0;                  // when
    int64_t items = 0;                       // from one such line to the next
    double items_ns = 0;
    int64_t counts = 0;                       // such lines behind the first
    bool falls = false;                       // what they count
    double second_ns = 0;                     // the longest but one
    int64_t first_ns = 0, last_ns = 0;        // dates of the first and the last
    int64_t moments = 1, seconds = 1;         // their dates that lie apart, by a moment and by a second
    int64_t moment_ns = 0, second_of_ns = 0;  // when the last of these began
    double undated_ns = 0;                    // that passes while lines without a date tell what is done
  };
  struct Stamp {
    int64_t ns = 0, number = 0;
    std::string kind;
  };

  using Kinds = std::map<std::string, Lines, std::less<>>;
  static Lines* KindOf(Kinds& kinds, const std::string& words);
  ProgramPart PartOf(const Lines& lines) const;
  static double PauseIn(const Lines& lines);
  void AddRounds(ProgramOutput& output) const;

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
  bool unnamed_ = false;         // that the last is one of `date`, and no line has followed it
  bool named_ = false;           // that the last is one of `date`
  bool between_hours_ = false;   // that a date is not at a full hour
  bool within_seconds_ = false;  // that a date is not at a full second
};

}  // namespace dladvisor::training_log
