// SPDX-License-Identifier: Apache-2.0
#include "src/render/strip_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/render/escape.h"
#include "src/render/svg.h"

namespace dladvisor {
namespace {

// Of a chart that is 960 wide.
constexpr double kStripLeft = 8, kStripRight = 952, kStripLabel = 15, kStripHeight = 40, kStripGap = 10,
                 kStripFoot = 16;

class StripScale {
 public:
  StripScale(double first, double last) : first_(first), span_(last > first ? last - first : 1) {}
  double X(double x) const {
    return kStripLeft + (kStripRight - kStripLeft) * std::clamp((x - first_) / span_, 0.0, 1.0);
  }

 private:
  double first_, span_;
};

// The area below the values and their outline; a missing value leaves a gap.
std::string Areas(const Strip& strip, const StripScale& scale, double base, double last) {
  std::string area, outline;
  const auto y = [&](double value) {
    return base - kStripHeight * (strip.most > 0 ? std::clamp(value / strip.most, 0.0, 1.0) : 0);
  };
  for (size_t i = 0; i < strip.points.size();) {
    if (!strip.points[i].second || !std::isfinite(*strip.points[i].second)) {
      ++i;
      continue;
    }
    const double start = scale.X(strip.points[i].first);
    std::string path;
    for (; i < strip.points.size() && strip.points[i].second && std::isfinite(*strip.points[i].second); ++i) {
      const double next = scale.X(i + 1 < strip.points.size() ? strip.points[i + 1].first : last);
      const double at = y(*strip.points[i].second);
      path += path.empty() ? fmt::format("M{:.1f} {:.1f}H{:.1f}", start, at, next)
                           : fmt::format("V{:.1f}H{:.1f}", at, next);
    }
    outline += path;
    area += fmt::format("{}V{:.1f}H{:.1f}Z", path, base, start);
  }
  return fmt::format(R"(<path class="strip-area" d="{}"/><path class="strip-line" d="{}"/>)", area, outline);
}

// A thin line up to the most within a point's time.
std::string Peaks(const Strip& strip, const StripScale& scale, double base, double last) {
  std::string lines;
  for (size_t i = 0; i < strip.peaks.size() && i < strip.points.size(); ++i) {
    if (!strip.peaks[i] || !strip.points[i].second || !(strip.most > 0)) continue;
    if (!(*strip.peaks[i] > 1.02 * *strip.points[i].second)) continue;
    const double to = i + 1 < strip.points.size() ? strip.points[i + 1].first : last;
    const auto y = [&](double value) {
      return base - kStripHeight * std::clamp(value / strip.most, 0.0, 1.0);
    };
    lines += fmt::format("M{:.1f} {:.1f}V{:.1f}", (scale.X(strip.points[i].first) + scale.X(to)) / 2,
                         y(*strip.points[i].second), y(*strip.peaks[i]));
  }
  return lines.empty() ? "" : fmt::format(R"(<path class="strip-peaks" d="{}"/>)", lines);
}

}  // namespace

std::string StripChart(const std::string& id, const std::string& title, const std::vector<Strip>& strips,
                       double first, double last, const std::pair<std::string, std::string>& ends) {
  const double height =
      static_cast<double>(strips.size()) * (kStripLabel + kStripHeight + kStripGap) + kStripFoot;
  std::string description;
  for (const Strip& strip : strips) {
    description += fmt::format("{}: {}.", strip.label, strip.text);
    if (!strip.marks.empty())
      description += fmt::format(" Marked {} time{}, first {}.", strip.marks.size(),
                                 strip.marks.size() == 1 ? "" : "s", strip.marks.front().text);
    description += " ";
  }
  std::string svg = OpenSvg(id, "strips", fmt::format("0 0 960 {:.0f}", height), "", title, description);
  svg += fmt::format(
      R"svg(<defs><pattern id="{}-h" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="strip-mark" width="6" height="6"/><line class="strip-hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>)svg",
      id);
  const StripScale scale(first, last);
  double top = 0;
  for (const Strip& strip : strips) {
    const double plot = top + kStripLabel, base = plot + kStripHeight;
    svg += fmt::format(
        R"(<text x="{}" y="{:.0f}">{}</text><text class="end" x="{}" y="{:.0f}">{}</text>)", kStripLeft,
        top + 11,
        EscapeHtml(strip.most_text.empty() ? strip.label
                                           : fmt::format("{} (0 to {})", strip.label, strip.most_text)),
        kStripRight, top + 11, EscapeHtml(strip.text));
    svg += fmt::format(R"(<rect class="track" x="{}" y="{:.0f}" width="{}" height="{}"/>)", kStripLeft, plot,
                       kStripRight - kStripLeft, kStripHeight);
    for (const Strip::Mark& mark : strip.marks) {
      const double from = scale.X(mark.from), width = std::max(scale.X(mark.to) - from, 2.0);
      svg += fmt::format(
          R"svg(<g><title>{4}</title><rect fill="url(#{5}-h)" x="{0:.1f}" y="{1:.0f}" width="{2:.1f}" height="{3}"/><path class="strip-flag" d="M{0:.1f} {1:.0f}h{6:.1f}l{7:.1f} 5z"/></g>)svg",
          from, plot, width, kStripHeight, EscapeHtml(mark.text), id, std::min(width, 8.0),
          -std::min(width, 8.0) / 2);
    }
    svg += Areas(strip, scale, base, last);
    svg += Peaks(strip, scale, base, last);
    if (strip.limit && strip.most > 0 && *strip.limit > 0 && *strip.limit <= strip.most)
      svg += fmt::format(R"(<line class="limit" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", kStripLeft,
                         kStripRight, base - kStripHeight * *strip.limit / strip.most);
    svg += fmt::format(R"(<line class="axis" x1="{0}" x2="{1}" y1="{2:.0f}" y2="{2:.0f}"/>)", kStripLeft,
                       kStripRight, base);
    top = base + kStripGap;
  }
  svg +=
      fmt::format(R"(<text x="{}" y="{:.0f}">{}</text><text class="end" x="{}" y="{:.0f}">{}</text></svg>)",
                  kStripLeft, top + 6, EscapeHtml(ends.first), kStripRight, top + 6, EscapeHtml(ends.second));
  return svg;
}

}  // namespace dladvisor
