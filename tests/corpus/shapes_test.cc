// SPDX-License-Identifier: Apache-2.0
// The shapes of profiles that ./dev bench measures, small: each row is read once, work on texts goes with how
// many a program has and not with how often it says them, memory with the number of events, and the
// statements of rules and reports with the facts.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "engine/inference/inference.h"
#include "src/analysis/analysis.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/efficiency/op_efficiency.h"
#include "src/analysis/efficiency/operator_work.h"
#include "src/analysis/families.h"
#include "src/cli/session.h"
#include "src/importers/importers.h"
#include "src/report/report.h"
#include "src/trace/check_trace.h"
#include "src/trace/event_tables.h"
#include "tests/bench/chrome_trace.h"
#include "tests/bench/export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

constexpr int64_t kKernels = 8'000, kEvents = 40'000, kLines = 20'000;
constexpr int64_t kMostSteps = 20, kManySteps = 1000;
constexpr int64_t kMostStepsPerRow = 50, kMostStepsOfAnyStatement = 1'000'000;
constexpr size_t kMostBytesPerEvent = 80;  // of columns
// Of all relations of a digest, where each kernel has a name and each module a text of its own.
constexpr size_t kMostCellsPerEvent = 24;
// Layers times depth, operators, names of steps, and what is there once.
constexpr size_t kMostTexts = 24 * 32 + 100;

int64_t CountRows(const std::filesystem::path& path, const std::string& table) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  int64_t count = -1;
  if (sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK &&
      sqlite3_prepare_v2(db, ("SELECT count(*) FROM " + table).c_str(), -1, &statement, nullptr) ==
          SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    count = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return count;
}

size_t EventsOf(const Trace& trace) {
  size_t events = 0;
  Trace::ForEachTable([&](auto table) { events += (trace.*table).size(); });
  return events;
}

size_t BytesOfColumns(const Trace& trace) {
  size_t bytes = 0;
  Trace::ForEachTable([&](auto table) {
    VisitColumns(trace.*table, [&]<class Column>(const Column& column, const EventColumn&) {
      if constexpr (std::is_base_of_v<IntColumn, Column>)
        bytes += column.size() * column.width();
      else
        bytes += column.size() * sizeof(column[0]);
    });
  });
  return bytes;
}

void CheckWork(const Trace& trace) {
  EXPECT_EQ(CheckTrace(trace), std::vector<std::string>());
  const size_t events = EventsOf(trace);
  EXPECT_LE(BytesOfColumns(trace), kMostBytesPerEvent * events);
  EXPECT_LE(RangeTexts(trace, kMostTexts).size(), kMostTexts);
  size_t cells = 0;
  for (const Table& table : Analyze(trace, {}).relations)
    cells += table.rows() * table.schema().columns.size();
  EXPECT_LE(cells, kMostCellsPerEvent * events);
}

TEST(Shapes, ExportsAreReadOnceAndWorkGoesWithTheirEvents) {
  const test::ScratchDir dir;
  for (ExportShape shape : ExportShapes()) {
    SCOPED_TRACE(std::string(shape.name));
    shape.steps = std::min(shape.steps, kMostSteps);
    const auto path = dir.path() / "shape.sqlite";
    WriteExport(path, kKernels, shape);
    const Trace trace = ReadProfile(path);
    EXPECT_GE(trace.kernels.size(), static_cast<size_t>(kKernels));
    for (const std::string table :
         {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "OSRT_API"})
      EXPECT_EQ(trace.health.rows_read.at(table), CountRows(path, table)) << table;
    CheckWork(trace);
  }
}

TEST(Shapes, WorkOnTracesGoesWithTheirEvents) {
  const test::ScratchDir dir;
  for (const TraceShape& shape : TraceShapes()) {
    SCOPED_TRACE(std::string(shape.name));
    const auto path = dir.path() / "shape.json";
    WriteChromeTrace(path, kEvents, shape);
    const Trace trace = ReadProfile(path);
    EXPECT_GE(EventsOf(trace), static_cast<size_t>(kEvents) / 2);
    CheckWork(trace);
  }
}

// Rules and reports over a profile, of which no statement may take more of SQLite's steps than go with the
// rows of all relations.
void CheckStatements(const std::filesystem::path& path) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  const Profile profile = LoadProfile(path, {});
  size_t rows = 0;
  for (const Table& table : profile.digest.relations) rows += table.rows();
  Database database = profile.OpenDatabase();
  database.SetStepBudget(kMostStepsOfAnyStatement + kMostStepsPerRow * static_cast<int64_t>(rows));
  const Advice advice = Infer(knowledge, database);
  for (const Finding& finding : advice.findings)
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;
  const ReportModel model = BuildReport(database, advice, {});
  for (const ReportTable& table : model.tables)
    EXPECT_EQ(table.note.find("was stopped"), std::string::npos) << table.id << ": " << table.note;
  if (path.extension() == ".json") return;
  // The tables of other tools are large, and are computed for who asks for them.
  for (const Family* family : AllFamilies())
    EXPECT_FALSE(family->on_demand && profile.analysed->values().Has(*family->kind)) << family->schema->name;
}

TEST(Shapes, StatementsOverExportsGoWithTheFacts) {
  const test::ScratchDir dir;
  for (ExportShape shape : ExportShapes()) {
    SCOPED_TRACE(std::string(shape.name));
    shape.steps = std::min(shape.steps, kManySteps);
    const auto path = dir.path() / "shape.sqlite";
    WriteExport(path, kKernels, shape);
    CheckStatements(path);
  }
}

TEST(Shapes, StatementsOverTracesGoWithTheFacts) {
  const test::ScratchDir dir;
  for (const TraceShape& shape : TraceShapes()) {
    SCOPED_TRACE(std::string(shape.name));
    const auto path = dir.path() / "shape.json";
    WriteChromeTrace(path, kEvents, shape);
    CheckStatements(path);
  }
}

// A relation that finds nothing looks at each row without a step of SQLite's: the limit is of time.
TEST(Shapes, RulesOverLogsGoWithTheirLines) {
  const test::ScratchDir dir;
  const auto path = dir.path() / "steps.log";
  std::string lines;
  for (int64_t i = 1; i <= kLines; ++i) lines += "step " + std::to_string(i) + " loss 2.0 lr 1e-4\n";
  test::WriteFile(path, lines);
  const Profile profile = LoadProfile(path, {});
  Database database = profile.OpenDatabase();
  for (const Finding& finding : Infer(LoadRules({}, {}), database).findings)
    EXPECT_NE(finding.outcome, Outcome::kFailed) << finding.rule << ": " << finding.error;
}

// Of chains of operators and of operators by shape, as many as are listed are kept, however many there are.
TEST(Shapes, OperatorsOfManyShapesAreListedUpToALimit) {
  const test::ScratchDir dir;
  const auto path = dir.path() / "shape.json";
  TraceShape shape;
  shape.batches = 5'000;
  WriteChromeTrace(path, 8 * kEvents, shape);
  const Trace trace = ReadProfile(path);
  const AnalysedTrace analysed(trace, {});
  EXPECT_GT(analysed.Get<OperatorWork>().operators.size(), 10'000u);
  const size_t rows = analysed.Get<OpEfficiencies>().rows->rows();
  EXPECT_GT(rows, 1'000u);
  EXPECT_LE(rows, 1'010u) << "the rest of each operator is one row, or two";
}

// Where no shape is recorded nothing is kept of each call.
TEST(Shapes, OperatorsWithoutShapesKeepNothingOfTheirCalls) {
  const test::ScratchDir dir;
  const auto path = dir.path() / "shape.sqlite";
  WriteExport(path, kKernels);
  const Trace trace = ReadProfile(path);
  const AnalysedTrace analysed(trace, {});
  Ns kernel_ns = 0;
  for (const OperatorWork::OfGpu& gpu : analysed.Get<OperatorWork>().gpus) {
    EXPECT_TRUE(gpu.calls.empty());
    kernel_ns += gpu.kernel_ns;
  }
  EXPECT_GT(kernel_ns, 0);
}

}  // namespace
}  // namespace dladvisor
