// SPDX-License-Identifier: Apache-2.0
#include "src/render/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/render/escape.h"

namespace dladvisor {
namespace {

double Magnitude(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

double Total(const std::vector<Segment>& segments) {
  double total = 0;
  for (const Segment& segment : segments) total += Magnitude(segment.value);
  return total;
}

std::string Describe(const std::vector<Segment>& segments, double total) {
  std::string text;
  for (const Segment& segment : segments)
    text += fmt::format("{}{}: {} ({:.1f} %)", text.empty() ? "" : "; ", segment.label, segment.text,
                        total > 0 ? Magnitude(segment.value) / total * 100 : 0);
  return text;
}

std::string Hover(const Segment& segment, double total) {
  return EscapeHtml(
      fmt::format("{}: {} ({:.1f} %)", segment.label, segment.text, Magnitude(segment.value) / total * 100));
}

}  // namespace

std::string OpenSvg(const std::string& id, const char* css_class, const std::string& view_box,
                    const std::string& attributes, const std::string& title, const std::string& description,
                    const char* role) {
  return fmt::format(
      R"(<svg class="{1}" viewBox="{2}" {3} role="{6}" aria-labelledby="{0}-t {0}-d"><title id="{0}-t">{4}</title><desc id="{0}-d">{5}</desc>)",
      id, css_class, view_box, attributes, EscapeHtml(title), EscapeHtml(description), role);
}

std::string Donut(const std::string& id, const std::string& title, const std::vector<Segment>& segments,
                  const std::string& center) {
  const double total = Total(segments);
  std::string svg = OpenSvg(id, "donut", "0 0 42 42", "", title, Describe(segments, total));
  svg += R"(<circle class="track" cx="21" cy="21" r="16" pathLength="100"/>)";
  const bool several = std::count_if(segments.begin(), segments.end(),
                                     [](const Segment& s) { return Magnitude(s.value) > 0; }) > 1;
  double start = 0;
  for (const Segment& segment : segments) {
    if (total <= 0 || Magnitude(segment.value) <= 0) continue;
    const double share = Magnitude(segment.value) / total * 100;
    // A hairline between neighbours, so that they can be distinguished without their colours.
    const double drawn = several ? std::max(share - 0.7, 0.3) : share;
    svg += fmt::format(
        R"(<circle class="{}" cx="21" cy="21" r="16" pathLength="100" stroke-dasharray="{:.2f} {:.2f}" stroke-dashoffset="{:.2f}"><title>{}</title></circle>)",
        segment.color, drawn, 100 - drawn, 25 - start, Hover(segment, total));
    start += share;
  }
  svg += fmt::format(R"(<text{} x="21" y="21" aria-hidden="true">{}</text></svg>)",
                     Columns(center) > 6 ? " class=\"long\"" : "", EscapeHtml(center));
  return svg;
}

std::string StackedBar(const std::string& id, const std::string& title,
                       const std::vector<Segment>& segments) {
  const double total = Total(segments);
  std::string svg =
      OpenSvg(id, "stack", "0 0 1000 28", R"(preserveAspectRatio="none")", title, Describe(segments, total));
  svg += R"(<rect class="track" width="1000" height="28"/>)";
  double start = 0;
  for (const Segment& segment : segments) {
    if (total <= 0 || Magnitude(segment.value) <= 0) continue;
    const double width = Magnitude(segment.value) / total * 1000;
    svg += fmt::format(R"(<rect class="{}" x="{:.2f}" width="{:.2f}" height="28"><title>{}</title></rect>)",
                       segment.color, start, width > 4 ? width - 1.5 : width, Hover(segment, total));
    start += width;
  }
  return svg + "</svg>";
}

std::string BarChart(const std::string& id, const std::string& title, const std::vector<Bar>& bars,
                     double reference, const std::string& reference_text, const std::string& max_text) {
  constexpr double kLeft = 4, kRight = 636, kTop = 18, kBottom = 258;
  // Bars that are muted do not flatten the others: where they are far longer they are cut.
  constexpr double kMostAbove = 2;
  double most = 0, steady = 0;
  for (const Bar& bar : bars) {
    most = std::max(most, Magnitude(bar.value));
    if (!bar.muted) steady = std::max(steady, Magnitude(bar.value));
  }
  const double max = steady > 0 && most > kMostAbove * steady ? steady * 1.3 : most;
  std::string svg =
      OpenSvg(id, "bars", "0 0 640 280", "", title,
              fmt::format("{} bars, the longest {}{}{}.", bars.size(), max_text,
                          reference_text.empty() ? "" : ", mean of the steady ones ", reference_text));
  svg += fmt::format(
      R"svg(<defs><pattern id="{}-h" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="bar-muted" width="6" height="6"/><line class="bar-hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>)svg",
      id);
  svg += fmt::format(R"(<text x="{}" y="12">{}{}</text>)", kLeft, EscapeHtml(max_text),
                     max < most ? ", cut" : "");
  svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", kLeft, kRight, kTop);
  if (max > 0 && !bars.empty()) {
    const double pitch = std::min((kRight - kLeft) / static_cast<double>(bars.size()), 90.0);
    const double gap = pitch > 5 ? std::min(pitch * 0.2, 4.0) : pitch > 2 ? 0.5 : 0;
    for (size_t i = 0; i < bars.size(); ++i) {
      const bool cut = Magnitude(bars[i].value) > max;
      const double height = std::max(std::min(Magnitude(bars[i].value) / max, 1.0) * (kBottom - kTop), 0.5);
      const std::string paint =
          bars[i].muted ? fmt::format(R"svg(fill="url(#{}-h)")svg", id) : R"svg(class="bar")svg";
      svg += fmt::format(
          R"svg(<rect {} x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}" rx="{:.1f}"><title>{}</title></rect>)svg",
          paint, kLeft + pitch * static_cast<double>(i), kBottom - height, pitch - gap, height,
          pitch > 8 ? 1.5 : 0.0, EscapeHtml(bars[i].label + ": " + bars[i].text));
      if (cut)  // a break through the bar
        svg += fmt::format(R"(<path class="break" d="M{:.2f} {} l{:.2f} -7"/>)",
                           kLeft + pitch * static_cast<double>(i) - 2, kTop + 26, pitch - gap + 4);
    }
    if (reference > 0 && reference <= max) {
      const double y = kBottom - reference / max * (kBottom - kTop);
      svg += fmt::format(R"(<line class="mean" x1="{0}" x2="{1}" y1="{2:.2f}" y2="{2:.2f}"/>)", kLeft, kRight,
                         y);
      svg += fmt::format(R"(<text class="end" x="{}" y="12">mean {}</text>)", kRight,
                         EscapeHtml(reference_text));
    }
    const double last = kLeft + pitch * static_cast<double>(bars.size());
    svg += fmt::format(R"(<text x="{}" y="275">{}</text>)", kLeft, EscapeHtml(bars.front().label));
    if (bars.size() > 1 && last > 250)
      svg += fmt::format(R"(<text class="end" x="{:.2f}" y="275">{}</text>)", last,
                         EscapeHtml(bars.back().label));
  }
  svg += fmt::format(R"(<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", kLeft, kRight, kBottom);
  return svg + "</svg>";
}

std::string StepChart(const std::string& id, const std::string& title, const std::vector<Curve>& curves,
                      const std::optional<Mark>& mark, const std::string& max_text,
                      const std::string& start_text, const std::string& end_text) {
  constexpr double kLeft = 4, kRight = 956, kTop = 22, kBottom = 232;
  double first = std::numeric_limits<double>::max(), last = std::numeric_limits<double>::lowest(), max = 0;
  std::string description;
  for (const Curve& curve : curves) {
    description += fmt::format("{}: {}. ", curve.label, curve.text);
    for (const auto& [when, value] : curve.steps) {
      first = std::min(first, when);
      last = std::max(last, when);
      max = std::max(max, Magnitude(value));
    }
  }
  const auto x = [&](double when) {
    return last > first ? kLeft + (when - first) / (last - first) * (kRight - kLeft) : kLeft;
  };
  const auto y = [&](double value) {
    return max > 0 ? kBottom - Magnitude(value) / max * (kBottom - kTop) : kBottom;
  };
  std::string svg = OpenSvg(
      id, "curves", "0 0 960 254", "", title,
      fmt::format("{}From {} to {}.{}", description, start_text, end_text, mark ? " " + mark->text : ""));
  svg += fmt::format(R"(<text x="{}" y="12">{}</text>)", kLeft, EscapeHtml(max_text));
  svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", kLeft, kRight, kTop);
  for (size_t i = 0; i < curves.size(); ++i) {
    if (curves[i].steps.empty()) continue;
    const bool filled = i == 0;
    std::string path = filled ? fmt::format("M{:.1f} {:.1f}V", x(curves[i].steps[0].first), kBottom)
                              : fmt::format("M{:.1f} ", x(curves[i].steps[0].first));
    path += fmt::format("{:.1f}", y(curves[i].steps[0].second));
    for (size_t k = 1; k < curves[i].steps.size(); ++k)
      path += fmt::format("H{:.1f}V{:.1f}", x(curves[i].steps[k].first), y(curves[i].steps[k].second));
    path += fmt::format("H{:.1f}", kRight);
    if (filled) path += fmt::format("V{:.1f}", kBottom);
    svg += fmt::format(R"(<path class="{}{}" d="{}"><title>{}</title></path>)", filled ? "area " : "",
                       curves[i].color, path, EscapeHtml(curves[i].label + ": " + curves[i].text));
  }
  if (mark) {
    const double at = x(mark->x);
    svg += fmt::format(R"(<circle class="mark" cx="{:.1f}" cy="{:.1f}" r="3.5"><title>{}</title></circle>)",
                       at, y(mark->y), EscapeHtml(mark->text));
    svg += fmt::format(R"(<text class="end" x="{}" y="12">{}</text>)", kRight, EscapeHtml(mark->text));
  }
  svg += fmt::format(R"(<line class="axis" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", kLeft, kRight, kBottom);
  svg += fmt::format(R"(<text x="{}" y="249">{}</text>)", kLeft, EscapeHtml(start_text));
  svg += fmt::format(R"(<text class="end" x="{}" y="249">{}</text>)", kRight, EscapeHtml(end_text));
  return svg + "</svg>";
}

std::string LineChart(const std::string& id, const std::string& title, const std::vector<Line>& lines,
                      const std::vector<Mark>& marks, const std::array<std::string, 4>& texts) {
  constexpr double kLeft = 4, kRight = 956, kTop = 22, kBottom = 216;
  double first = std::numeric_limits<double>::max(), last = std::numeric_limits<double>::lowest();
  double least = 0, most = 0;
  std::string description;
  for (const Line& line : lines) {
    description += fmt::format("{}: {}. ", line.label, line.text);
    for (const auto& [at, value] : line.points) {
      first = std::min(first, at);
      last = std::max(last, at);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  for (const Mark& mark : marks) description += mark.text + ". ";
  const auto x = [&](double at) {
    return last > first ? kLeft + (at - first) / (last - first) * (kRight - kLeft) : kLeft;
  };
  const auto y = [&](double value) {
    return most > least ? kTop + (most - value) / (most - least) * (kBottom - kTop) : kBottom;
  };
  const auto& [most_text, least_text, first_text, last_text] = texts;
  std::string svg = OpenSvg(id, "curves", "0 0 960 250", "", title, description);
  svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", kLeft, kRight, kTop);
  svg += fmt::format(R"(<text x="{}" y="14">{}</text>)", kLeft, EscapeHtml(most_text));
  if (least < 0) {
    svg += fmt::format(R"(<line class="grid" x1="{0}" x2="{1}" y1="{2}" y2="{2}"/>)", kLeft, kRight, kBottom);
    svg += fmt::format(R"(<text x="{}" y="{}">{}</text>)", kLeft, kBottom + 12, EscapeHtml(least_text));
  }
  svg +=
      fmt::format(R"(<line class="axis" x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}"/>)", kLeft, kRight, y(0));
  for (const Mark& mark : marks) {
    const double at = x(mark.x);
    const bool right = at > (kLeft + kRight) / 2;
    svg +=
        fmt::format(R"(<line class="mean" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}"/>)", at, kTop, kBottom);
    svg += fmt::format(R"(<text{} x="{:.1f}" y="14">{}</text>)", right ? R"( class="end")" : "",
                       right ? at : std::max(at, 120.0), EscapeHtml(mark.text));
  }
  for (const Line& line : lines) {
    std::string path;
    for (const auto& [at, value] : line.points)
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(at), y(value));
    if (!path.empty())
      svg += fmt::format(R"(<path class="{}" d="{}"><title>{}</title></path>)", line.color, path,
                         EscapeHtml(line.label + ": " + line.text));
  }
  svg += fmt::format(R"(<text x="{}" y="244">{}</text>)", kLeft, EscapeHtml(first_text));
  svg += fmt::format(R"(<text class="end" x="{}" y="244">{}</text>)", kRight, EscapeHtml(last_text));
  return svg + "</svg>";
}

std::string HeatClass(double value, double most) {
  double limit = most / 16;
  int level = 0;
  for (; level < 4 && std::abs(value) > limit; ++level) limit *= 2;
  return level == 0 ? "h0" : fmt::format("{}{}", value > 0 ? 'h' : 'l', level);
}

std::string HeatMap(const std::string& id, const std::string& title, const std::string& description,
                    const std::vector<std::string>& columns, const std::vector<HeatRow>& rows) {
  constexpr double kLeft = 96, kRight = 956, kTop = 2;
  const double height = rows.size() <= 16 ? 18 : 12,
               bottom = kTop + height * static_cast<double>(rows.size());
  const double width =
      std::min((kRight - kLeft) / static_cast<double>(std::max<size_t>(columns.size(), 1)), 60.0);
  std::string svg = OpenSvg(id, "heat", fmt::format("0 0 960 {:.0f}", bottom + 18), "", title, description);
  for (size_t r = 0; r < rows.size(); ++r) {
    const double top = kTop + height * static_cast<double>(r);
    svg +=
        fmt::format(R"svg(<g transform="translate({} {})"><text class="end" x="-8" y="{:.1f}">{}</text>)svg",
                    kLeft, top, height / 2 + 3.5, EscapeHtml(rows[r].label));
    for (size_t c = 0; c < rows[r].cells.size(); ++c) {
      const auto& cell = rows[r].cells[c];
      svg += fmt::format(R"(<rect class="{}" x="{:.4g}" width="{:.4g}" height="{}">)",
                         cell ? cell->first : "none", width * static_cast<double>(c), width, height);
      if (cell) svg += "<title>" + EscapeHtml(cell->second) + "</title>";
      svg += "</rect>";
    }
    svg += "</g>";
  }
  // As many labels as have room.
  const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(90 / width)));
  for (size_t c = 0; c < columns.size(); c += every)
    svg += fmt::format(R"(<text x="{:.1f}" y="{:.0f}">{}</text>)", kLeft + width * static_cast<double>(c),
                       bottom + 13, EscapeHtml(columns[c]));
  return svg + "</svg>";
}

std::vector<double> RoundTicks(double last) {
  if (!(last > 0) || !std::isfinite(last)) return {0};
  constexpr double kMostParts = 7;
  const double least = last / kMostParts, power = std::pow(10, std::floor(std::log10(least)));
  double part = 10 * power;
  for (const double times : {1, 2, 5})
    if (times * power >= least * (1 - 1e-9)) {
      part = times * power;
      break;
    }
  std::vector<double> ticks;
  for (int i = 0; part * i <= last * (1 + 1e-9); ++i) ticks.push_back(part * i);
  return ticks;
}

std::string LaneChart(const std::string& id, const std::string& title, const std::vector<Lane>& lanes,
                      const std::vector<std::pair<double, std::string>>& ticks,
                      const std::vector<Flag>& flags, double left) {
  constexpr double kRight = 956, kPitch = 26, kHeight = 20, kTop = 4, kPerLetter = 5.6, kRadius = 8;
  double first = std::numeric_limits<double>::max(), last = std::numeric_limits<double>::lowest();
  std::string description;
  for (const Lane& lane : lanes) {
    description += fmt::format("{}: {}. ", lane.label, lane.text);
    for (const Box& box : lane.boxes) {
      first = std::min(first, box.start);
      last = std::max(last, box.end);
    }
  }
  const auto x = [&](double when) {
    return last > first ? left + (when - first) / (last - first) * (kRight - left) : left;
  };
  const double bottom = kTop + kPitch * static_cast<double>(lanes.size());
  std::string svg = OpenSvg(id, "lanes", fmt::format("0 0 960 {:.0f}", bottom + 20), "", title, description,
                            flags.empty() ? "img" : "group");
  for (const auto& [when, text] : ticks)
    svg += fmt::format(R"(<line class="grid" x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2:.1f}"/>)", x(when),
                       kTop, bottom);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const double y = kTop + kPitch * static_cast<double>(i), middle = y + kHeight / 2 + 3.5;
    svg += fmt::format(R"(<text class="end" x="{}" y="{:.1f}">{}</text>)", left - 8, middle,
                       EscapeHtml(lanes[i].label));
    svg += fmt::format(R"(<rect class="lane" x="{}" y="{}" width="{}" height="{}"/>)", left, y, kRight - left,
                       kHeight);
    for (const Box& box : lanes[i].boxes) {
      const double from = x(box.start), width = std::max(x(box.end) - from, 0.4);
      svg += fmt::format(
          R"(<rect class="{}{}" x="{:.2f}" y="{}" width="{:.2f}" height="{}"><title>{}</title></rect>)",
          box.color, box.light ? " light" : "", from, y, width, kHeight, EscapeHtml(box.text));
      // Behind a flag that stands on it.
      double free = from;
      for (const Flag& flag : flags)
        if (flag.lane == i && x(flag.when) >= from - 2 * kRadius && x(flag.when) < from + width)
          free = std::max(free, x(flag.when) + 2 * kRadius);
      const double room = from + width - free;
      if (room > kPerLetter * static_cast<double>(Columns(box.label)) + 3)
        svg += fmt::format(R"(<text class="in {}-text" x="{:.2f}" y="{:.1f}" aria-hidden="true">{}</text>)",
                           box.color, free + room / 2, middle, EscapeHtml(box.label));
    }
  }
  for (size_t i = 0; i < ticks.size(); ++i)
    svg += fmt::format(R"(<text class="tick {}" x="{:.1f}" y="{:.1f}">{}</text>)",
                       i == 0                            ? "start"
                       : x(ticks[i].first) > kRight - 24 ? "end"
                                                         : "middle",
                       x(ticks[i].first), bottom + 13, EscapeHtml(ticks[i].second));
  for (const Flag& flag : flags) {
    const double y = kTop + kPitch * static_cast<double>(flag.lane) + kHeight / 2;
    svg += fmt::format(
        R"(<a class="flag" href="{}"><title>{}</title><circle cx="{:.1f}" cy="{:.1f}" r="8"/><text )"
        R"(class="middle" x="{:.1f}" y="{:.1f}">{}</text></a>)",
        EscapeHtml(flag.href), EscapeHtml(flag.text), x(flag.when) + kRadius, y, x(flag.when) + kRadius,
        y + 3.5, EscapeHtml(flag.number));
  }
  return svg + "</svg>";
}

}  // namespace dladvisor
