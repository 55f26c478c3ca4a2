// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nvidia_smi/tegrastats_log.h"

#include <re2/re2.h>

#include <optional>
#include <string>

#include "src/importers/bytes/lines.h"
#include "src/importers/nvidia_smi/log_cell.h"
#include "src/importers/nvidia_smi/telemetry_log.h"

namespace dladvisor {
namespace {
using nvidia_smi::TelemetryLog;
using Metric = TelemetryMetric;

constexpr std::string_view kMark = "GR3D_FREQ ";

// "10-01-2025 20:06:02", the month first.
std::optional<nvidia_smi::Time> TimeOf(std::string_view line) {
  static const RE2 date(R"(^(\d{2})-(\d{2})-(\d{4}) (\d{2}:\d{2}:\d{2}))");
  std::string month, day, year, clock;
  if (!RE2::PartialMatch(line, date, &month, &day, &year, &clock)) return std::nullopt;
  return nvidia_smi::ParseTime(year + "-" + month + "-" + day + " " + clock);
}

void TakeSample(std::string_view line, TelemetryLog& log) {
  static const RE2 use(R"(GR3D_FREQ (\d{1,3})%)"), clock(R"(GR3D_FREQ \d{1,3}%@\[?(\d{1,5}))"),
      memory(R"(\bRAM (\d{1,9})/(\d{1,9})MB)"), heat(R"(\b(?:GPU|gpu)@(-?\d{1,4}(?:\.\d{1,3})?)C)"),
      power(R"(\b(?:VDD_IN|POM_5V_IN|VDD_TOTAL) (\d{1,7})(?:mW)?/)");
  double number = 0, total = 0;
  if (!RE2::PartialMatch(line, use, &number)) return log.Skip("rows");
  log.Begin(TimeOf(line), log.Device("0", ""));
  log.Add(Metric::kGpuUtilization, {number, "%"});
  if (RE2::PartialMatch(line, clock, &number)) log.Add(Metric::kSmClock, {number, "MHz"});
  if (RE2::PartialMatch(line, memory, &number, &total)) {
    log.Add(Metric::kMemoryUsed, {number, "MiB"});
    log.Add(Metric::kMemoryTotal, {total, "MiB"});
  }
  if (RE2::PartialMatch(line, heat, &number)) log.Add(Metric::kTemperature, {number, "C"});
  if (RE2::PartialMatch(line, power, &number)) log.Add(Metric::kPower, {number / 1000, "W"});
}

}  // namespace

bool LooksLikeTegrastatsLog(std::string_view head) {
  // Of what the GPU does it says nothing before it is used for the first time.
  static const RE2 line(R"(^(?:\d{2}-\d{2}-\d{4} \d{2}:\d{2}:\d{2} )?RAM \d+/\d+MB \(lfb .*CPU \[)");
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos &&
         RE2::PartialMatch(head.substr(first, head.find('\n', first) - first), line);
}

Trace ReadTegrastatsLog(ByteSource& source) {
  Lines lines(source);
  TelemetryLog log;
  while (const auto line = lines.Next())
    if (line->find(kMark) != std::string_view::npos) TakeSample(*line, log);
  log.trace().facts["profiler"] = "tegrastats";
  return log.Finish(source.name(), "a log of tegrastats");
}

}  // namespace dladvisor
