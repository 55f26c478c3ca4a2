// SPDX-License-Identifier: Apache-2.0
#include "src/gate/render/trend_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/gate/render/wording.h"
#include "src/render/escape.h"
#include "src/render/svg.h"

namespace dladvisor {
namespace {

constexpr double kLeastScale = 0.02;  // lest noise looks like a change
constexpr size_t kMaxMarks = 6, kMaxPoints = 2000, kMaxLabel = 40;

std::string LabelOf(const Trend& trend, size_t point) {
  return point < trend.points.size() ? Ellipsize(Visible(OneLine(trend.points[point].label)), kMaxLabel) : "";
}

}  // namespace

double FirstLevel(const Trend& trend) {
  if (!trend.changes.empty() && std::isfinite(trend.changes[0].before)) return trend.changes[0].before;
  double sum = 0;
  size_t count = 0;
  for (const Trend::Point& point : trend.points) {
    if (!std::isfinite(point.value)) continue;
    sum += point.value;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::string TrendChart(const std::string& id, const Trend& trend) {
  if (trend.points.size() < 2) return "";
  const double first = FirstLevel(trend);
  const auto deviation = [&](double value) { return first != 0 ? value / first - 1 : value; };
  const auto text = [&](double value) {
    return first != 0 ? fmt::format("{} ({})", PercentText(deviation(value)), FormatValue(value, trend.unit))
                      : FormatValue(value, trend.unit);
  };

  Line runs{CountText(trend.points.size(), "run"), "", "c-copy", {}}, level{"level", "", "c-idle1", {}};
  double least = first, most = first;
  const size_t from = trend.points.size() - std::min(trend.points.size(), kMaxPoints);
  for (size_t i = from; i < trend.points.size(); ++i) {
    const double value = trend.points[i].value;
    if (!std::isfinite(value)) continue;
    runs.points.emplace_back(static_cast<double>(i), deviation(value));
    least = std::min(least, value);
    most = std::max(most, value);
  }
  runs.text = fmt::format("{} to {}", text(least), text(most));
  std::vector<Mark> marks;
  double now = first;
  level.points.emplace_back(static_cast<double>(from), deviation(now));
  for (const Trend::Change& change : trend.changes) {
    if (change.at < from || change.at >= trend.points.size() || !std::isfinite(change.after)) continue;
    const double at = static_cast<double>(change.at) - 0.5;
    level.points.emplace_back(at, deviation(now));
    now = change.after;
    level.points.emplace_back(at, deviation(now));
    const double by = change.before != 0 ? change.after / change.before - 1 : 0;
    if (marks.size() < kMaxMarks)
      marks.push_back({at, 0, fmt::format("run {}: {}", change.at + 1, PercentText(by))});
  }
  level.points.emplace_back(static_cast<double>(trend.points.size() - 1), deviation(now));
  level.text = text(now) + " now";

  if (first != 0) {
    least = std::min(least, first - kLeastScale * std::abs(first));
    most = std::max(most, first + kLeastScale * std::abs(first));
  }
  const double left = static_cast<double>(from);
  const Line scale{"scale",
                   text(least) + " to " + text(most),
                   "c-other",
                   {{left, deviation(least)}, {left, deviation(most)}}};
  return LineChart(id, Visible(trend.title) + " over runs", {scale, runs, level}, marks,
                   {text(most), text(least), LabelOf(trend, from), LabelOf(trend, trend.points.size() - 1)});
}

std::vector<std::string> TrendSteps(const Trend& trend) {
  std::vector<std::string> steps;
  for (const Trend::Change& change : trend.changes) {
    const std::string label = LabelOf(trend, change.at);
    std::string step = fmt::format("{} to {} at run {}{}", FormatValue(change.before, trend.unit),
                                   FormatValue(change.after, trend.unit), change.at + 1,
                                   label.empty() ? "" : " (" + label + ")");
    std::string rules;
    for (const std::string& rule : change.appeared)
      rules += (rules.empty() ? "" : ", ") + Visible(OneLine(rule));
    if (!rules.empty()) step += "; fires since then: " + Ellipsize(rules, 300);
    steps.push_back(step + ".");
  }
  return steps;
}

}  // namespace dladvisor
