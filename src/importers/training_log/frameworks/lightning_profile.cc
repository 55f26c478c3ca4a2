// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/lightning_profile.h"

#include <re2/re2.h>

#include <cmath>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRowOfProfile = 4096, kMostActions = 4096;
// What no training does or takes.
constexpr double kMostOfAction = 1e9;

}  // namespace

// "|  run_training_batch  |  0.022482  |  240  |  5.3956  |  22.204  |", before version 1.5 without the first
// line, and before 1.2 without the number of calls.
void LightningProfileReader::Line(std::string_view line) {
  if (line.size() > kLongestRowOfProfile) return;
  if (line.find("Profiler Report") != std::string_view::npos) {
    const std::string_view words = Trim(line);
    // Each process prints its own; the first is of rank 0.
    reads_ = actions_.empty() && (words == "FIT Profiler Report" || words == "Profiler Report");
    return;
  }
  if (!reads_ || line.find('|') == std::string_view::npos) return;
  static const RE2 row(
      R"(^\|?\s*([^|\s](?:[^|]*[^|\s])?)\s*\|\s*([-+.\de]+)\s*\|\s*(?:(\d+|_|-)\s*\|\s*)??([\d.][-+.\de]*)\s*(?:\|\s*[-+.\de]+ ?%?\s*)?\|?\s*$)");
  std::string name, mean, calls, total;
  if (actions_.size() >= kMostActions || !RE2::FullMatch(line, row, &name, &mean, &calls, &total)) return;
  const auto seconds = Number(total);
  if (!seconds || !(*seconds >= 0) || *seconds > kMostOfAction) return;
  Action action{.calls = 0, .seconds = *seconds};
  if (const auto count = Number(calls); !calls.empty() && count)
    action.calls = *count;
  else if (const auto each = Number(mean); each && *each > 0)
    action.calls = std::round(*seconds / *each);
  if (action.calls <= kMostOfAction) actions_.try_emplace(name, action);
}

LightningProfileReader::Action LightningProfileReader::Of(std::string_view end) const {
  Action all;
  for (const auto& [name, action] : actions_)
    if (name.ends_with(end)) {
      all.calls += action.calls;
      all.seconds += action.seconds;
    }
  return all;
}

TrainingLog LightningProfileReader::Finish() const {
  Action input = Of("train_dataloader_next");
  if (input.calls == 0) input = Of("get_train_batch");
  if (input.calls == 0) input = Of("fetch_next_train_batch");
  Action batch = Of("run_training_batch");
  if (batch.calls == 0) {
    // Versions before 0.9 time the parts of a step alone.
    batch = Of("model_forward");
    batch.seconds += Of("model_backward").seconds + Of("optimizer_step").seconds;
  }
  if (batch.calls < 1) return {};
  Action evaluation = Of("validation_step");
  evaluation.seconds += Of("val_next").seconds;
  double all = Of("run_training_epoch").seconds;
  // Evaluations are within it.
  all = all > 0 ? all - evaluation.seconds : input.seconds + batch.seconds;
  if (all < input.seconds || all <= 0) return {};
  TrainingLog log;
  log.program = "Lightning";
  TrainingIteration row;
  row.iteration = static_cast<int64_t>(batch.calls);
  row.covers = row.iteration;
  row.elapsed_ns = all * kNsPerSecond / batch.calls;
  log.iterations.push_back(row);
  if (input.calls > 0)
    log.timers.push_back({0, "data", {}, input.seconds * kNsPerSecond / batch.calls, {}, {}});
  if (const double total = Of("Total").seconds; total > 0) log.runtime_ns = total * kNsPerSecond;
  return log;
}

}  // namespace dladvisor::training_log
