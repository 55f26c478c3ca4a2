// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/trainer.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <utility>

#include "src/importers/training_log/log_line.h"

namespace dladvisor::training_log {
namespace {

// A difference of two times in whole seconds is off by less than one: at most a twentieth of so many.
constexpr int64_t kLeastSeconds = 20;

std::optional<double> Field(std::string_view line, std::string_view name) {
  const size_t at = line.find(name);
  return at == std::string_view::npos ? std::nullopt : Number(line.substr(at + name.size()));
}

}  // namespace

void TrainerReader::Line(std::string_view line) {
  if (line.find("Total optimization steps = ") != std::string_view::npos) {
    planned_ = Integer(line.substr(line.rfind(" = ") + 3));
    seconds_.clear();
    losses_.clear();
    last_ = 0;
  }
  if (line.find("it/s]") != std::string_view::npos || line.find("s/it]") != std::string_view::npos) Bar(line);
  if (line.find("{'") != std::string_view::npos) Record(line);
}

// " 25%|##        | 1/4 [03:45<11:15, 225.28s/it]"
void TrainerReader::Bar(std::string_view line) {
  static const RE2 bar(R"(\| *(\d+)/(\d+) \[(?:(\d+):)?(\d+):(\d{2})<[^,\]]*, [^\]]*(?:it/s|s/it)[^\]]*\])");
  re2::StringPiece rest = line;
  int64_t done = 0, planned = 0, minutes = 0, seconds = 0;
  std::string hours;
  while (RE2::FindAndConsume(&rest, bar, &done, &planned, &hours, &minutes, &seconds)) {
    if (planned != planned_ || done > planned) continue;  // of something else: tokenising, evaluation
    last_ = std::max(last_, done);
    if (done > 0) seconds_.try_emplace(done, Integer(hours).value_or(0) * 3600 + minutes * 60 + seconds);
  }
}

// "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 5e-05, 'epoch': 0.5}", "{'train_runtime': 871.8, ...}"
void TrainerReader::Record(std::string_view line) {
  if (const auto seconds = Field(line, "'train_runtime': "); seconds && *seconds > 0) {
    if (!log_.runtime_ns) {
      log_.runtime_ns = *seconds * kNsPerSecond;
      log_.samples_per_second = Field(line, "'train_samples_per_second': ");
    }
    return;
  }
  const auto loss = Field(line, "{'loss': ");
  if (!loss || last_ == 0) return;
  losses_.try_emplace(last_, Loss{loss, Field(line, "'learning_rate': "), Field(line, "'grad_norm': ")});
}

TrainingLog TrainerReader::Finish() {
  int64_t iteration = 0, since = 0;
  const int64_t last = seconds_.empty() ? 0 : seconds_.rbegin()->first;
  for (const auto& [done, seconds] : seconds_) {
    if (seconds < since || (seconds - since < kLeastSeconds && (done != last || iteration > 0))) continue;
    TrainingIteration row;
    row.iteration = done;
    row.planned = planned_;
    row.covers = done - iteration;
    if (seconds > since)
      row.elapsed_ns =
          static_cast<double>(seconds - since) * kNsPerSecond / static_cast<double>(done - iteration);
    const auto loss = losses_.upper_bound(done);
    if (loss != losses_.begin() && std::prev(loss)->first > iteration) {
      row.loss = std::prev(loss)->second.loss;
      row.learning_rate = std::prev(loss)->second.learning_rate;
      row.grad_norm = std::prev(loss)->second.grad_norm;
    }
    log_.iterations.push_back(row);
    iteration = done;
    since = seconds;
  }
  if (!log_.iterations.empty() || log_.runtime_ns) log_.program = "Hugging Face Trainer";
  return std::move(log_);
}

}  // namespace dladvisor::training_log
