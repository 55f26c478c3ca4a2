// Every real Nsight Systems export beside the checkout gives a report. Without GPU work it is a report whose
// finding no-gpu-work names the capture flag. The ledger sums to the window exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "engine/inference.h"
#include "src/cli/session.h"
#include "src/report/report.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

std::vector<fs::path> Exports() {
  std::vector<fs::path> files = test::DataFiles("nsys_sqlite", ".sqlite");
  for (const fs::path& path : test::DataFiles("dlprof", ".sqlite"))
    if (path.filename().string().starts_with("nsys_profile")) files.push_back(path);
  return files;
}

class EveryExport : public testing::TestWithParam<fs::path> {};

TEST_P(EveryExport, GivesAReport) {
  static const KnowledgeBase knowledge = LoadRules({});
  const Profile profile = LoadProfile(GetParam(), {});
  const Database database = profile.OpenDatabase();
  const Advice advice = Infer(knowledge, database);
  ReportOptions options;
  options.title = GetParam().stem().string();
  const ReportModel model = BuildReport(database, advice, options);
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_GT(RenderReport(model, format).size(), 500u);
  const auto json = nlohmann::json::parse(RenderReport(model, ReportFormat::kJson));

  for (const Finding& finding : advice.findings)
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;

  const auto fired = [&](const std::string& rule) {
    return std::any_of(advice.findings.begin(), advice.findings.end(),
                       [&](const Finding& f) { return f.rule == rule && f.outcome == Outcome::kFired; });
  };
  const bool gpu_work = !profile.trace->kernels.start.empty() || !profile.trace->graph_launches.start.empty();
  EXPECT_EQ(fired("no-gpu-work"), !gpu_work);

  for (const auto& row :
       database
           .Query("SELECT l.rank, l.device, sum(l.ns), g.window_ns FROM time_ledger AS l JOIN gpu AS g "
                  "ON g.rank = l.rank AND g.device = l.device GROUP BY l.rank, l.device")
           .rows)
    EXPECT_EQ(row[2], row[3]) << "ledger of device " << std::get<int64_t>(row[1]);
  EXPECT_TRUE(database.Query("SELECT * FROM time_ledger WHERE ns < 0").rows.empty());
}

// A parameter as a legible part of a test's name.
std::string TestName(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name + "_" + std::to_string(info.index);
}

INSTANTIATE_TEST_SUITE_P(Nsys, EveryExport, testing::ValuesIn(Exports()), TestName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryExport);

TEST(Corpus, IsThere) {
  if (Exports().empty()) GTEST_SKIP() << "no real profiles: set DLADVISOR_DATA to their folder";
  EXPECT_GE(Exports().size(), 60u);
}

}  // namespace
}  // namespace dladvisor
