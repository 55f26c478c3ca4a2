// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_pace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "src/statistics/quantile.h"

namespace dladvisor {
namespace {

// A stretch of so many lines has quantiles that single outliers do not move; twenty of them show a course.
constexpr size_t kLeastLinesOfStretch = 20, kMostStretches = 20, kLeastStretches = 5;
// Nine lines in ten of one stretch are slower than nine in ten of the other, and by a quarter.
constexpr double kLow = 0.1, kHigh = 0.9, kLeastRatio = 1.25;
// Parts of a log that show a growth, each of so many lines and more, each slower than the one before by this.
constexpr size_t kPartsOfGrowth = 5, kLeastLinesOfPart = 4;
constexpr double kGrowsByPart = 1.03, kGrowsInAll = 2;

struct Line {
  double ns;  // of one iteration
  double covers;
};

struct Stretch {
  double low, median, high;
  double covers;
};

bool IsSlower(const Stretch& a, const Stretch& b) {
  return a.low > b.high && a.median >= kLeastRatio * b.median;
}

// Of lines that tell tokens per second and no time.
std::vector<Line> LinesOfTokens(const std::vector<TrainingLogRow>& log) {
  std::vector<Line> lines;
  for (const TrainingLogRow& row : log)
    if (!row.warmup && row.tokens_per_second.value_or(0) > 0)
      lines.push_back({1e9 / *row.tokens_per_second, static_cast<double>(row.covers.value_or(1))});
  return lines;
}

// Where lines tell tokens per second, an iteration of more tokens is not slower for it.
std::vector<Line> LinesOf(const std::vector<TrainingLogRow>& log) {
  std::map<int64_t, std::vector<const TrainingLogRow*>> by_batch;
  for (const TrainingLogRow& row : log)
    if (!row.warmup && row.elapsed_ns) by_batch[row.global_batch.value_or(-1)].push_back(&row);
  const auto most = std::ranges::max_element(by_batch, {}, [](const auto& b) { return b.second.size(); });
  if (most == by_batch.end()) return LinesOfTokens(log);
  std::vector<double> tokens;
  for (const TrainingLogRow* row : most->second)
    if (row->tokens_per_second.value_or(0) > 0) tokens.push_back(*row->elapsed_ns * *row->tokens_per_second);
  const bool by_token = tokens.size() == most->second.size();
  const double typical = by_token ? Median(tokens) : 0;
  std::vector<Line> lines;
  for (const TrainingLogRow* row : most->second)
    lines.push_back({by_token ? typical / *row->tokens_per_second : *row->elapsed_ns,
                     static_cast<double>(row->covers.value_or(1))});
  return lines;
}

// As many parts of about as many lines.
std::vector<Stretch> StretchesOf(const std::vector<Line>& lines, size_t count) {
  std::vector<Stretch> stretches;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> times;
    double covers = 0;
    for (size_t line = i * lines.size() / count; line < (i + 1) * lines.size() / count; ++line) {
      times.push_back(lines[line].ns);
      covers += lines[line].covers;
    }
    const double low = Quantile(times, kLow), high = Quantile(times, kHigh);
    stretches.push_back({low, Median(times), high, covers});
  }
  return stretches;
}

}  // namespace

std::optional<PaceShifts> FindPaceShifts(const std::vector<TrainingLogRow>& log) {
  const std::vector<Line> lines = LinesOf(log);
  const std::vector<Stretch> stretches =
      StretchesOf(lines, std::min(kMostStretches, lines.size() / kLeastLinesOfStretch));
  const bool of_tokens =
      std::ranges::none_of(log, [](const TrainingLogRow& row) { return row.elapsed_ns.has_value(); });
  if (stretches.size() < kLeastStretches) return std::nullopt;
  bool between = false;
  for (auto slow = stretches.begin(); slow != stretches.end() && !between; ++slow) {
    const auto faster = [&](const Stretch& other) { return IsSlower(*slow, other); };
    between = std::any_of(stretches.begin(), slow, faster) &&
              (of_tokens || std::any_of(slow + 1, stretches.end(), faster));
  }
  if (!between) return std::nullopt;
  const Stretch fastest = *std::ranges::min_element(stretches, {}, &Stretch::median);
  PaceShifts shifts{fastest.median, std::ranges::max_element(stretches, {}, &Stretch::median)->median, 0, 0,
                    of_tokens};
  double all = 0;
  for (const Stretch& stretch : stretches) {
    all += stretch.median * stretch.covers;
    if (IsSlower(stretch, fastest)) shifts.lost_ns += (stretch.median - fastest.median) * stretch.covers;
  }
  shifts.lost_share = all > 0 ? shifts.lost_ns / all : 0;
  return shifts;
}

std::optional<PaceGrowth> FindPaceGrowth(const std::vector<TrainingLogRow>& log) {
  const auto times = [](const TrainingLogRow& row) { return row.elapsed_ns.has_value(); };
  const auto starts_again = [&](const TrainingLogRow& row) { return row.attempt != log.front().attempt; };
  if (std::ranges::none_of(log, times) || std::ranges::any_of(log, starts_again)) return std::nullopt;
  const std::vector<Line> lines = LinesOf(log);
  if (lines.size() < kPartsOfGrowth * kLeastLinesOfPart) return std::nullopt;
  const std::vector<Stretch> parts = StretchesOf(lines, kPartsOfGrowth);
  const auto grows = [](const Stretch& part, const Stretch& next) {
    return next.median >= kGrowsByPart * part.median;
  };
  for (size_t i = 1; i < parts.size(); ++i)
    if (!grows(parts[i - 1], parts[i])) return std::nullopt;
  const Stretch &first = parts.front(), &last = parts.back();
  if (last.low <= first.high || last.median < kGrowsInAll * first.median) return std::nullopt;
  PaceGrowth growth{first.median, last.median, 0};
  for (const Line& line : lines) growth.lost_ns += std::max(line.ns - first.median, 0.0) * line.covers;
  return growth;
}

}  // namespace dladvisor
