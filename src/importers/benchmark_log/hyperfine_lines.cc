// SPDX-License-Identifier: Apache-2.0
#include "src/importers/benchmark_log/hyperfine_lines.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <cstdlib>

namespace dladvisor::benchmark_log {
namespace {

constexpr size_t kLongestOfHyperfine = 1024, kMostCommands = 1000;

// In seconds, as its files have them.
std::string SecondsOf(const std::string& number, const std::string& unit) {
  const double scale = unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "min" ? 60 : 1e-6;
  return fmt::format("{}", std::strtod(number.c_str(), nullptr) * scale);
}

}  // namespace

bool HyperfineLinesReader::Line(std::string_view line) {
  if (line.size() > kLongestOfHyperfine) return false;
  static const RE2 begins(R"(^Benchmark (?:#?\d+): (.+?)\s*$)"),
      times(
          R"(^\s+Time \(mean ± σ\):\s+([\d.]+) (µs|ms|s|min) ±\s+([\d.]+) (µs|ms|s|min)(?:\s+\[User: [\d.]+ \S+, System: [\d.]+ [^\]]+\])?\s*$)"),
      once(R"(^\s+Time \(abs ≡\):\s+([\d.]+) (µs|ms|s|min)\s.*)"),
      other(
          R"(^\s+(?:Range \(min … max\):|Warning:|\d+(?:\.\d+)? (?:± \d+(?:\.\d+)? )?times faster than ).*)");
  const re2::StringPiece text(line.data(), line.size());
  std::string mean, unit, spread, unit_of_spread;
  if (line.starts_with("Benchmark ") && RE2::FullMatch(text, begins, &command_)) {
    open_ = true;
    return true;
  }
  if (!open_ || line.empty()) return false;
  const bool measured = RE2::FullMatch(text, times, &mean, &unit, &spread, &unit_of_spread);
  if (measured || RE2::FullMatch(text, once, &mean, &unit)) {
    if (results_.rows.size() < kMostCommands)
      results_.rows.push_back(
          {command_, SecondsOf(mean, unit), measured ? SecondsOf(spread, unit_of_spread) : "0", "0", "0"});
    return true;
  }
  if (line.starts_with("Summary")) {
    summary_ = true;
    return true;
  }
  return summary_ || RE2::FullMatch(text, other);
}

std::optional<RawResults> HyperfineLinesReader::Finish() const {
  if (results_.rows.size() < 2) return std::nullopt;
  RawResults results = results_;
  results.names = {"command", "mean", "stddev", "user", "system"};
  return results;
}

}  // namespace dladvisor::benchmark_log
