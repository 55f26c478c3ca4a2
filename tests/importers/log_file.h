// SPDX-License-Identifier: Apache-2.0
// Logs from their text, and what they measured.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/error.h"
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

inline TrainingLog ReadTrainingLog(const std::string& text) { return ReadLog(text).training_log; }

inline ProgramOutput ReadProgram(const std::string& text) { return ReadLog(text).program_output; }

// Why a text is not read, "" where it is.
inline std::string RefusalOf(const std::string& text) {
  try {
    ReadLog(text);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

// The same as it is thrown, of a text that must not be read.
inline Error ErrorOnReading(const std::string& text) {
  try {
    ReadLog(text);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "was read";
  return Error("", "");
}

// A line for each of the steps, in which `line(step)` says it.
template <class Line>
std::string LinesOf(int from, int to, int distance, Line line) {
  std::string text;
  for (int step = from; step <= to; step += distance) text += line(step) + "\n";
  return text;
}

// Of a program that is not known.
inline std::string StepsOf(int from, int to) {
  return LinesOf(from, to, 1,
                 [](int step) { return fmt::format("step {} loss 2.5, 250 ms/step, lr 0.1", step); });
}

inline TrainingLog LogOf(const std::string& text) { return ReadLog(text).training_log; }

// How long it takes; 0 where that is not known.
inline double Seconds(const TrainingIteration& row) { return row.elapsed_ns.value_or(0) / 1e9; }

inline void ExpectSeconds(const TrainingLog& log, size_t row, double seconds) {
  ASSERT_GT(log.iterations.size(), row);
  ASSERT_TRUE(log.iterations[row].elapsed_ns);
  EXPECT_NEAR(*log.iterations[row].elapsed_ns, seconds * 1e9, 1e6);
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

// Of a metric: device, time and value of a sample.
inline auto Is(int64_t device, Ns time, double value) {
  return testing::FieldsAre(device, time, testing::DoubleEq(value));
}

}  // namespace dladvisor::test
