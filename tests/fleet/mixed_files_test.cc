// SPDX-License-Identifier: Apache-2.0
// Folders that hold traces, a log of nvidia-smi and a training's log of the same run: each contributes its
// part, and what one explains about the other is reported.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "src/analysis/summary/run.h"
#include "src/analysis/telemetry/step_telemetry.h"
#include "src/analysis/telemetry/telemetry_link.h"
#include "src/cli/session.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int64_t kMs = 1'000'000, kSecond = 1'000 * kMs, kHour = 3600 * kSecond;
constexpr int kKernels = 10;

int64_t Noon() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>((sys_days{2026y / March / 1} + hours{12}).time_since_epoch()).count();
}

// A step: its start, and how long it and each of its kernels take.
struct Drawn {
  int64_t start, length, kernel;
};

// PyTorch's trace of a rank whose GPU is the device of the same number. Time 0 of `steps` is noon, UTC.
void WriteTrace(const fs::path& path, int64_t rank, int64_t ranks, const std::vector<Drawn>& steps) {
  std::string events;
  int64_t correlation = 0;
  const auto us = [](int64_t ns) { return static_cast<double>(ns) / 1e3; };
  for (size_t s = 0; s < steps.size(); ++s) {
    events += fmt::format(
        R"({}{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":100,"tid":100,"ts":{:.3f},"dur":{:.3f}}})",
        s == 0 ? "" : ",\n", s + 5, us(steps[s].start), us(steps[s].length));
    for (int k = 0; k < kKernels; ++k) {
      events += fmt::format(
          R"(,{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":100,"tid":100,"ts":{:.3f},"dur":5,"args":{{"correlation":{}}}}})",
          us(steps[s].start) + 10 * (k + 1), ++correlation);
      events += fmt::format(
          R"(,{{"ph":"X","cat":"kernel","name":"sgemm_{}","pid":{},"tid":7,"ts":{:.3f},"dur":{:.3f},"args":{{"device":{},"stream":7,"correlation":{},"grid":[1056,1,1],"block":[128,1,1]}}}})",
          k, rank, us(steps[s].start + kMs + k * steps[s].kernel), us(steps[s].kernel), rank, correlation);
    }
  }
  test::WriteFile(
      path,
      fmt::format(
          R"({{"schemaVersion":1,"deviceProperties":[{{"id":{},"name":"NVIDIA H100","totalGlobalMem":85000000000,"computeMajor":9,"computeMinor":0,"numSms":132}}],"distributedInfo":{{"backend":"nccl","rank":{},"world_size":{}}},"baseTimeNanoseconds":{},"traceEvents":[{}]}})",
          rank, rank, ranks, Noon(), events));
}

// One line per GPU and 100 ms; `clock` in MHz of a GPU at a time since noon, UTC. Written in a zone two hours
// ahead.
template <class Clock>
void WriteTelemetry(const fs::path& path, int gpus, int64_t begin, int64_t end, const Clock& clock) {
  using namespace std::chrono;
  std::string log =
      "timestamp, index, utilization.gpu [%], power.draw [W], power.limit [W], temperature.gpu, clocks.sm "
      "[MHz], clocks_event_reasons.sw_thermal_slowdown\n";
  for (int64_t at = begin; at < end; at += 100 * kMs) {
    const sys_time<milliseconds> time{milliseconds((Noon() + at + 2 * kHour) / kMs)};
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const hh_mm_ss clock_time{time - day};
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const int64_t mhz = clock(gpu, at);
      log += fmt::format(
          "{}/{:02}/{:02} {:02}:{:02}:{:02}.{:03}, {}, 97 %, 300.00 W, 700.00 W, {}, {} MHz, {}\n",
          static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day()), clock_time.hours().count(), clock_time.minutes().count(),
          clock_time.seconds().count(), clock_time.subseconds().count(), gpu, mhz < 1400 ? 90 : 60, mhz,
          mhz < 1400 ? "Active" : "Not Active");
    }
  }
  test::WriteFile(path, log);
}

void WriteTrainingLog(const fs::path& path, double ms) {
  std::string log = "using world size: 4, data-parallel size: 4, tensor-model-parallel size: 1\n";
  for (int i = 1; i <= 20; ++i)
    log += fmt::format(
        " iteration {:8}/{:8} | consumed samples: {:12} | elapsed time per iteration (ms): {:.1f} | learning "
        "rate: 1.500E-04 | global batch size: {:5} | number of skipped iterations:   0 | number of nan "
        "iterations:   0 |\n",
        i, 1000, i * 4, ms, 4);
  test::WriteFile(path, log);
}

struct Report {
  Profile profile;
  std::map<std::string, std::vector<std::string>> fired;  // problems by rule

  template <class Row>
  std::vector<Row> RowsOf(const RelationOf<Row>& relation) const {
    return relation.ToRows(*profile.digest.Find(relation.schema().name));
  }
};

Report ReportOf(const fs::path& folder) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  Alone alone;
  Report report;
  report.profile = LoadProfiles({folder.string()}, {}, alone);
  EXPECT_TRUE(report.profile.unreadable.empty());
  Database database = report.profile.OpenDatabase();
  for (const Finding& finding : Infer(knowledge, database).findings) {
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;
    if (finding.outcome == Outcome::kFired) report.fired[finding.rule].push_back(finding.problem);
  }
  return report;
}

TEST(MixedFiles, ASlowGpuIsExplainedByItsClock) {
  test::ScratchDir dir;
  for (int64_t rank = 0; rank < 4; ++rank) {
    std::vector<Drawn> steps;
    for (int64_t s = 0; s < 24; ++s)
      steps.push_back({s * 200 * kMs, 199 * kMs, 15 * kMs * (rank == 2 ? 115 : 100) / 100 + s * 100});
    WriteTrace(dir.path() / fmt::format("rank{}.json", rank), rank, 4, steps);
  }
  WriteTelemetry(dir.path() / "smi.csv", 4, -3 * kSecond, 9 * kSecond,
                 [](int gpu, int64_t) { return gpu == 2 ? 1200 : 1400; });
  WriteTrainingLog(dir.path() / "train.log", 250);
  const Report report = ReportOf(dir.path());

  const RunRow run = report.RowsOf(RunRelation()).at(0);
  EXPECT_EQ(run.ranks, 4);
  EXPECT_EQ(run.step_source, "ranges");
  EXPECT_NEAR(run.step_ns.value_or(0), 200e6, 2e6);
  EXPECT_NEAR(run.samples_per_second.value_or(0), 16, 0.01);

  const auto clocks = report.RowsOf(TelemetryClockRelation());
  ASSERT_EQ(clocks.size(), 1u);
  EXPECT_EQ(clocks[0].not_joined, std::nullopt);
  EXPECT_EQ(clocks[0].zone_ns, 2 * kHour);
  EXPECT_EQ(clocks[0].zone_source, "steps");
  EXPECT_EQ(clocks[0].origin_utc_ns, Noon() - 3 * kSecond);
  const auto steps = report.RowsOf(StepTelemetryRelation());
  EXPECT_EQ(static_cast<int64_t>(steps.size()), clocks[0].steps);
  for (const StepTelemetryRow& step : steps) {
    EXPECT_EQ(step.device, step.rank);
    EXPECT_DOUBLE_EQ(step.sm_clock_hz.value_or(0), step.rank == 2 ? 1.2e9 : 1.4e9);
  }

  ASSERT_EQ(report.fired.count("slow-gpu"), 1u);
  ASSERT_EQ(report.fired.count("slow-gpu-throttled"), 1u);
  EXPECT_THAT(report.fired.at("slow-gpu-throttled")[0],
              HasSubstr("GPU 2 of rank 2 runs at 1.20 GHz, 85.7 % of the others' 1.40 GHz, at 90 °C"));
  EXPECT_THAT(report.fired.at("slow-gpu-throttled")[0], HasSubstr("Heat holds its clock down in 100.0 %"));
  ASSERT_EQ(report.fired.count("log-and-trace-disagree"), 1u);
  EXPECT_THAT(report.fired.at("log-and-trace-disagree")[0], HasSubstr("an iteration 250 ms"));
  for (const char* rule : {"telemetry-only", "training-log-only", "no-gpu-work", "steps-follow-clocks"})
    EXPECT_EQ(report.fired.count(rule), 0u) << rule;
}

TEST(MixedFiles, StepsThatFollowTheClock) {
  test::ScratchDir dir;
  const auto clock_of = [](int64_t step) { return 1400 - 30 * (step % 8); };  // MHz
  std::vector<Drawn> steps;
  std::vector<int64_t> ends;
  for (int64_t s = 0, at = 0; s < 40; ++s) {
    const int64_t length = 300 * kMs * 1400 / clock_of(s);
    steps.push_back({at, length, length / (kKernels + 1)});
    ends.push_back(at += length);
  }
  const auto at_time = [&](int64_t time) {
    const auto step = std::ranges::upper_bound(ends, time) - ends.begin();
    return clock_of(std::min<int64_t>(step, 39));
  };
  WriteTrace(dir.path() / "trace.json", 0, 1, steps);
  WriteTelemetry(dir.path() / "smi.csv", 1, -3 * kSecond, ends.back() + 3 * kSecond,
                 [&](int, int64_t time) { return at_time(time); });
  const Report report = ReportOf(dir.path());
  bool seen = false;
  for (const TelemetryLinkRow& row : report.RowsOf(TelemetryLinkRelation())) {
    if (row.metric != "sm_clock_hz") continue;
    seen = true;
    EXPECT_GE(row.observations, 30);
    EXPECT_LT(row.rho.value_or(0), -0.8);  // a sample holds for up to a third of the next step
    EXPECT_LT(row.probability.value_or(1), 1e-6);
    EXPECT_LT(row.slow_mean, 0.92 * row.fast_mean);
  }
  EXPECT_TRUE(seen);
  ASSERT_EQ(report.fired.count("steps-follow-clocks"), 1u);
  EXPECT_THAT(report.fired.at("steps-follow-clocks")[0], HasSubstr("Heat holds the clock down"));
}

}  // namespace
}  // namespace dladvisor
