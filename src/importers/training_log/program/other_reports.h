// SPDX-License-Identifier: Apache-2.0
// Texts of tools that are no log of a program at work, and of programs that wait for a service: what they
// are, and what shows more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/importers/training_log/program/job_list.h"

namespace dladvisor::training_log {

// What a text is, "" where nothing is known of it, and what to do then.
struct Refusal {
  std::string what, next_step;
};

class OtherReportsReader {
 public:
  void Line(std::string_view line);
  Refusal Refuse() const;

 private:
  void Job(std::string_view line);

  JobListReader jobs_;
  int64_t lines_ = 0;
  bool in_gpus_ = false;                   // of jobstats
  int64_t gpus_ = 0;                       // of the job
  double least_busy_ = 0, most_busy_ = 0;  // of these, in percent
  std::optional<double> cores_busy_, job_gpus_busy_;
  bool still_runs_ = false;                // in percent
  int64_t looks_ = 0;                      // of nvidia-smi -q
  int64_t samples_ = 0, residencies_ = 0;  // of powermetrics, and of these with the GPU's
  double active_ = 0, most_active_ = 0;    // of the GPU, in percent: their sum, and the most
  int64_t turned_away_ = 0;                // by a service
};

}  // namespace dladvisor::training_log
