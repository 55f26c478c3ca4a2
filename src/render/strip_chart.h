// SPDX-License-Identifier: Apache-2.0
// Several values over one axis of time, each in a strip of its own, so that neither colour nor a legend is
// needed to tell them apart. What is outside of what is normal is hatched.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dladvisor {

struct Strip {
  std::string label, text;  // `text` is of the whole series, for the right end
  double most = 0;          // top of the strip; the bottom is 0
  std::string most_text;
  std::vector<std::pair<double, std::optional<double>>> points;  // (x, value from there on), in order of x
  std::vector<std::optional<double>> peaks;  // the most within each point's time, none or as many as points
  // Drawn as a line across, where it is within the strip.
  std::optional<double> limit;
  struct Mark {
    double from = 0, to = 0;
    std::string text;
  };
  std::vector<Mark> marks;
};

// `ends` are the texts of the first and the last x. `id` is unique in the page.
std::string StripChart(const std::string& id, const std::string& title, const std::vector<Strip>& strips,
                       double first, double last, const std::pair<std::string, std::string>& ends);

}  // namespace dladvisor
