// SPDX-License-Identifier: Apache-2.0
// Charts as inline SVG. Colours are classes that style.css gives for light, dark and print; every chart has a
// title and a description for screen readers, and every mark a <title> that browsers show on hover, so that
// nothing needs a script.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dladvisor {

// The head of a chart: `id` is unique in the page, `attributes` are written as they are. A chart with links
// in it has the role "group".
std::string OpenSvg(const std::string& id, const char* css_class, const std::string& view_box,
                    const std::string& attributes, const std::string& title, const std::string& description,
                    const char* role = "img");

struct Segment {
  std::string label;
  double value = 0;       // >= 0; not-finite values count as 0
  std::string text;       // the value as people read it
  std::string color;      // CSS class: "c-compute", "c-idle", ...
  bool is_share = false;  // what the text says is the share of the whole
};

// A ring of the segments' shares with `center` written into it. `id` is unique in the page.
std::string Donut(const std::string& id, const std::string& title, const std::vector<Segment>& segments,
                  const std::string& center);

// One horizontal bar of the segments' shares, as wide as its container.
std::string StackedBar(const std::string& id, const std::string& title, const std::vector<Segment>& segments);

struct Bar {
  std::string label;  // e.g. "Iteration 7"
  double value = 0;   // >= 0
  std::string text;
  bool muted = false;  // drawn hatched, e.g. warm-up
};

// Vertical bars from zero with a line at `reference` (none where it is not positive) and the extremes written
// at the axes.
std::string BarChart(const std::string& id, const std::string& title, const std::vector<Bar>& bars,
                     double reference, const std::string& reference_text, const std::string& max_text);

struct Curve {
  std::string label, text, color;                // as of a segment
  std::vector<std::pair<double, double>> steps;  // (when, value from then on) in order; values >= 0
};

struct Mark {
  double x = 0, y = 0;
  std::string text;
};

// Curves that hold their value until the next step, from zero to the greatest value, which `max_text` is; the
// time axis has `start_text` and `end_text` at its ends. The first curve is drawn as an area.
std::string StepChart(const std::string& id, const std::string& title, const std::vector<Curve>& curves,
                      const std::optional<Mark>& mark, const std::string& max_text,
                      const std::string& start_text, const std::string& end_text);

struct Line {
  std::string label, text, color;                 // as of a segment
  std::vector<std::pair<double, double>> points;  // in order of x
};

// Straight lines through points of either sign, with a line at zero. `marks` are upright lines with their
// text beside them, of which y is not used; `texts` are of the greatest and the least value, and of both
// ends.
std::string LineChart(const std::string& id, const std::string& title, const std::vector<Line>& lines,
                      const std::vector<Mark>& marks, const std::array<std::string, 4>& texts);

struct HeatRow {
  std::string label;
  // As of HeatClass, and the text on hover; nothing where there is no value.
  std::vector<std::optional<std::pair<std::string, std::string>>> cells;
};

// CSS class of a value on a scale whose limits double from a sixteenth of `most` on, so that one extreme does
// not hide all others: "h0", "h1" to "h4" above zero, "l1" to "l4" below.
std::string HeatClass(double value, double most);

// A grid of cells; all rows have as many as there are `columns`, of which the first, the last and some others
// are labelled.
std::string HeatMap(const std::string& id, const std::string& title, const std::string& description,
                    const std::vector<std::string>& columns, const std::vector<HeatRow>& rows);

struct Box {
  double start = 0, end = 0;
  std::string label;  // written into it where it is wide enough
  std::string text;   // on hover
  std::string color;  // as of a segment
  bool light = false;
};

struct Lane {
  std::string label, text;  // `text` is for the description
  std::vector<Box> boxes;   // in order of start
};

// A numbered flag on a lane, which begins at `when` and leads to `href` within the page.
struct Flag {
  size_t lane = 0;
  double when = 0;
  std::string number, text, href;
};

// Zero and the multiples of a round number (1, 2 or 5, and zeros) up to `last`: four to eight in all.
std::vector<double> RoundTicks(double last);

// Boxes on lanes over a common axis of time, on which `ticks` are written. What is between boxes shows the
// lane itself: time in which nothing runs. `left` is the room for the lanes' labels, of 960.
std::string LaneChart(const std::string& id, const std::string& title, const std::vector<Lane>& lanes,
                      const std::vector<std::pair<double, std::string>>& ticks,
                      const std::vector<Flag>& flags = {}, double left = 64);

}  // namespace dladvisor
