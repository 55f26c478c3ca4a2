// SPDX-License-Identifier: Apache-2.0
// Every real log of GPU telemetry beside the checkout gives a report that says what it is, or is refused with
// a reason; and a written one hears of what is wrong with its GPUs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "tests/corpus/written_report.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsSubsetOf;
using testing::Not;

TEST(TelemetryCorpus, EveryLogGivesAReportOrAReason) {
  std::vector<fs::path> files;
  for (const char* extension : {".csv", ".log", ".txt", ".json"})
    for (const fs::path& file : test::DataFiles("nvidia_smi", extension)) files.push_back(file);
  if (files.empty()) GTEST_SKIP() << "no real logs: set DLADVISOR_DATA to their folder";
  size_t read = 0;
  for (const fs::path& file : files) {
    SCOPED_TRACE(file.string());
    try {
      const test::WrittenReport log = test::WriteReport(LoadProfile(file, {}));
      EXPECT_THAT(log.text,
                  AnyOf(HasSubstr("A log of nvidia-smi"), HasSubstr("A log of GPU telemetry, not")));
      EXPECT_THAT(log.text, Not(HasSubstr("--trace=cuda ")));
      EXPECT_THAT(log.markdown, HasSubstr("## Telemetry"));
      EXPECT_THAT(log.html, HasSubstr("Telemetry"));
      EXPECT_THAT(log.fired, testing::Contains("telemetry-only"));
      EXPECT_THAT(log.fired, IsSubsetOf({"telemetry-only", "telemetry-busy", "gpu-underused-log"}))
          << "none of them shows more than that a GPU waits";
      ++read;
    } catch (const Error& e) {
      EXPECT_THAT(file.string(), HasSubstr("SemiAnalysisAI")) << e.what();
      EXPECT_FALSE(e.reason().empty());
      EXPECT_FALSE(e.hint().empty());
    }
  }
  EXPECT_GE(read, 8u);
}

// Two GPUs for 100 s: GPU 1 half idle, emptier, and slowed by heat where `hot`; both at their power limit
// where `capped`.
std::string Log(bool uneven, bool hot, bool capped) {
  std::string log =
      "timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], "
      "power.limit [W], temperature.gpu, clocks.sm [MHz], clocks.max.sm [MHz]\n";
  for (int i = 0; i < 100; ++i)
    for (int gpu = 0; gpu < 2; ++gpu) {
      const bool cool = !hot || gpu == 0 || i < 20;
      log += fmt::format(
          "2024/01/02 03:{:02}:{:02}.{}00, {}, {} %, {} MiB, 81559 MiB, {}.00 W, 300.00 W, {}, {} MHz, 1980 "
          "MHz\n",
          i / 60, i % 60, gpu, gpu, uneven && gpu == 1 && i % 2 == 0 ? 0 : 97,
          uneven && gpu == 1 ? 30000 : 70000, capped ? 299 : 220, cool ? 60 : 88,
          !cool    ? 1200
          : capped ? 1500
                   : 1965);
    }
  return log;
}

TEST(TelemetryCorpus, WhatIsWrongIsSaid) {
  test::ScratchDir dir;
  const fs::path path = dir.path() / "gpu.csv";
  const auto fired = [&](bool uneven, bool hot, bool capped) {
    test::WriteFile(path, Log(uneven, hot, capped));
    return test::WriteReport(LoadProfile(path, {})).fired;
  };
  using Rules = std::set<std::string>;
  EXPECT_EQ(fired(false, false, false), (Rules{"telemetry-busy", "telemetry-only"}));
  EXPECT_EQ(fired(true, false, false),
            (Rules{"gpu-utilization-imbalance", "memory-imbalance", "telemetry-only"}));
  EXPECT_EQ(fired(false, true, false), (Rules{"telemetry-only", "thermal-throttling"}));
  EXPECT_EQ(fired(false, false, true), (Rules{"power-capped", "telemetry-busy", "telemetry-only"}));
}

}  // namespace
}  // namespace dladvisor
