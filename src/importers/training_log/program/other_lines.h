// SPDX-License-Identifier: Apache-2.0
// What a text without a step of a training shows of itself, for its report or the message that refuses it:
// the program that wrote it, and what stopped that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/importers/training_log/program/other_reports.h"
#include "src/trace/program_output.h"

namespace dladvisor::training_log {

class OtherLinesReader {
 public:
  void Line(std::string_view line);

  Refusal Refuse() const;

  // Adds the program, the lines that tell of full memory, and what stops it without an exception.
  void AddTo(ProgramOutput& output) const;

 private:
  void Collection(std::string_view line);

  OtherReportsReader reports_;
  std::string_view program_;
  bool serves_ = false;
  bool infers_ = false;    // by DeepSpeed's kernels, which then trains nothing
  bool no_flash_ = false;  // whether a server says that it lacks its kernels of attention
  std::string stop_;
  int64_t lines_ = 0, records_ = 0, rows_ = 0;  // in JSON with a loss; numbers behind a date
  std::string names_;                           // of the columns of these, where the first line has them
  std::set<std::string, std::less<>> values_;   // of these rows, of few the first
  int64_t full_memories_ = 0;                   // lines that tell of these
  int64_t skipped_batches_ = 0;
  ProgramWait collection_;
  double allocating_seconds_ = 0;  // of that
};

}  // namespace dladvisor::training_log
