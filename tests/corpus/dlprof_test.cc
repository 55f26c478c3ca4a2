// SPDX-License-Identifier: Apache-2.0
// The views under DLProf's names against what DLProf 1.8 wrote of the same export: its reports and its
// database. Where a figure differs, the list below says which and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "src/report/report.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/csv.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using Rows = std::vector<std::vector<std::string>>;

struct KnownDifference {
  const char *view, *column;
  size_t cells;
  const char* why;
};
constexpr KnownDifference kDifferences[] = {
    {"dlprof_iteration", "Input Shapes", 53,
     "DLProf letters the dimensions of conv2d and linear: <N:32, K:84> for our <32, 84>."},
    {"dlprof_iteration", "Output Shapes", 53, "DLProf infers them; its markers record inputs only."},
    {"dlprof_iteration", "Long Kernel Name", 3,
     "Of kernels of one short name in an op DLProf repeats the first one's long name; the export has "
     "fft2d_r2c_32x32 with three sets of template arguments in CONV2D_1."},
    {"dlprof_summary", "NSys Version", 1,
     "DLProf asked nsys, whose build (-1c7b5f7) the export does not record."},
    {"dlprof_summary", "IO Duration %", 1,
     "DLProf says 0.0 of a capture without operating-system calls; to us it is unknown."},
};

// Text, or a number in the shortest form that reads back.
std::string Cell(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return std::to_string(*real);
  return "";
}

bool Same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  char *end_a = nullptr, *end_b = nullptr;
  const double x = std::strtod(a.c_str(), &end_a), y = std::strtod(b.c_str(), &end_b);
  return !a.empty() && !b.empty() && *end_a == 0 && *end_b == 0 &&
         std::abs(x - y) < 1e-6 * std::max(1.0, std::abs(x));
}

// A profile with what rules found in it.
struct Loaded {
  explicit Loaded(const fs::path& path) : profile(LoadProfile(path, {})), db(profile.OpenDatabase()) {
    static const KnowledgeBase knowledge = LoadRules({}, {});
    advice = Infer(knowledge, db);
  }
  Rows Query(const std::string& sql) const {
    Rows rows;
    for (const auto& row : db.Query(sql).rows) {
      rows.emplace_back();
      for (const Value& value : row) rows.back().push_back(Cell(value));
    }
    return rows;
  }
  std::vector<std::string> Columns(const std::string& view) const {
    std::vector<std::string> columns;
    for (const ResultColumn& column : db.Query("SELECT * FROM " + view).columns)
      columns.push_back(column.name);
    return columns;
  }

  Profile profile;
  Database db;
  Advice advice;
};

class DlprofReports : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = test::DataDir() / "dlprof" / "MohanadOdema_DLProf";
    const fs::path profile = folder_ / "nsys_profile--981830d9.sqlite";
    if (fs::exists(profile)) loaded_ = std::make_unique<Loaded>(profile);
  }
  static void TearDownTestSuite() { loaded_.reset(); }
  void SetUp() override {
    if (!loaded_) GTEST_SKIP() << "no " << folder_ / "nsys_profile--981830d9.sqlite";
  }

  inline static fs::path folder_;
  inline static std::unique_ptr<Loaded> loaded_;
};

// Every cell of every row of every report, in DLProf's order, but for those in the list.
TEST_F(DlprofReports, SameCellsAsTheReports) {
  const std::vector<std::pair<std::string, std::string>> reports = {
      {"dlprof_detail", "dlprof_detailed--a26bdfff.csv"},
      {"dlprof_op_type", "dlprof_op_type--7253f846.csv"},
      {"dlprof_group_op", "dlprof_group_op--ba578a62.csv"},
      {"dlprof_kernel", "dlprof_kernel--aee8ff92.csv"},
      {"dlprof_iteration", "dlprof_iteration--f14bd655.csv"},
      {"dlprof_tensor_core", "dlprof_tensor_core--e1615f2f.csv"}};
  size_t cells = 0, equal = 0;
  for (const auto& [view, file] : reports) {
    SCOPED_TRACE(view);
    Rows theirs = test::ReadCsv(folder_ / file);
    std::erase_if(theirs, [](const auto& row) { return row.size() < 3; });  // the title
    const std::vector<std::string> columns = loaded_->Columns(view);
    ASSERT_EQ(columns, theirs.at(0));
    theirs.erase(theirs.begin());
    const Rows ours = loaded_->Query("SELECT * FROM " + view);
    ASSERT_EQ(ours.size(), theirs.size());
    std::map<std::string, size_t> differ;
    for (size_t row = 0; row < ours.size(); ++row)
      for (size_t c = 0; c < columns.size(); ++c) {
        ++cells;
        if (Same(ours[row][c], theirs[row][c]))
          ++equal;
        else
          ++differ[columns[c]];
      }
    std::map<std::string, size_t> expected;
    for (const KnownDifference& d : kDifferences)
      if (d.view == view) expected[d.column] = d.cells;
    EXPECT_EQ(differ, expected);
  }
  EXPECT_EQ(cells, 4095u);
  EXPECT_EQ(equal, 4095u - 53 - 53 - 3);
}

TEST_F(DlprofReports, SameSummary) {
  std::map<std::string, std::vector<std::string>> ours;  // by name: value, GPU, CPU, number
  for (const auto& row : loaded_->Query("SELECT \"Name\", \"Value\", \"GPU Time (ns)\", \"CPU Time (ns)\", "
                                        "coalesce(\"# Ops\", \"# Kernels\") FROM dlprof_summary"))
    ours[row[0]] = {row[1], row[2], row[3], row[4]};
  std::set<std::string> differ, missing;
  for (const auto& row : test::ReadCsv(folder_ / "dlprof_summary--0e3d662c.csv")) {
    if (row.size() < 2 || row[0].empty()) continue;
    const auto found = ours.find(row[0]);
    if (found == ours.end()) {
      missing.insert(row[0]);
      continue;
    }
    for (size_t c = 1; c < row.size(); ++c)
      if (!Same(row[c], found->second[row.size() == 2 ? 0 : c])) differ.insert(row[0]);
  }
  std::set<std::string> expected;
  for (const KnownDifference& d : kDifferences)
    if (d.view == std::string("dlprof_summary")) expected.insert(d.column);
  EXPECT_EQ(differ, expected);
  EXPECT_EQ(missing, (std::set<std::string>{"DLProf Version", "DLProf Build"}));
}

// The four lines of feedback. DLProf's share of kernels is of the whole capture, 0.0 %; without steps ours is
// of the time from the first GPU operation to the last, so that 2.8 s of imports and set-up do not hide it.
// The view dlprof_summary has DLProf's.
// DLProf advises its own data loader wherever that is not in use; we only where
// loading takes time (rule data-loading), which is 0 % here.
// The capture is of one cold call: we count as DLProf does, and say that instead.
TEST_F(DlprofReports, SameFeedback) {
  std::map<std::string, std::string> problems;
  size_t fired = 0;
  for (const Finding& finding : loaded_->advice.findings) {
    if (finding.outcome == Outcome::kFired) ++fired;
    if (finding.outcome == Outcome::kFired || finding.suppressed_by == "one-shot-program")
      problems[finding.rule] = finding.problem;
  }
  const Rows theirs = test::ReadCsv(folder_ / "dlprof_expert_systems--d0094ebd.csv");
  ASSERT_EQ(theirs.at(1), (std::vector<std::string>{"Problem", "Recommendation"}));
  EXPECT_EQ(loaded_->Columns("dlprof_expert_systems"), theirs[1]);
  const auto both_say = [&](const char* rule, const std::string& ours, const std::string& dlprofs) {
    EXPECT_TRUE(problems[rule].starts_with(ours)) << problems[rule];
    EXPECT_TRUE(std::any_of(theirs.begin(), theirs.end(), [&](const auto& row) {
      return row[0].starts_with(dlprofs);
    })) << dlprofs;
  };
  // We count the same ops, and advise nothing for a GPU that works for a fifteenth of the time.
  EXPECT_EQ(loaded_->Query("SELECT eligible_ops, eligible_half_ops FROM run"), (Rows{{"5", "0"}}));
  EXPECT_TRUE(theirs.at(2).at(0).starts_with("5 ops were eligible to use tensor cores but none are using"));
  both_say("gpu-underutilized", "The GPU is underutilized: only 6.6 %",
           "The GPU is underutilized: Only 0.0%");
  both_say("one-shot-program", "The GPU's work is over in 8.77 ms, after a start of 2.24 s: a test",
           "Unable to split profile into training iterations");
  EXPECT_FALSE(problems.contains("data-loading"));
  EXPECT_EQ(loaded_->Query("SELECT * FROM dlprof_expert_systems").size(), fired);
}

// What DLProf's database holds and its reports do not print.
TEST_F(DlprofReports, SameAsTheDatabase) {
  const fs::path path = folder_ / "dlprof_dldb_7--45eba6a2.sqlite";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  test::Sqlite dldb(path, SQLITE_OPEN_READONLY);
  const auto compare = [&](const char* ours_sql, const char* theirs_sql, size_t rows) {
    const Rows ours = loaded_->Query(ours_sql), theirs = dldb.Query(theirs_sql);
    ASSERT_EQ(ours.size(), rows) << ours_sql;
    ASSERT_EQ(theirs.size(), rows) << theirs_sql;
    for (size_t row = 0; row < rows; ++row)
      for (size_t c = 0; c < ours[row].size(); ++c)
        EXPECT_TRUE(Same(ours[row][c], theirs[row][c]))
            << ours[row][0] << ": " << ours[row][c] << ", DLProf " << theirs[row][c];
  };
  // Calls of ops, with the time within CUDA calls.
  compare(
      "SELECT op_id, op, op_type, direction, cpu_ns, api_ns, gpu_ns, overhead_ns, idle_ns, kernels, "
      "tensor_core_eligible, uses_tensor_cores, data_type, stack FROM op_call ORDER BY op_id",
      "SELECT n.op_node_id, n.op_node_name, n.op_node_type, n.direction, c.sum, a.sum, g.sum, o.sum, i.sum, "
      "n.kernel_calls, n.tc_eligible, n.using_tc, n.data_type, n.stack_trace FROM view_op_nodes AS n JOIN "
      "read_only_ops AS r ON r.op_id = n.op_node_id JOIN op_nodes AS p ON p.read_only_ops_id = r.id JOIN "
      "node_time_metrics AS t ON t.id = p.node_time_metrics_id JOIN metric AS c ON c.id = "
      "t.cpu_time_metric_id JOIN metric AS a ON a.id = t.api_time_metric_id JOIN metric AS g ON g.id = "
      "t.gpu_time_metric_id JOIN metric AS o ON o.id = t.cpu_overhead_time_metric_id JOIN metric AS i ON "
      "i.id = t.gpu_idle_time_metric_id ORDER BY 1",
      36);
  // Kernels, copies and sets, each with its op.
  compare(
      "SELECT w.start_ns, duration_ns, api_start_ns, w.api_ns, op_id, name, grid_x, grid_y, grid_z, "
      "block_x, block_y, block_z FROM op_work AS w JOIN op_call AS c ON c.op_call = w.op_call WHERE kind = "
      "'kernel' ORDER BY w.start_ns",
      "SELECT gpu_start, gpu_stop - gpu_start, api_start, api_stop - api_start, o.op_id, d.string, g.x, g.y, "
      "g.z, b.x, b.y, b.z FROM read_only_kernels AS k JOIN read_only_ops AS o ON o.id = k.read_only_ops_id "
      "JOIN dictionary AS d ON d.id = k.name_id JOIN read_only_grid_block AS g ON g.id = k.grid_id JOIN "
      "read_only_grid_block AS b ON b.id = k.block_id ORDER BY 1",
      59);
  compare(
      "SELECT w.start_ns, duration_ns, api_start_ns, w.api_ns, op_id, api FROM op_work AS w JOIN op_call "
      "AS c ON c.op_call = w.op_call WHERE kind <> 'kernel' ORDER BY w.start_ns",
      "SELECT gpu_start, gpu_stop - gpu_start, api_start, api_stop - api_start, o.op_id, d.string FROM "
      "(SELECT read_only_ops_id, name_id, api_start, api_stop, gpu_start, gpu_stop FROM read_only_memcpys "
      "UNION ALL SELECT read_only_ops_id, name_id, api_start, api_stop, gpu_start, gpu_stop FROM "
      "read_only_memsets) AS m JOIN read_only_ops AS o ON o.id = m.read_only_ops_id JOIN dictionary AS d ON "
      "d.id = m.name_id ORDER BY 1",
      17);
  // Group ops, where DLProf lists ops, too.
  compare("SELECT op_group, calls, eligible_ops, tensor_core_ops, cpu_ns, busy_ns FROM group_op ORDER BY 1",
          "SELECT row_full_name, num_op_instances, num_supported_leaf_ops, "
          "num_tc_leaf_ops, cpu_time_sum, gpu_time_sum FROM view_group_ops WHERE row_type <> 2 AND "
          "row_full_name <> '_CompleteModel_' ORDER BY 1",
          47);
  // The breakdown. One range is of no op: {"model_config": ...}, 2896 ns, which is host work to us.
  compare(
      "SELECT ns - (category = 'CPU') * 2896 FROM resource_usage WHERE category IN ('Using Tensor Cores', "
      "'Not Using Tensor Cores', 'Memory', 'Dataloader', 'CPU') ORDER BY position",
      "SELECT tc_duration FROM view_iterations_profiled UNION ALL SELECT non_tc_duration FROM "
      "view_iterations_profiled UNION ALL SELECT memory_duration FROM view_iterations_profiled UNION ALL "
      "SELECT dataloader_duration FROM view_iterations_profiled UNION ALL SELECT cpu_duration FROM "
      "view_iterations_profiled",
      5);
}

// Every DLProf database gives a report, and the facts that it holds are those of its export.
class DlprofDatabase : public testing::TestWithParam<fs::path> {};

std::vector<fs::path> Databases() {
  std::vector<fs::path> files;
  for (const fs::path& path : test::DataFiles("dlprof", ".sqlite"))
    if (path.filename().string().find("dldb") != std::string::npos) files.push_back(path);
  return files;
}

TEST_P(DlprofDatabase, GivesAReport) {
  const Loaded loaded(GetParam());
  EXPECT_EQ(loaded.profile.trace->format, "dlprof");
  for (const Finding& finding : loaded.advice.findings)
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;
  const ReportModel model = BuildReport(loaded.db, loaded.advice, {});
  for (const ReportFormat format : {ReportFormat::kHtml, ReportFormat::kMarkdown, ReportFormat::kText})
    EXPECT_GT(RenderReport(model, format).size(), 500u);
  test::Sqlite dldb(GetParam(), SQLITE_OPEN_READONLY);
  EXPECT_EQ(loaded.Query("SELECT count(*) FROM kernel"),
            dldb.Query("SELECT count(*) FROM read_only_kernels"));
  EXPECT_EQ(loaded.Query("SELECT op_id, op, cpu_ns FROM op_call ORDER BY op_id"),
            dldb.Query("SELECT op_id, op_name, cpu_stop - cpu_start FROM read_only_op_instances AS i JOIN "
                       "read_only_ops AS o ON o.id = i.read_only_ops_id ORDER BY op_id"));
  EXPECT_EQ(
      loaded.Query("SELECT sum(ns) FROM (SELECT duration_ns AS ns FROM kernel UNION ALL SELECT duration_ns "
                   "FROM memcpy UNION ALL SELECT duration_ns FROM memset)"),
      dldb.Query("SELECT sum(ns) FROM (SELECT gpu_stop - gpu_start AS ns FROM read_only_kernels UNION ALL "
                 "SELECT gpu_stop - gpu_start FROM read_only_memcpys UNION ALL SELECT gpu_stop - gpu_start "
                 "FROM read_only_memsets)"));
}

std::string ExportName(const testing::TestParamInfo<fs::path>& info) {
  std::string name = info.param.stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Dlprof, DlprofDatabase, testing::ValuesIn(Databases()), ExportName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DlprofDatabase);

// A database and its export give the same ops and kernels; long names apart, which DLProf confuses (above).
TEST_F(DlprofReports, DatabaseGivesTheSameFacts) {
  const fs::path path = folder_ / "dlprof_dldb_7--45eba6a2.sqlite";
  if (!fs::exists(path)) GTEST_SKIP() << "no " << path;
  const Loaded other(path);
  for (const char* sql :
       {"SELECT * FROM op", "SELECT * FROM op_type", "SELECT * FROM group_op", "SELECT * FROM api_name",
        "SELECT * FROM launch", "SELECT * FROM dlprof_detail", "SELECT * FROM dlprof_op_type",
        "SELECT * FROM dlprof_group_op", "SELECT * FROM dlprof_kernel", "SELECT * FROM dlprof_tensor_core",
        "SELECT short_name, sum(instances), sum(total_ns), min(min_ns), max(max_ns) FROM kernel_name GROUP "
        "BY 1"}) {
    const Rows ours = loaded_->Query(sql);
    EXPECT_FALSE(ours.empty()) << sql;
    EXPECT_EQ(other.Query(sql), ours) << sql;
  }
}

}  // namespace
}  // namespace dladvisor
