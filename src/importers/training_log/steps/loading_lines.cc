// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/steps/loading_lines.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestLineOfLoading = 2048, kMostLoadingLines = 2'000'000;
// Fewer are a chance.
constexpr size_t kLeastLoadingLines = 3;
// Lines whose waiting is longer than a step are of another span: at most one for so many others.
constexpr size_t kOthersOfLonger = 4;
// Each line tells of one step: those far above most, at most one in so many, waited for something else, as a
// figure that the program draws.
constexpr double kFarAbove = 5;
constexpr size_t kOthersOfFar = 5;

#define TIME R"(\b(?:(?:batch|iter|step|train|total)[_ ]?)?time(?:/\w+)?)"
#define DATA R"(\bdata(?:[_ ]?(?:time|load(?:ing)?(?:[_ ]time)?))?)"
#define SECONDS R"([ :=]{1,3}(\d+\.\d+) ?(ms|s|sec)?)"
// "0.52 (0.51)", and what parts two values.
#define PARTS R"((?: ?\(\d+\.\d+ ?m?s?\))?[\s,;|]{1,8})"
#define ENDS R"((?:[\s,;|()\]]|$))"

// Two times side by side: where others stand between them, the second may be a loss of that name.
bool TimeOfLoadingBeside(std::string_view line, double& data_seconds) {
  static const RE2 time_first("(?i)" TIME SECONDS PARTS DATA SECONDS ENDS),
      data_first("(?i)" DATA SECONDS PARTS TIME SECONDS ENDS);
  double time = 0, data = 0;
  std::string of_time, of_data;
  if (!RE2::PartialMatch(line, time_first, &time, &of_time, &data, &of_data) &&
      !RE2::PartialMatch(line, data_first, &data, &of_data, &time, &of_time))
    return false;
  // A loss of the data beside one of an equation.
  static const RE2 losses(R"((?i)\b(?:pde|bc|ic|physics|phys|residual|boundary|eqn?)s?\b)");
  if (RE2::PartialMatch(line, losses)) return false;
  if ((of_time == "ms") != (of_data == "ms")) return false;
  data_seconds = of_data == "ms" ? data * 1e-3 : data;
  return time > 0;
}

#undef TIME
#undef DATA
#undef SECONDS
#undef PARTS
#undef ENDS

}  // namespace

void LoadingLinesReader::Line(std::string_view line, int64_t number) {
  if (line.size() > kLongestLineOfLoading || waits_.size() >= kMostLoadingLines ||
      (line.find("data") == std::string_view::npos && line.find("Data") == std::string_view::npos) ||
      line.find("ime") == std::string_view::npos)
    return;
  if (double seconds = 0; TimeOfLoadingBeside(line, seconds)) waits_.push_back({number, seconds});
}

void LoadingLinesReader::AddTo(TrainingLog& log) const {
  if (!log.timers.empty() || log.of_epochs || waits_.size() < kLeastLoadingLines) return;
  std::vector<double> all;
  for (const Wait& wait : waits_) all.push_back(wait.seconds);
  const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  double most = kFarAbove * *middle;
  const auto far = static_cast<size_t>(
      std::ranges::count_if(waits_, [&](const Wait& wait) { return wait.seconds > most; }));
  if (far * kOthersOfFar > waits_.size()) most = std::numeric_limits<double>::max();
  size_t longer = 0, next = 0;
  for (size_t row = 0; row < log.iterations.size(); ++row) {
    const TrainingIteration& line = log.iterations[row];
    double seconds = 0;
    size_t count = 0;
    for (; next < waits_.size() && waits_[next].line <= line.line; ++next) {
      if (waits_[next].seconds > most) continue;
      seconds += waits_[next].seconds;
      ++count;
    }
    if (count == 0 || !line.elapsed_ns) continue;
    const double ns = seconds / static_cast<double>(count) * kNsPerSecond;
    if (ns > *line.elapsed_ns)
      ++longer;
    else
      log.timers.push_back({row, "data", {}, ns, {}, {}});
  }
  if (longer * kOthersOfLonger > log.timers.size()) log.timers.clear();
}

}  // namespace dladvisor::training_log
