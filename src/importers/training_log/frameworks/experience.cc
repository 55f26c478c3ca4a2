// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/experience.h"

#include <re2/re2.h>

#include <string>
#include <utility>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestRlLine = 512, kLeastUpdates = 3;

}  // namespace

void ExperienceReader::Take(const char* program, int64_t update, int64_t steps, double rate,
                            std::optional<double> collecting_rate) {
  if (!(rate > 0) || update < 0) return;
  if (log_.program != program) {
    if (!log_.program.empty()) return;
    log_.program = program;
  }
  const bool first = log_.iterations.empty();
  TrainingIteration row;
  const int64_t last = first ? 0 : log_.iterations.back().iteration;
  row.iteration = update;
  if (!first) row.attempt = log_.iterations.back().attempt + (update <= last);
  const bool follows = !first && row.attempt == log_.iterations.back().attempt;
  row.covers = follows ? update - last : 1;
  row.samples_per_second = rate;
  const int64_t before = std::exchange(steps_, steps);
  if (follows && steps > before) {
    const auto taken = static_cast<double>(steps - before) / static_cast<double>(*row.covers);
    row.elapsed_ns = taken / rate * kNsPerSecond;
    if (collecting_rate && *collecting_rate >= rate) {
      const double collecting = taken / *collecting_rate * kNsPerSecond;
      log_.timers.push_back({log_.iterations.size(), "collection", {}, collecting, {}, {}});
      log_.timers.push_back({log_.iterations.size(), "learning", {}, *row.elapsed_ns - collecting, {}, {}});
    }
  }
  log_.iterations.push_back(row);
}

bool ExperienceReader::Line(std::string_view line) {
  if (line.size() > kLongestRlLine) return false;
  int64_t update = 0, steps = 0;
  double rate = 0, collecting = 0;
  // Since the start of the training, and once for each update.
  static const RE2 cleanrl(R"(^\W*SPS: (\d+)\s*$)");
  if (line.find("SPS: ") != std::string_view::npos && RE2::PartialMatch(line, cleanrl, &rate)) {
    Take("CleanRL", static_cast<int64_t>(log_.iterations.size()) + 1, 0, rate);
    return true;
  }
  static const RE2 acktr(R"(^\W*Updates (\d+), num timesteps (\d+), FPS (\d+))");
  if (line.find("num timesteps ") != std::string_view::npos &&
      RE2::PartialMatch(line, acktr, &update, &steps, &rate)) {
    Take("pytorch-a2c-ppo-acktr", update, steps, rate);
    return true;
  }
  static const RE2 torch_ac(R"(\bU (\d+) \| F 0*(\d+) \| FPS 0*(\d+) \| D )");
  if (line.find(" | FPS ") != std::string_view::npos &&
      RE2::PartialMatch(line, torch_ac, &update, &steps, &rate)) {
    Take("torch-ac", update, steps, rate);
    return true;
  }
  static const RE2 rl_games(
      R"(\bfps step and policy inference: (\d+) +fps total: (\d+) +epoch: (\d+)(?:/\S+)? +frames: (\d+))");
  if (line.find("fps total: ") != std::string_view::npos &&
      RE2::PartialMatch(line, rl_games, &collecting, &rate, &update, &steps)) {
    Take("rl_games", update, steps, rate, collecting > 0 ? std::optional(collecting) : std::nullopt);
    return true;
  }
  return false;
}

TrainingLog ExperienceReader::Finish() {
  if (log_.iterations.size() < kLeastUpdates) return {};
  return std::move(log_);
}

}  // namespace dladvisor::training_log
