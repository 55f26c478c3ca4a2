// SPDX-License-Identifier: Apache-2.0
// The shapes of profiles that ./dev bench measures, small: each row is read once, work on texts goes with how
// many a program has and not with how often it says them, and memory with the number of events.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "src/analysis/analysis.h"
#include "src/analysis/context/range_text.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "src/trace/event_tables.h"
#include "tests/bench/chrome_trace.h"
#include "tests/bench/export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

constexpr int64_t kKernels = 8'000, kEvents = 40'000;
constexpr int64_t kMostSteps = 20;
constexpr size_t kMostBytesPerEvent = 80;  // of columns
constexpr size_t kMostCellsPerEvent =
    20;  // of all relations of a digest: where each kernel has a name of its own
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
      if constexpr (std::is_same_v<Column, IntColumn>)
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
  EXPECT_LE(RangeTexts(trace).size(), kMostTexts);
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

}  // namespace
}  // namespace dladvisor
