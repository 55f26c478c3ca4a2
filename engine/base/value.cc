// SPDX-License-Identifier: Apache-2.0
#include "engine/base/value.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "engine/base/text.h"

namespace dladvisor {
namespace {

struct Scale {
  double factor;
  const char* suffix;
};

// The largest scale that keeps the printed number at 1 or more; the first entry is the smallest.
std::string Scaled(double value, std::span<const Scale> scales) {
  const Scale* chosen = &scales.front();
  for (const Scale& scale : scales)
    // 0.9995 so that a number that rounds up to the next unit is printed in it: "1.00 ms", not "1000 µs".
    if (std::abs(value) >= scale.factor * 0.9995) chosen = &scale;
  const double scaled = value / chosen->factor;
  const double magnitude = std::abs(scaled);
  const int decimals = chosen == &scales.front() && scaled == std::floor(scaled) ? 0
                       : magnitude < 9.995                                       ? 2
                       : magnitude < 99.95                                       ? 1
                                                                                 : 0;
  return fmt::format("{:.{}f} {}", scaled, decimals, chosen->suffix);
}

constexpr std::array<Scale, 6> kTime = {
    {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}}};
constexpr std::array<Scale, 5> kBytes = {
    {{1, "B"}, {1024.0, "KiB"}, {1048576.0, "MiB"}, {1073741824.0, "GiB"}, {1099511627776.0, "TiB"}}};
constexpr std::array<Scale, 5> kRate = {
    {{1, "B/s"}, {1e3, "kB/s"}, {1e6, "MB/s"}, {1e9, "GB/s"}, {1e12, "TB/s"}}};
constexpr std::array<Scale, 6> kFlops = {
    {{1, "FLOP"}, {1e3, "kFLOP"}, {1e6, "MFLOP"}, {1e9, "GFLOP"}, {1e12, "TFLOP"}, {1e15, "PFLOP"}}};
constexpr std::array<Scale, 5> kFlopsPerSecond = {
    {{1, "FLOP/s"}, {1e3, "kFLOP/s"}, {1e6, "MFLOP/s"}, {1e9, "GFLOP/s"}, {1e12, "TFLOP/s"}}};
constexpr std::array<Scale, 4> kHertz = {{{1, "Hz"}, {1e3, "kHz"}, {1e6, "MHz"}, {1e9, "GHz"}}};

std::string PlainNumber(double d) {
  if (d == std::floor(d) && std::abs(d) < 1e15) return fmt::format("{}", static_cast<int64_t>(d));
  return fmt::format("{:.4g}", d);
}

std::string Count(double d) {
  if (d == std::floor(d) && std::abs(d) < 1e18) return WithThousands(static_cast<int64_t>(d));
  return fmt::format("{:.{}f}", d, std::abs(d) < 10 ? 2 : 1);
}

constexpr std::array<std::pair<Unit, std::string_view>, 13> kUnitNames = {{
    {Unit::kNone, ""},
    {Unit::kText, "text"},
    {Unit::kCount, "count"},
    {Unit::kCountPerStep, "count/step"},
    {Unit::kNanoseconds, "ns"},
    {Unit::kBytes, "bytes"},
    {Unit::kRatio, "ratio"},
    {Unit::kBytesPerSecond, "bytes/s"},
    {Unit::kFlops, "flops"},
    {Unit::kFlopsPerSecond, "flops/s"},
    {Unit::kCelsius, "celsius"},
    {Unit::kWatts, "watts"},
    {Unit::kHertz, "hertz"},
}};

}  // namespace

std::string_view UnitName(Unit unit) {
  for (const auto& [known, name] : kUnitNames)
    if (known == unit) return name;
  return "";
}

std::optional<Unit> ParseUnit(std::string_view name) {
  for (const auto& [unit, known] : kUnitNames)
    if (known == name) return unit;
  return std::nullopt;
}

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kInteger:
      return "integer";
    case Type::kReal:
      return "real";
    case Type::kText:
      return "text";
  }
  return "";
}

std::optional<Type> ParseType(std::string_view name) {
  if (name == "integer" || name == "int") return Type::kInteger;
  if (name == "real") return Type::kReal;
  if (name == "text") return Type::kText;
  return std::nullopt;
}

std::string FormatValue(const Value& value, Unit unit) {
  if (IsNull(value)) return "unknown";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  const double number = *AsNumber(value);
  if (!std::isfinite(number)) return "unknown";
  switch (unit) {
    case Unit::kNanoseconds:
      return Scaled(number, kTime);
    case Unit::kBytes:
      return Scaled(number, kBytes);
    case Unit::kBytesPerSecond:
      return Scaled(number, kRate);
    case Unit::kFlops:
      return Scaled(number, kFlops);
    case Unit::kFlopsPerSecond:
      return Scaled(number, kFlopsPerSecond);
    case Unit::kHertz:
      return Scaled(number, kHertz);
    case Unit::kRatio:
      // What is there, however little, is not nothing.
      if (number > 0 && number < 0.0005) return "<0.1 %";
      return fmt::format("{:.1f} %", number * 100);
    case Unit::kCelsius:
      return fmt::format("{:.0f} °C", number);
    case Unit::kWatts:
      return fmt::format("{:.0f} W", number);
    case Unit::kCount:
      return Count(number);
    case Unit::kCountPerStep:
      return Count(number) + " per step";
    case Unit::kNone:
    case Unit::kText:
      break;
  }
  if (const auto* integer = std::get_if<int64_t>(&value)) return fmt::format("{}", *integer);
  return PlainNumber(number);
}

}  // namespace dladvisor
