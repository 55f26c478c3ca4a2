// SPDX-License-Identifier: Apache-2.0
#include "src/render/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>
#include <string_view>

#include "engine/base/value.h"
#include "src/render/escape.h"
#include "src/render/svg.h"

namespace dladvisor {
namespace {

constexpr double kLeft = 74, kRight = 934, kTop = 16, kBottom = 372;
// Slower dots are drawn at the lower edge: one operator that hardly computes would press all others together.
constexpr double kMostDecades = 6;
constexpr double kLargestRadius = 30, kSmallestRadius = 2.5;
constexpr size_t kMostLabels = 5;
constexpr double kCharacter = 6, kLine = 12;  // pixels that a label takes
constexpr std::array<const char*, 4> kColors = {"c-tensor", "c-compute", "c-comm", "c-copy"};

// A logarithmic axis over whole decades, from pixel `from` to pixel `to`.
struct Axis {
  double first = 0, last = 1;  // exponents of ten
  double from = 0, to = 1;

  double At(double value) const {
    const double place = (std::log10(value) - first) / (last - first);
    return from + std::clamp(place, 0.0, 1.0) * (to - from);
  }
};

bool IsDrawn(const RooflineDot& dot) {
  return std::isfinite(dot.intensity) && std::isfinite(dot.rate) && dot.intensity > 0 && dot.rate > 0;
}

// `sum` is that of all weights.
double RadiusOf(const RooflineDot& dot, double sum) {
  return sum > 0 ? std::max(kLargestRadius * std::sqrt(dot.weight / sum), kSmallestRadius) : kSmallestRadius;
}

// Circle, square, triangle, diamond: of the same area as the circle of `radius`.
std::string Shape(size_t kind, double x, double y, double radius) {
  const double half = radius * std::sqrt(std::numbers::pi) / 2;
  switch (kind % kColors.size()) {
    case 0:
      return fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>)", x, y, radius);
    case 1:
      return fmt::format(R"(<path d="M{0:.1f} {1:.1f}h{2:.1f}v{2:.1f}h-{2:.1f}z"/>)", x - half, y - half,
                         2 * half);
    case 2: {
      const double side = 2 * radius * std::sqrt(std::numbers::pi / std::numbers::sqrt3);
      return fmt::format(R"(<path d="M{:.1f} {:.1f}l{:.1f} {:.1f}h-{:.1f}z"/>)", x,
                         y - side / std::numbers::sqrt3, side / 2, side * std::numbers::sqrt3 / 2, side);
    }
    default: {
      const double reach = half * std::numbers::sqrt2;
      return fmt::format(
          R"(<path d="M{0:.1f} {1:.1f}l{2:.1f} {2:.1f}l-{2:.1f} {2:.1f}l-{2:.1f} -{2:.1f}z"/>)", x, y - reach,
          reach);
    }
  }
}

// "10 TFLOP/s" of 13.
std::string RateText(double exponent) {
  constexpr std::array<const char*, 7> kUnits = {"FLOP/s",  "kFLOP/s", "MFLOP/s", "GFLOP/s",
                                                 "TFLOP/s", "PFLOP/s", "EFLOP/s"};
  const double thousands = std::clamp(std::floor(exponent / 3), 0.0, 6.0);
  return fmt::format("{:g} {}", std::pow(10, exponent - 3 * thousands),
                     kUnits[static_cast<size_t>(thousands)]);
}

std::string Ticks(const Axis& x, const Axis& y) {
  std::string svg;
  for (double exponent = x.first; exponent <= x.last; ++exponent) {
    const double at = x.At(std::pow(10, exponent));
    svg +=
        fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>)", at, kTop, kBottom);
    svg += fmt::format(R"(<text class="{}" x="{:.1f}" y="{}">{:g}</text>)",
                       exponent == x.last ? "end" : "middle", at, kBottom + 15, std::pow(10, exponent));
  }
  for (double exponent = y.first; exponent <= y.last; ++exponent) {
    const double at = y.At(std::pow(10, exponent));
    svg +=
        fmt::format(R"(<line class="grid" x1="{1}" x2="{2}" y1="{0:.1f}" y2="{0:.1f}"/>)", at, kLeft, kRight);
    svg += fmt::format(R"(<text class="end" x="{}" y="{:.1f}">{}</text>)", kLeft - 6, at + 3.5,
                       RateText(exponent));
  }
  svg += fmt::format(R"(<text class="middle" x="{}" y="{}">FLOP per byte</text>)", (kLeft + kRight) / 2,
                     kBottom + 31);
  return svg;
}

// The slope of the memory up to the ridge of the highest ceiling, its label beside it.
std::string Slope(const Axis& x, const Axis& y, double bandwidth, double highest) {
  // Below either edge of the plot the line does not exist: it begins where it enters.
  const double start = std::max(std::pow(10, x.first), std::pow(10, y.first) / bandwidth);
  const double left = x.At(start), right = x.At(highest / bandwidth);
  const double low = y.At(start * bandwidth), high = y.At(highest);
  const double middle_x = left + (right - left) * 0.4, middle_y = low + (high - low) * 0.4;
  const double angle = std::atan2(high - low, right - left) * 180 / std::numbers::pi;
  return fmt::format(R"(<line class="roof" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)", left, low,
                     right, high) +
         fmt::format(
             R"svg(<text class="middle" transform="translate({:.1f} {:.1f}) rotate({:.1f})" dy="-5">memory, {}</text>)svg",
             middle_x, middle_y, angle, EscapeHtml(FormatValue(bandwidth, Unit::kBytesPerSecond)));
}

std::string Ceilings(const Axis& x, const Axis& y, double bandwidth,
                     const std::vector<RooflineCeiling>& ceilings) {
  std::vector<size_t> order(ceilings.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return ceilings[a].rate > ceilings[b].rate; });
  std::string svg;
  double free_from = 0;  // labels of near ceilings stand below one another
  for (const size_t i : order) {
    const double at = y.At(ceilings[i].rate);
    const double label = std::max(at - 5, free_from);
    free_from = label + 13;
    svg += fmt::format(R"(<line class="roof" x1="{:.1f}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)",
                       x.At(ceilings[i].rate / bandwidth), kRight, at, at);
    svg += fmt::format(R"(<g class="{}">{}</g>)", kColors[i % kColors.size()],
                       Shape(i, kRight + 12, label - 3.5, 4));  // beside the plot, where no operator is
    svg += fmt::format(R"(<text class="end" x="{}" y="{:.1f}">{}</text>)", kRight, label,
                       EscapeHtml(ceilings[i].label));
  }
  return svg;
}

// Names of the operators with the largest dots, above these, or below where the picture ends, where they
// cover no other name.
std::string DotLabels(const Axis& x, const Axis& y, double sum,
                      const std::vector<const RooflineDot*>& largest) {
  struct Placed {
    double x, y, half_width;
  };
  std::vector<Placed> placed;
  std::set<std::string_view> named;  // each operator is once, at the largest of its dots
  std::string svg;
  for (const RooflineDot* dot : largest) {
    if (placed.size() == kMostLabels) break;
    if (dot->label.empty() || !named.insert(dot->label).second) continue;
    const double half_width = kCharacter * static_cast<double>(Columns(dot->label)) / 2;
    const double radius = RadiusOf(*dot, sum), above = y.At(dot->rate) - radius - 4;
    const Placed at{std::clamp(x.At(dot->intensity), kLeft + half_width, kRight - half_width),
                    above >= kTop + kLine ? above : y.At(dot->rate) + radius + kLine, half_width};
    const bool covers = std::ranges::any_of(placed, [&](const Placed& other) {
      return std::abs(other.x - at.x) < other.half_width + half_width && std::abs(other.y - at.y) < kLine;
    });
    if (covers) continue;
    placed.push_back(at);
    svg += fmt::format(R"(<text class="middle" x="{:.1f}" y="{:.1f}">{}</text>)", at.x, at.y,
                       EscapeHtml(dot->label));
  }
  return svg;
}

}  // namespace

std::string Roofline(const std::string& id, const std::string& title, double bandwidth,
                     const std::vector<RooflineCeiling>& ceilings, const std::vector<RooflineDot>& dots) {
  double highest = 0, lowest_ceiling = std::numeric_limits<double>::max();
  for (const RooflineCeiling& ceiling : ceilings) {
    highest = std::max(highest, ceiling.rate);
    lowest_ceiling = std::min(lowest_ceiling, ceiling.rate);
  }
  if (highest <= 0 || bandwidth <= 0) return "";
  double least = lowest_ceiling / bandwidth / 10, most = highest / bandwidth * 10, slowest = highest / 1e3,
         sum = 0;
  size_t drawn = 0;
  for (const RooflineDot& dot : dots) {
    if (!IsDrawn(dot)) continue;
    ++drawn;
    sum += dot.weight;
    least = std::min(least, dot.intensity);
    most = std::max(most, dot.intensity);
    slowest = std::min(slowest, dot.rate);
  }
  const double top = std::ceil(std::log10(highest));
  const double right = std::ceil(std::log10(most));
  const Axis x{std::max(std::floor(std::log10(least)), right - kMostDecades), right, kLeft, kRight};
  const Axis y{std::max(std::floor(std::log10(slowest)), top - kMostDecades), top, kBottom, kTop};

  const auto beyond = std::ranges::count_if(dots, [&](const RooflineDot& dot) {
    return IsDrawn(dot) && (std::log10(dot.intensity) < x.first || std::log10(dot.rate) < y.first);
  });
  std::string description =
      fmt::format("{} operator{} by FLOP per byte and FLOP/s, under {} ceiling{} and the memory's {}.", drawn,
                  drawn == 1 ? "" : "s", ceilings.size(), ceilings.size() == 1 ? "" : "s",
                  FormatValue(bandwidth, Unit::kBytesPerSecond));
  if (beyond > 0) description += fmt::format(" {} beyond the scale on its edge.", beyond);
  std::string svg = OpenSvg(id, "roofline", "0 0 960 408", "", title, description);
  svg += Ticks(x, y);
  // Large ones first, so that they cover none.
  std::vector<const RooflineDot*> order;
  for (const RooflineDot& dot : dots)
    if (IsDrawn(dot)) order.push_back(&dot);
  std::ranges::stable_sort(order,
                           [](const RooflineDot* a, const RooflineDot* b) { return a->weight > b->weight; });
  for (const RooflineDot* dot : order) {
    svg += fmt::format(R"(<g class="dot {}">{}<title>{}</title></g>)", kColors[dot->ceiling % kColors.size()],
                       Shape(dot->ceiling, x.At(dot->intensity), y.At(dot->rate), RadiusOf(*dot, sum)),
                       EscapeHtml(dot->text));
  }
  svg += Slope(x, y, bandwidth, highest);
  svg += Ceilings(x, y, bandwidth, ceilings);
  svg += DotLabels(x, y, sum, order);
  return svg + "</svg>";
}

}  // namespace dladvisor
