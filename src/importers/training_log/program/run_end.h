// SPDX-License-Identifier: Apache-2.0
// What ended a run: an exception of Python, a collective operation that timed out, a signal, Slurm. What a
// program or a later start of it gets over is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/trace/memory_taken.h"

namespace dladvisor::training_log {

class RunEndReader {
 public:
  // `number` counts the lines that are not empty.
  void Line(std::string_view line, int64_t number);
  // What is known after an error shows that the program went on.
  void GoesOn() { went_on_ = true; }
  // That ended the program, "" for none.
  std::string error() const { return went_on_ || GotOver() ? "" : error_; }
  // The same, whatever follows it.
  const std::string& last_error() const { return error_; }
  // What the last error says of the GPU's memory.
  const std::optional<MemoryTaken>& memory_taken() const { return memory_; }
  // Where it stands.
  int64_t error_line() const { return error_line_; }
  // Whether a traceback went through a loop of training.
  bool of_loop() const { return of_loop_; }
  // Whether a training ended so near the last of the lines, by the files of its traceback.
  bool StopsTraining(int64_t lines) const;
  // Whether a user or Slurm cancelled the job, near the last line.
  bool Cancelled() const;

 private:
  void Stopped(std::string error, int64_t number, std::optional<MemoryTaken> memory);
  // Whether so much follows an error without a traceback that the program did not end with it.
  bool GotOver() const;
  bool Ignored(std::string_view line);

  std::string error_;
  std::optional<MemoryTaken> memory_;
  int64_t error_line_ = 0;
  int64_t cancelled_line_ = 0;  // the last that says so
  int64_t traceback_line_ = 0;  // the last that begins a traceback
  int64_t lines_ = 0;           // so far
  bool bare_ = false;           // that the error has no traceback
  bool traceback_ = false;
  bool of_training_ = false;  // by the files of a traceback
  bool of_loop_ = false;      // by its functions
  bool went_on_ = false;      // since the error
  int ignored_ = 0;           // tracebacks that come, of what the program gets over
  int strays_ = 0;            // lines since then that are of none
  bool gets_over_ = false;    // the last traceback
  bool within_ = false;       // that one
  bool mixed_ = false;        // that the error's line is of several processes
  bool of_module_ = false;    // that the error is known by its module alone
};

}  // namespace dladvisor::training_log
