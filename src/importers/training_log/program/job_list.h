// SPDX-License-Identifier: Apache-2.0
// The list of a cluster's jobs that Slurm's sacct prints: how long each ran, how it ended, and how busy its
// cores were.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor::training_log {

class JobListReader {
 public:
  void Line(std::string_view line);
  // "the list of a cluster's jobs (sacct): 3 jobs, ...", "" where the text is none.
  std::string What() const;

 private:
  bool Header(std::string_view line);
  std::vector<std::string_view> Cells(std::string_view line) const;

  std::vector<std::string> names_;                  // of the columns
  std::vector<std::pair<size_t, size_t>> columns_;  // begin and length, of a table that is aligned
  bool parsable_ = false;                           // that bars part the cells
  int64_t jobs_ = 0;
  std::map<std::string, int64_t> states_;
  double longest_s_ = 0, busy_s_ = 0, cores_s_ = 0;
};

}  // namespace dladvisor::training_log
