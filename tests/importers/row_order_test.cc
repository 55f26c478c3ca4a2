// SPDX-License-Identifier: Apache-2.0
// Exports promise no order of their rows: the Trace does not depend on it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/importers/importers.h"
#include "src/trace/event_tables.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;
using test::MakeDatabase;
using test::Pid;
using test::Tid;

std::string Rows(int count, const std::string& select) {
  return fmt::format(
      "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < {}) {} FROM r;", count,
      select);
}

// Two processes with two GPUs, whose rows start together by the dozen and differ in one column or another.
std::string Export() {
  const std::string process = "(281474976710656 + ((900 + n % 2) << 24))", thread = process + " + n % 3",
                    start = "(1000 + n / 12 * 10)";
  return "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);" +
         Rows(20, "INSERT INTO StringIds SELECT n, 'name ' || (n * 7 % 20)") +
         "CREATE TABLE ThreadNames (nameId, priority, globalTid);"
         "INSERT INTO ThreadNames VALUES (3, 5, " +
         Tid(900, 0) + "), (2, 5, " + Tid(900, 0) + "), (4, 1, " + Tid(900, 0) + "), (1, 1, " + Tid(901, 1) +
         ");"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId, globalPid, "
         "demangledName, shortName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread);" +
         Rows(240, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT " + start + ", " + start +
                       " + 5 + n % 2, n % 2, n % 3, n, " + process +
                       ", 1 + n % 5, 1 + n % 4, 1 + n % 3, 1, 1, 32, 1, 1, n % 4") +
         "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, streamId, correlationId, globalPid, "
         "bytes, copyKind, srcKind, dstKind);" +
         Rows(120, "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY SELECT " + start + ", " + start +
                       " + 5, n % 2, 7, 1000 + n, " + process + ", 100 + n % 4, 1 + n % 2, n % 2, 2") +
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, "
         "returnValue);" +
         Rows(240, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT " + start + " - 8, " + start +
                       " - 8 + n % 4, " + thread + ", n, 1 + n % 5, 0") +
         "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, textId, domainId, globalTid);" +
         Rows(240, "INSERT INTO NVTX_EVENTS SELECT " + start + " - 9, iif(n % 50 = 7, NULL, " + start +
                       " + n % 7), 59, iif(n % 4 = 0, 'text ' || n % 6, NULL), 1 + n % 9, n % 3, " + thread) +
         "CREATE TABLE OSRT_API (start, end, globalTid, nameId, callchainId);" +
         Rows(60,
              "INSERT INTO OSRT_API SELECT " + start + ", " + start + " + 2, " + thread + ", 3, 1 + n % 4") +
         "CREATE TABLE OSRT_CALLCHAINS (id, symbol, stackDepth);" +
         Rows(12, "INSERT INTO OSRT_CALLCHAINS SELECT 1 + n % 4, 1 + n, n / 4") +
         "CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid);" +
         Rows(40, "INSERT INTO SCHED_EVENTS SELECT 1000 + n / 2 * 5, n % 2, n % 2, " + Tid(900, 0)) +
         "CREATE TABLE DIAGNOSTIC_EVENT (timestamp, severity, text);" +
         Rows(30, "INSERT INTO DIAGNOSTIC_EVENT SELECT n / 6, 1 + n % 3, 'message ' || n % 5");
}

void Shuffle(const fs::path& path, uint64_t seed) {
  test::Sqlite db(path);
  db.Run("BEGIN");
  for (const std::vector<std::string>& table :
       db.Query("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'StringIds'"))
    db.Run(
        fmt::format("CREATE TEMP TABLE rows AS SELECT * FROM main.{0} ORDER BY (rowid * {1}) % 7919, rowid;"
                    "DELETE FROM main.{0}; INSERT INTO main.{0} SELECT * FROM rows; DROP TABLE rows",
                    table[0], seed));
  db.Run("COMMIT");
}

template <class Table>
std::vector<std::string> TextOf(const Trace& trace, const Table& table) {
  std::vector<std::string> rows(table.size());
  VisitColumns(table, [&]<class Column>(const Column& column, const EventColumn& about) {
    for (size_t i = 0; i < column.size(); ++i) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column[0])>, uint32_t>) {
        const uint32_t index = column[i];
        if (about.kind == ColumnKind::kName || about.kind == ColumnKind::kDomain)
          rows[i] += std::string(trace.names.View(index));
        else if (about.kind == ColumnKind::kThread)
          rows[i] += fmt::format("{} {} {}", trace.processes[trace.threads[index].process].pid,
                                 trace.threads[index].tid, trace.threads[index].name);
        else if (about.kind == ColumnKind::kProcess)
          rows[i] += std::to_string(trace.processes[index].pid);
        else if (about.kind == ColumnKind::kDevice)
          rows[i] += std::to_string(trace.devices[index].ordinal);
        else if constexpr (requires { table.chains; })
          for (const NameId name : table.chains[index]) rows[i] += std::string(trace.names.View(name)) + "<";
      } else if (about.kind == ColumnKind::kShape) {
        rows[i] += fmt::format("{}", trace.kernels.shapes[static_cast<size_t>(column[i])].grid[0]);
      } else {
        rows[i] += std::to_string(static_cast<int64_t>(column[i]));
      }
      rows[i] += "|";
    }
  });
  return rows;
}

TEST(RowOrder, DoesNotMatter) {
  const test::ScratchDir dir;
  const Trace expected = ReadProfile(MakeDatabase(dir.path() / "whole.sqlite", Export()));
  EXPECT_EQ(expected.kernels.size(), 240u);
  EXPECT_GT(expected.cpu_runs.size(), 10u);
  for (const uint64_t seed : {3163, 4001, 6007}) {
    SCOPED_TRACE(seed);
    const fs::path path = MakeDatabase(dir.path() / fmt::format("{}.sqlite", seed), Export());
    Shuffle(path, seed);
    const Trace trace = ReadProfile(path);
    Trace::ForEachTable([&](auto table) {
      using Table = std::remove_cvref_t<decltype(trace.*table)>;
      SCOPED_TRACE(Table::kTable.name);
      EXPECT_EQ(TextOf(trace, trace.*table), TextOf(expected, expected.*table));
    });
    std::vector<std::string> messages, expected_messages;
    for (const Diagnostic& d : trace.health.diagnostics) messages.push_back(d.text);
    for (const Diagnostic& d : expected.health.diagnostics) expected_messages.push_back(d.text);
    EXPECT_EQ(messages, expected_messages);
    EXPECT_EQ(trace.health.rows_read, expected.health.rows_read);
  }
}

}  // namespace
}  // namespace dladvisor
