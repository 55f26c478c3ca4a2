// SPDX-License-Identifier: Apache-2.0
// Logs from their text, and what they measured.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "src/importers/importers.h"
#include "src/trace/trace.h"
#include "tests/support/files.h"

namespace dladvisor::test {

inline constexpr double kMiB = 1048576;

inline Trace ReadLog(const std::string& text) {
  ScratchDir dir;
  WriteFile(dir.path() / "run.log", text);
  return ReadProfile(dir.path() / "run.log");
}

// GPU, time and value of every sample of a metric.
inline std::vector<std::tuple<int64_t, Ns, double>> SamplesOf(const Trace& trace, TelemetryMetric metric) {
  std::vector<std::tuple<int64_t, Ns, double>> samples;
  const Telemetry& t = trace.telemetry;
  for (size_t i = 0; i < t.size(); ++i)
    if (t.metric[i] == metric)
      samples.emplace_back(trace.devices[t.device[i]].ordinal, t.time[i], t.value[i]);
  return samples;
}

}  // namespace dladvisor::test
