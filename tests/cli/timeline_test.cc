// SPDX-License-Identifier: Apache-2.0
// `dladvisor timeline` as its user runs it: what it writes is a trace by the Trace Event Format's rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "examples/data-parallel/exports.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

class TimelineCommand : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    scratch_ = std::make_unique<test::ScratchDir>();
    example::JobOptions options;
    options.nodes = 1;
    options.gpus_per_node = 2;
    options.steps = 12;
    options.kernels = 40;
    options.program = 1;
    example::WriteJob(example::Job(options), scratch_->path() / "job", example::DefaultNsysSchema());
  }
  static void TearDownTestSuite() { scratch_.reset(); }
  static test::RunResult Run(const std::string& arguments) {
    return test::Run("cd '" + scratch_->path().string() + "' && '" + test::ProgramPath().string() + "' " +
                     arguments);
  }
  static std::vector<json> EventsOf(const std::string& arguments, const std::string& output = "out.json") {
    const auto run = Run("timeline " + arguments + " -o " + output);
    EXPECT_EQ(run.status, 0) << run.err;
    return json::parse(test::ReadFile(scratch_->path() / output)).at("traceEvents");
  }
  static std::unique_ptr<test::ScratchDir> scratch_;
};
std::unique_ptr<test::ScratchDir> TimelineCommand::scratch_;

int64_t NsOf(const json& event, const char* key) {
  return static_cast<int64_t>(std::llround(event.at(key).get<double>() * 1000));
}

TEST_F(TimelineCommand, WritesEventsByTheFormatsRules) {
  const std::vector<json> events = EventsOf("job");
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<int64_t, int64_t>>> tracks;
  std::map<int64_t, int> arrows;
  std::set<int64_t> named;
  for (const json& event : events) {
    const std::string phase = event.at("ph");
    ASSERT_TRUE(event.at("name").is_string());
    ASSERT_TRUE(event.at("pid").is_number_integer());
    if (phase == "M") named.insert(event.at("pid").get<int64_t>());
    if (phase == "s" || phase == "f") arrows[event.at("id").get<int64_t>()] += phase == "s" ? 1 : -1;
    if (phase != "X") continue;
    ASSERT_GE(NsOf(event, "dur"), 0);
    tracks[{event.at("pid"), event.at("tid")}].emplace_back(NsOf(event, "ts"), -NsOf(event, "dur"));
  }
  for (const auto& [id, open] : arrows) EXPECT_EQ(open, 0) << id;
  for (auto& [track, slices] : tracks) {
    EXPECT_TRUE(named.contains(track.first));
    std::ranges::sort(slices);
    std::vector<int64_t> open;
    for (const auto& [start, length] : slices) {
      while (!open.empty() && open.back() <= start) open.pop_back();
      EXPECT_TRUE(open.empty() || start - length <= open.back())
          << "track " << track.first << " " << track.second;
      open.push_back(start - length);
    }
  }
}

TEST_F(TimelineCommand, HoldsTheKernelsOfTheStepOfEveryRankOnOneClock) {
  const std::vector<json> events = EventsOf("job --step 2005");
  const std::string count =
      Run("query job --format csv \"SELECT sum(kernels) FROM step WHERE step = 2005\"").out;
  size_t kernels = 0;
  std::set<std::string> processes;
  std::vector<int64_t> steps;
  for (const json& event : events) {
    if (event.value("cat", "") == "kernel") ++kernels;
    if (event.at("name") == "process_name") processes.insert(event.at("args").at("name"));
    if (event.at("name") == "step 2005") steps.push_back(NsOf(event, "ts"));
  }
  EXPECT_THAT(count, HasSubstr("\n" + std::to_string(kernels) + "\n"));
  EXPECT_THAT(processes, testing::IsSupersetOf({"Rank 0, host", "Rank 0, GPU 0", "Rank 1, GPU 1"}));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_LT(std::abs(steps[0] - steps[1]), 1'000'000);
}

TEST_F(TimelineCommand, IsCompressedWhereTheNameSaysSo) {
  ASSERT_EQ(Run("timeline job -o out.json.gz").status, 0);
  ASSERT_EQ(Run("timeline job -o plain.json").status, 0);
  EXPECT_EQ(test::Run("gzip -dc '" + (scratch_->path() / "out.json.gz").string() + "'").out,
            test::ReadFile(scratch_->path() / "plain.json"));
}

TEST_F(TimelineCommand, SaysWhatItCannotDraw) {
  const auto step = Run("timeline job --step 5 -o out.json");
  EXPECT_EQ(step.status, 3);
  EXPECT_THAT(step.err, HasSubstr("--step 5: is not a steady step of the profile"));
  ASSERT_EQ(Run("digest job -o job.digest").status, 0);
  const auto digest = Run("timeline job.digest -o out.json");
  EXPECT_EQ(digest.status, 3);
  EXPECT_THAT(digest.err, HasSubstr("digest"));
}

// Report and command choose alike: the step in which the slowest GPU is farthest behind, on that GPU over
// another.
TEST_F(TimelineCommand, ShowsAJobsWorstStepAsTheReportDoes) {
  const auto asked =
      Run("query job \"SELECT worst_step, (SELECT rank FROM pacing_gpu) FROM jitter WHERE cohort = 0\" "
          "--format csv");
  ASSERT_EQ(asked.status, 0) << asked.err;
  std::string worst, pacing;
  ASSERT_TRUE(RE2::FullMatch(asked.out, R"((?s)[^\n]*\n(\d+),(\d+)\r?\n?)", &worst, &pacing)) << asked.out;
  const auto report = Run("report job -o job.html");
  ASSERT_EQ(report.status, 0) << report.err;
  const std::string html = test::ReadFile(scratch_->path() / "job.html");
  const size_t first = html.find("<figcaption>Step "), second = html.find("<figcaption>Step ", first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_TRUE(html.substr(first).starts_with("<figcaption>Step " + worst + " ("));
  EXPECT_THAT(html.substr(first, 100), HasSubstr("the worst of all, rank " + pacing));
  EXPECT_THAT(html.substr(second, 100), HasSubstr("for comparison"));
  std::set<std::string> steps;
  for (const json& event : EventsOf("job", "worst.json"))
    if (const std::string name = event.at("name"); name.starts_with("step ")) steps.insert(name);
  EXPECT_EQ(steps, std::set<std::string>{"step " + worst});
}

}  // namespace
}  // namespace dladvisor
