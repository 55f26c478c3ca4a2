// SPDX-License-Identifier: Apache-2.0
// Every real Nsight Systems export beside the checkout gives a report. Without GPU work it is a report whose
// finding no-gpu-work names the capture flag. The ledger sums to the window exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/inference/inference.h"
#include "src/analysis/context/api_kind.h"
#include "src/cli/session.h"
#include "src/hardware/table/built_in_hardware.h"
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

nlohmann::json JsonOf(const Value& value) {
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

// Each figure, table and piece of evidence carries the query that gives it.
void ExpectQueriesToGiveTheFigures(const nlohmann::json& report, const Database& database) {
  const auto rows_of = [&](const std::string& sql) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& row : database.Query(sql).rows) {
      rows.push_back(nlohmann::json::array());
      for (const Value& value : row) rows.back().push_back(JsonOf(value));
    }
    return rows;
  };
  for (const auto& figure : report["figures"]) {
    const auto rows = rows_of(figure["sql"]);
    EXPECT_EQ(rows.empty() ? nlohmann::json() : rows.at(0).at(0), figure["value"]) << figure["id"];
  }
  for (const auto& table : report["tables"]) {
    auto rows = rows_of(table["sql"]);
    EXPECT_EQ(rows.size(), table["total_rows"]) << table["id"];
    rows.get_ref<nlohmann::json::array_t&>().resize(std::min(rows.size(), table["rows"].size()));
    EXPECT_EQ(rows, table["rows"]) << table["id"];
  }
  std::vector<const nlohmann::json*> findings;
  for (const auto& finding : report["findings"]) findings.push_back(&finding);
  while (!findings.empty()) {
    const nlohmann::json& finding = *findings.back();
    findings.pop_back();
    for (const auto& child : finding["children"]) findings.push_back(&child);
    const std::string sql = finding["evidence_sql"];
    if (!sql.empty() && finding["outcome"] == "fired") {
      auto rows = rows_of(sql);
      rows.get_ref<nlohmann::json::array_t&>().resize(
          std::min(rows.size(), finding["evidence"]["rows"].size()));
      EXPECT_EQ(rows, finding["evidence"]["rows"]) << finding["rule"];
    }
  }
}

// What drivers state of GPUs is what the table of models holds; slices and laptop GPUs it does not have.
void ExpectModelsToBeAsRecorded(const Trace& trace) {
  for (const Device& device : trace.devices) {
    const GpuDescription gpu{device.name, device.sm_count, device.memory_bytes};
    const GpuModel* model = FindModel(BuiltInHardware(), gpu);
    if (model == nullptr) continue;
    EXPECT_EQ(device.sm_count.value_or(*model->multiprocessors), *model->multiprocessors) << device.name;
    EXPECT_TRUE(HasMemoryOf(*model, gpu)) << device.name;
    const double stated = model->recorded_memory_bytes_per_s.value_or(*model->memory_bytes_per_s);
    if (device.memory_bandwidth) {
      EXPECT_NEAR(static_cast<double>(*device.memory_bandwidth) / stated, 1, kPeakTolerance) << device.name;
    }
    if (device.clock_hz) {  // vendors of cards sell them with clocks above NVIDIA's
      EXPECT_NEAR(static_cast<double>(*device.clock_hz) / *model->boost_clock_hz, 1, 2 * kPeakTolerance)
          << device.name;
    }
  }
}

class EveryExport : public testing::TestWithParam<fs::path> {};

TEST_P(EveryExport, GivesAReport) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  const Profile profile = LoadProfile(GetParam(), {});
  Database database = profile.OpenDatabase();
  const Advice advice = Infer(knowledge, database);
  ReportOptions options;
  options.title = GetParam().stem().string();
  const ReportModel model = BuildReport(database, advice, options);
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_GT(RenderReport(model, format).size(), 500u);
  const auto json = nlohmann::json::parse(RenderReport(model, ReportFormat::kJson));

  ExpectQueriesToGiveTheFigures(json, database);

  ExpectModelsToBeAsRecorded(*profile.trace);

  for (const Finding& finding : advice.findings)
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;

  const auto fired = [&](const std::string& rule) {
    return std::any_of(advice.findings.begin(), advice.findings.end(),
                       [&](const Finding& f) { return f.rule == rule && f.outcome == Outcome::kFired; });
  };
  const bool gpu_work = !profile.trace->kernels.start.empty() || !profile.trace->graph_launches.start.empty();
  EXPECT_EQ(fired("no-gpu-work") || fired("gpu-trace-missing") || fired("calls-no-driver"), !gpu_work);

  for (const auto& row :
       database
           .Query("SELECT l.rank, l.device, sum(l.ns), g.window_ns FROM time_ledger AS l JOIN gpu AS g "
                  "ON g.rank = l.rank AND g.device = l.device GROUP BY l.rank, l.device")
           .rows)
    EXPECT_EQ(row[2], row[3]) << "ledger of device " << std::get<int64_t>(row[1]);
  EXPECT_TRUE(database.Query("SELECT * FROM time_ledger WHERE ns < 0").rows.empty());
}

// A table of the export as plain SQL gives it, name to (rows, ns); empty where the table is missing.
std::map<std::string, std::pair<int64_t, int64_t>> PlainSql(const fs::path& path, const std::string& sql) {
  std::map<std::string, std::pair<int64_t, int64_t>> totals;
  sqlite3* db = nullptr;
  sqlite3_open_v2(("file:" + path.string() + "?immutable=1").c_str(), &db,
                  SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK)
    while (sqlite3_step(statement) == SQLITE_ROW) {
      const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
      totals[name ? name : ""] = {sqlite3_column_int64(statement, 1), sqlite3_column_int64(statement, 2)};
    }
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return totals;
}

std::map<std::string, std::pair<int64_t, int64_t>> Facts(const Database& database, const std::string& sql) {
  std::map<std::string, std::pair<int64_t, int64_t>> totals;
  for (const auto& row : database.Query(sql).rows)
    totals[std::get<std::string>(row[0])] = {std::get<int64_t>(row[1]), std::get<int64_t>(row[2])};
  return totals;
}

TEST_P(EveryExport, TotalsAgreeWithPlainSql) {
  const Profile profile = LoadProfile(GetParam(), {});
  Database database = profile.OpenDatabase();
  EXPECT_EQ(Facts(database, "SELECT kernel, sum(instances), sum(total_ns) FROM kernel_name GROUP BY kernel"),
            PlainSql(GetParam(),
                     "SELECT s.value, count(*), sum(k.end - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL AS k "
                     "JOIN StringIds AS s "
                     "ON s.id = k.demangledName GROUP BY 1"));
  EXPECT_EQ(
      Facts(database,
            "SELECT source || ' to ' || destination, sum(copies), sum(total_ns) FROM copy_kind GROUP BY 1"),
      PlainSql(GetParam(),
               "WITH kind(id, name) AS (VALUES (0, 'pageable'), (1, 'pinned'), (2, 'device'), (3, 'array'), "
               "(4, 'managed'), (5, 'managed'), "
               "(6, 'managed')) SELECT coalesce(s.name, 'unknown') || ' to ' || coalesce(d.name, 'unknown'), "
               "count(*), sum(m.end - m.start) "
               "FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m LEFT JOIN kind AS s ON s.id = m.srcKind LEFT JOIN kind "
               "AS d ON d.id = m.dstKind GROUP BY 1"));
  // Version suffixes are cut in the facts; _v and digits end every name that has one.
  std::map<std::string, std::pair<int64_t, int64_t>> calls;
  for (const auto& [name, total] :
       PlainSql(GetParam(),
                "SELECT s.value, count(*), sum(r.end - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r "
                "JOIN StringIds AS s ON s.id = r.nameId GROUP BY 1")) {
    auto& sum = calls[std::string(ApiBaseName(name))];
    sum.first += total.first;
    sum.second += total.second;
  }
  EXPECT_EQ(Facts(database, "SELECT name, sum(calls), sum(total_ns) FROM api_name GROUP BY name"), calls);
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
