// SPDX-License-Identifier: Apache-2.0
// The commands as a user runs them, on a small export.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Ten steps of 100 µs: a GEMM of 40 µs and a copy from pageable memory of 20 µs in each.
std::string TrainingLoop() {
  std::string sql =
      "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES(1, 'ampere_sgemm_128x64_tn'), (2, 'cudaLaunchKernel_v7000'), "
      "(3, 'cudaMemcpyAsync_v3020');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId INT, streamId "
      "INT, "
      "correlationId INT, globalPid INT, demangledName INT, shortName INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, contextId INT, streamId "
      "INT, "
      "correlationId INT, globalPid INT, bytes INT, copyKind INT, srcKind INT, dstKind INT);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, eventClass INT, globalTid INT, "
      "correlationId INT, "
      "nameId INT, returnValue INT);"
      "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT);"
      "CREATE TABLE TARGET_INFO_GPU(id INT, name TEXT, totalMemory INT, smCount INT, computeMajor INT, "
      "computeMinor INT, cuDevice INT);"
      "INSERT INTO TARGET_INFO_GPU VALUES(0, 'NVIDIA A100-SXM4-80GB', 85095874560, 108, 8, 0, 0);"
      "BEGIN;";
  const int64_t pid = 42 << 24, tid = pid + 42;
  for (int64_t i = 0; i < 10; ++i) {
    const int64_t t = 1'000'000 + i * 100'000, copy = 2 * i + 1, kernel = 2 * i + 2;
    sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES({}, {}, 59, 'iteration {}', {}, 0);", t, t + 99'000, i,
                       tid);
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({}, {}, 0, {}, {}, 3, 0);", t + 1000,
                       t + 24'000, tid, copy);
    sql += fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES({}, {}, 0, 1, 7, {}, {}, 1048576, 1, 0, 2);", t + 3000,
        t + 23'000, copy, pid);
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES({}, {}, 0, {}, {}, 2, 0);", t + 25'000,
                       t + 30'000, tid, kernel);
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({}, {}, 0, 1, 7, {}, {}, 1, 1);",
                       t + 32'000, t + 72'000, kernel, pid);
  }
  return sql + "COMMIT;";
}

class Commands : public testing::Test {
 protected:
  Commands() : export_(scratch_.path() / "train.sqlite") {
    sqlite3* db = nullptr;
    sqlite3_open(export_.c_str(), &db);
    EXPECT_EQ(sqlite3_exec(db, TrainingLoop().c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  // Runs the program with %P replaced by the export and %D by the scratch folder; expects status 0.
  std::string Run(std::string arguments) {
    const auto replace = [&](const std::string& what, const std::string& with) {
      for (size_t at; (at = arguments.find(what)) != std::string::npos;)
        arguments.replace(at, what.size(), with);
    };
    replace("%P", export_.string());
    replace("%D", scratch_.path().string());
    const test::RunResult run = test::Run(test::ProgramPath().string() + " " + arguments);
    EXPECT_EQ(run.status, 0) << arguments << "\n" << run.err;
    errors_ = run.err;
    return run.out;
  }

  test::ScratchDir scratch_;
  fs::path export_;
  std::string errors_;
};

TEST_F(Commands, ReportOnTheTerminal) {
  const std::string text = Run("report %P");
  EXPECT_THAT(text, HasSubstr("eligible to use tensor cores but is not using FP16"));
  EXPECT_THAT(text, HasSubstr("pageable"));
  EXPECT_THAT(text, HasSubstr("NVIDIA A100-SXM4-80GB"));
  EXPECT_EQ(errors_, "");
}

TEST_F(Commands, ReportFormatsFollowTheExtension) {
  Run("report %P -o %D/r.html");
  EXPECT_THAT(test::ReadFile(scratch_.path() / "r.html"), testing::StartsWith("<!doctype html>"));
  Run("report %P -o %D/r.md");
  EXPECT_THAT(test::ReadFile(scratch_.path() / "r.md"), HasSubstr("|"));
  Run("report %P -o %D/r.json");
  const auto json = nlohmann::json::parse(test::ReadFile(scratch_.path() / "r.json"));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_FALSE(json["findings"].empty());
}

TEST_F(Commands, SameInputGivesTheSameBytes) {
  EXPECT_EQ(Run("report %P --format json"), Run("report %P --format json"));
  EXPECT_EQ(Run("report %P --format html"), Run("report %P --format html"));
}

TEST_F(Commands, QueryGivesFactsAndEvents) {
  EXPECT_EQ(Run("query %P 'SELECT steps, step_source FROM run' --format csv"),
            "steps,step_source\n10,ranges\n");
  EXPECT_EQ(Run("query %P 'SELECT count(*) AS n, sum(duration_ns) AS ns FROM kernel' --format csv"),
            "n,ns\n10,400000\n");
  const auto rows = nlohmann::json::parse(Run("query %P kernel_name --format json"));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["instances"], 10);
  EXPECT_EQ(rows[0]["total_ns"], 400000);
  EXPECT_THAT(Run("query %P gpu"), HasSubstr("NVIDIA A100-SXM4-80GB"));
}

TEST_F(Commands, QueryErrorsNameTheRightWord) {
  const test::RunResult column =
      test::Run(test::ProgramPath().string() + " query " + export_.string() + " 'SELECT idle_shar FROM gpu'");
  EXPECT_EQ(column.status, 3);
  EXPECT_THAT(column.err, HasSubstr("idle_share"));
  const test::RunResult relation =
      test::Run(test::ProgramPath().string() + " query " + export_.string() + " gpus");
  EXPECT_EQ(relation.status, 3);
  EXPECT_THAT(relation.err, HasSubstr("did you mean gpu?"));
  const test::RunResult function =
      test::Run(test::ProgramPath().string() + " query " + export_.string() + " 'SELECT random()'");
  EXPECT_THAT(function.err, HasSubstr("function random is not allowed"));
  EXPECT_THAT(function.err, HasSubstr("\n  Allowed are ->, "));
  const test::RunResult write =
      test::Run(test::ProgramPath().string() + " query " + export_.string() + " 'DELETE FROM gpu'");
  EXPECT_EQ(write.status, 3);
}

TEST_F(Commands, StepsCanBeChosen) {
  EXPECT_EQ(Run("query %P 'SELECT first_step, last_step, steps FROM run' --steps 3:6 --format csv"),
            "first_step,last_step,steps\n3,6,4\n");
  for (const auto& [chosen, expected] :
       {std::pair{"2", "2,2,1"}, {"7:", "7,9,3"}, {":1", "0,1,2"}, {"-4:1", "0,1,2"}})
    EXPECT_EQ(
        Run(std::string("query %P 'SELECT first_step, last_step, steps FROM run' --format csv --steps=") +
            chosen),
        std::string("first_step,last_step,steps\n") + expected + "\n")
        << chosen;
  EXPECT_EQ(Run("query %P 'SELECT steps FROM run' --step-range 'iteration ([0-9]+)' --format csv"),
            "steps\n10\n");
}

TEST_F(Commands, PipelineNamesThePassesOfItsRanges) {
  const std::string query =
      "query %P 'SELECT phase, count(DISTINCT micro_batch) AS n FROM pipeline_event GROUP BY 1' --format csv";
  EXPECT_EQ(Run(query), "phase,n\n");
  EXPECT_EQ(Run(query + " --pipeline '^(i)teration ([0-9]+)'"), "phase,n\nB,10\n") << "the input's gradient";
  test::WriteFile(scratch_.path() / "project.yaml",
                  "pipeline: '^(?P<phase>i)teration (?P<micro_batch>[0-9]+)'\n");
  EXPECT_EQ(Run("--config %D/project.yaml " + query), "phase,n\nB,10\n");
}

TEST_F(Commands, DigestGivesTheSameReport) {
  Run("digest %P -o %D/train.digest");
  EXPECT_LT(fs::file_size(scratch_.path() / "train.digest"), 700'000u);
  auto fromProfile = nlohmann::json::parse(Run("report %P --format json"));
  auto fromDigest = nlohmann::json::parse(Run("report %D/train.digest --format json"));
  EXPECT_EQ(fromProfile["findings"], fromDigest["findings"]);
  EXPECT_EQ(fromProfile["figures"], fromDigest["figures"]);
}

TEST_F(Commands, ADigestSaysThatItHoldsNoEvents) {
  Run("digest %P -o %D/train.digest");
  const std::string query =
      test::ProgramPath().string() + " query '" + (scratch_.path() / "train.digest").string() + "' ";
  EXPECT_THAT(test::Run(query + "'SELECT count(*) FROM kernel'").err,
              HasSubstr("holds no events: no rows of kernel"));
  EXPECT_THAT(test::Run(query + "cuda_gpu_kern_sum").err, HasSubstr("no rows of kernel"));
  EXPECT_EQ(test::Run(query + "gpu").err, "");
}

TEST_F(Commands, AProjectDeclaresItsOwnHardware) {
  const std::string query =
      " query %P \"SELECT model, known_by, flops_per_s FROM gpu_peak WHERE precision = 'bf16' AND unit = "
      "'matrix'\""
      " --format csv";
  EXPECT_EQ(Run(query), "model,known_by,flops_per_s\nA100 SXM4 80 GB,model,312000000000000\n");
  test::WriteFile(scratch_.path() / "own.yaml",
                  "hardware:\n  gpus:\n    - model: Slow A100\n      names: [NVIDIA A100-SXM4-80GB]\n"
                  "      matrix_tflops: {bf16: 280}\n      source: power limit of our lab\n");
  EXPECT_EQ(Run("--config %D/own.yaml" + query),
            "model,known_by,flops_per_s\nSlow A100,declared,280000000000000\n");
}

TEST_F(Commands, FactsDescribeEveryRelation) {
  const std::string list = Run("facts");
  for (const char* relation : {"run", "profile", "system", "gpu", "step", "op", "op_type", "group_op",
                               "kernel_name", "copy_kind", "sync_site", "kernel"})
    EXPECT_THAT("\n" + list, HasSubstr(std::string("\n") + relation + " ")) << relation;
  EXPECT_THAT(Run("facts gpu"), HasSubstr("idle_share"));
  EXPECT_THAT(Run("facts dlprof_detail"), HasSubstr("\n  Op ID\n"));
  const std::string view = Run("facts cuda_api_sum");
  EXPECT_THAT(view, HasSubstr("cuda_api_sum: CUDA API calls by function"));
  EXPECT_THAT(view, HasSubstr("\n  Total Time (ns)\n"));
  EXPECT_THAT(view, HasSubstr("\nA view:\nWITH item AS"));
}

TEST_F(Commands, ProfileIsNeverTouched) {
  fs::permissions(export_, fs::perms::owner_read);
  const std::string before = test::ReadFile(export_);
  const auto files = [&] {
    return std::distance(fs::directory_iterator(scratch_.path()), fs::directory_iterator());
  };
  const auto count = files();
  Run("report %P");
  Run("query %P run");
  EXPECT_EQ(test::ReadFile(export_), before);
  EXPECT_EQ(files(), count);
}

TEST(Program, BuiltInRulesPassTheirTests) {
  const test::RunResult tests = test::Run(test::ProgramPath().string() + " rules test");
  EXPECT_EQ(tests.status, 0) << tests.out << tests.err;
  const test::RunResult check = test::Run(test::ProgramPath().string() + " rules check");
  EXPECT_EQ(check.status, 0) << check.err;
  EXPECT_EQ(check.err, "") << "every built-in rule has its tests";
}

// A headline shows the first sentence of the first recommendation alone: it names its object.
TEST(Program, BuiltInRulesBeginWithWordsThatStandAlone) {
  const std::regex first(R"re(\nrecommendation:\n  - "(.*)"\n)re");
  const std::regex pronoun(R"re((^|\}\})(?!If )[A-Z][a-z]+ (it|them|that|this|these|those)\b[^.]*)re");
  size_t rules = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::SourceDir() / "rules")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string text = test::ReadFile(entry.path());
    std::smatch recommendation;
    if (!std::regex_search(text, recommendation, first)) continue;
    ++rules;
    const std::string sentence = recommendation[1];
    std::smatch found;
    EXPECT_FALSE(std::regex_search(sentence, found, pronoun)) << entry.path() << ": " << found[0];
  }
  EXPECT_GT(rules, 150u);
}

TEST_F(Commands, ReportReadsATraceFromAPipe) {
  const fs::path trace = scratch_.path() / "trace.json";
  std::string text = "[";
  for (int i = 0; i < 10; ++i)
    text += fmt::format(
        R"({0}{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{1}","pid":10,"tid":11,"ts":{2},"dur":90}},)"
        R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":10,"tid":11,"ts":{3},"dur":5,"args":)"
        R"({{"correlation":{1}}}}},{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{4},"dur":40,"args":)"
        R"({{"device":0,"stream":7,"correlation":{1}}}}})",
        i == 0 ? "" : ",", i + 1, i * 100, i * 100 + 10, i * 100 + 20);
  test::WriteFile(trace, text + "]");
  const std::string program = test::ProgramPath().string();
  const test::RunResult piped =
      test::Run("'" + program + "' report - --format text < '" + trace.string() + "'");
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_THAT(piped.out, HasSubstr("Profiled Iterations           10"));
  const test::RunResult file = test::Run("'" + program + "' report '" + trace.string() + "' --format text");
  EXPECT_EQ(piped.out.substr(piped.out.find('\n')), file.out.substr(file.out.find('\n')));
  test::WriteFile(trace, text.substr(0, text.size() / 2));
  const test::RunResult cut = test::Run("'" + program + "' report '" + trace.string() + "' --format text");
  EXPECT_THAT(cut.out, HasSubstr("The profile is incomplete"));
  const test::RunResult database = test::Run("'" + program + "' report - < '" + export_.string() + "'");
  EXPECT_EQ(database.status, 3);
  EXPECT_THAT(database.err, HasSubstr("can only be read from a file"));
}

TEST_F(Commands, AProfileWithoutACommandIsReported) {
  EXPECT_EQ(Run("%P"), Run("report %P"));
  const test::RunResult mistyped = test::Run(test::ProgramPath().string() + " repotr " + export_.string());
  EXPECT_EQ(mistyped.status, 3);
  EXPECT_THAT(mistyped.err, HasSubstr("did you mean report"));
}

TEST_F(Commands, ColoursAreForTerminalsAndForThoseWhoAsk) {
  EXPECT_THAT(Run("report %P"), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(Run("report %P --color always"), HasSubstr("\x1b["));
  EXPECT_THAT(Run("report %P --color never"), Not(HasSubstr("\x1b[")));
}

}  // namespace
}  // namespace dladvisor
