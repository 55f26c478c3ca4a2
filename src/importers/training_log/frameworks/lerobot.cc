// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/lerobot.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLeastRowsOfRobots = 2;
constexpr double kLongestUpdate = 1e6;  // in seconds: no step takes so long

}  // namespace

bool LeRobotReader::Line(std::string_view line) {
  if (line.size() > 1024 || line.find(" updt_s:") == std::string_view::npos) return false;
  static const RE2 form(
      R"(\bstep:(\d{1,12})(\.\d+)?([KMB])? .*\bloss:(\S+) .*\bupdt_s:(\d+\.\d+) data_s:(\d+\.\d+))");
  int64_t number = 0;
  std::string part, unit, loss;
  double update = 0, data = 0;
  if (!RE2::PartialMatch(line, form, &number, &part, &unit, &loss, &update, &data) ||
      update + data > kLongestUpdate)
    return false;
  const TrainingIteration* last = log_.iterations.empty() ? nullptr : &log_.iterations.back();
  TrainingIteration row;
  // Resumed, it counts on from a rounded number.
  const bool exact = part.empty() && unit.empty();
  const int64_t before = last == nullptr ? 0 : last->iteration;
  if (exact && last != nullptr && log_.iterations.size() == 1 && number > before) interval_ = number - before;
  if (exact)
    row.iteration = number;
  else
    row.iteration = before + std::max<int64_t>(interval_, 1);
  if (last != nullptr) row.attempt = last->attempt + (row.iteration <= before);
  row.elapsed_ns = (update + data) * kNsPerSecond;
  row.loss = Number(loss);
  row.time_ns = LastTime(line.substr(0, kStartOfLine));
  log_.timers.push_back({log_.iterations.size(), "data", {}, data * kNsPerSecond, {}, {}});
  log_.iterations.push_back(row);
  return true;
}

TrainingLog LeRobotReader::Finish() {
  if (log_.iterations.size() < kLeastRowsOfRobots) return {};
  SetCovers(log_.iterations, interval_ > 0 ? std::optional(interval_) : std::nullopt);
  log_.program = "LeRobot";
  return std::move(log_);
}

}  // namespace dladvisor::training_log
