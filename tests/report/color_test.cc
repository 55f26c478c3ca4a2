// SPDX-License-Identifier: Apache-2.0
// The colours of the ledger's buckets can be told apart, by those who see no green, too.
#include "src/render/color.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <array>
#include <cmath>
#include <map>
#include <set>

#include "src/analysis/timeline/bucket.h"
#include "src/render/template.h"

namespace dladvisor {
namespace {

using Triple = std::array<double, 3>;

Triple Multiply(const std::array<Triple, 3>& matrix, const Triple& vector) {
  Triple result{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) result[i] += matrix[i][j] * vector[j];
  return result;
}

// Of "#rrggbb", linear light from 0 to 1.
Triple LinearRgb(const std::string& color) {
  Triple rgb{};
  for (size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(color.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    rgb[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

// Source: G. Machado, M. Oliveira, L. Fernandes, "A Physiologically-based Model for Simulation of Color
// Vision Deficiency", IEEE TVCG 2009: deuteranopia.
Triple AsDeuteranope(const Triple& rgb) {
  return Multiply(
      {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
      rgb);
}

// CIE L*a*b* of D65.
Triple Lab(Triple rgb) {
  for (double& c : rgb) c = std::clamp(c, 0.0, 1.0);
  Triple xyz =
      Multiply({{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}}, rgb);
  const Triple white = {0.9505, 1, 1.089};
  for (size_t i = 0; i < 3; ++i) {
    const double t = xyz[i] / white[i];
    xyz[i] = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116;
  }
  return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}

double Distance(const Triple& a, const Triple& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

// The colours of a theme by name, from where the style sheet declares it.
std::map<std::string, std::string> Theme(bool dark) {
  const std::string css = Template("style.css");
  const size_t split = css.find("@media (prefers-color-scheme: dark)");
  const std::string part = dark ? css.substr(split, css.find("\n}\n", split) - split) : css.substr(0, split);
  std::map<std::string, std::string> colors;
  re2::StringPiece rest(part);
  std::string name, color;
  while (RE2::FindAndConsume(&rest, R"(--([a-z0-9]+): (#[0-9a-f]{6});)", &name, &color)) colors[name] = color;
  return colors;
}

TEST(Color, OfBucketsDiffersForEveryEye) {
  std::set<std::string> names = {ColorOf("communication/waiting").substr(2)};
  for (size_t b = 0; b < kBuckets; ++b) {
    const std::string name = ColorOf(BucketName(static_cast<Bucket>(b))).substr(2);  // "idle1"
    EXPECT_TRUE(names.insert(name).second)
        << BucketName(static_cast<Bucket>(b)) << " has the colour of another";
  }
  for (const bool dark : {false, true}) {
    const auto theme = Theme(dark);
    for (const std::string& a : names)
      for (const std::string& b : names) {
        if (a >= b) continue;
        const Triple one = LinearRgb(theme.at(a)), other = LinearRgb(theme.at(b));
        EXPECT_GT(Distance(Lab(one), Lab(other)), 10) << a << " and " << b;
        EXPECT_GT(Distance(Lab(AsDeuteranope(one)), Lab(AsDeuteranope(other))), 10) << a << " and " << b;
      }
  }
}

}  // namespace
}  // namespace dladvisor
