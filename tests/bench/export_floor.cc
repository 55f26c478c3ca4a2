// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "src/trace/parallel.h"
#include "tests/bench/floor.h"
#include "tests/bench/floor_work.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

struct Close {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};
using Connection = std::unique_ptr<sqlite3, Close>;

Connection Open(const fs::path& path) {
  sqlite3* db = nullptr;
  const int status = sqlite3_open_v2(("file:" + path.string() + "?mode=ro&immutable=1").c_str(), &db,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection connection(db);
  if (status != SQLITE_OK) throw Error(path.string(), "cannot be opened");
  return connection;
}

// Calls visit(statement) at each row.
template <class Visit>
void ForEachRow(sqlite3* db, const std::string& sql, Visit visit) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    throw Error("bench", sqlite3_errmsg(db));
  while (sqlite3_step(statement) == SQLITE_ROW) visit(statement);
  sqlite3_finalize(statement);
}

// A table and the columns of it that the importer reads, the ones that the floor uses first.
struct ReadColumns {
  std::string_view name, columns;
};
constexpr ReadColumns kKernels = {
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "start, end, globalPid, streamId, correlationId, deviceId, graphNodeId, demangledName, shortName, gridX, "
    "gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory"};
constexpr ReadColumns kCalls = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                "start, end, globalTid, globalTid, correlationId, nameId, returnValue"};
constexpr ReadColumns kRanges = {
    "NVTX_EVENTS", "start, end, globalTid, globalTid, text, textId, eventType, domainId, endGlobalTid"};

bool IsStep(std::string_view text) {
  return text.starts_with("iteration ") || text.starts_with("ProfilerStep#");
}

void ReadPart(const fs::path& path, const ReadColumns& table, int64_t first, int64_t last,
              FloorProcesses& into) {
  const Connection db = Open(path);
  const bool is_range = &table == &kRanges;
  int64_t pid = -1;
  FloorEvents* events = nullptr;
  ForEachRow(
      db.get(),
      fmt::format("SELECT {} FROM {} WHERE rowid BETWEEN {} AND {}", table.columns, table.name, first, last),
      [&](sqlite3_stmt* row) {
        const auto cell = [&](int c) { return sqlite3_column_int64(row, c); };
        const int64_t of = cell(2) >> 24;
        if (!events || of != pid) {
          FloorProcess& process = into[pid = of];
          events = &table == &kKernels ? &process.kernels : is_range ? &process.ranges : &process.calls;
        }
        int64_t id = 0;
        if (is_range) {
          const char* text = reinterpret_cast<const char*>(sqlite3_column_text(row, 4));
          id = text && IsStep({text, static_cast<size_t>(sqlite3_column_bytes(row, 4))}) ? 1 : 0;
        } else {
          id = cell(4);
        }
        int64_t rest = 0;
        for (int c = 5; c < sqlite3_column_count(row); ++c) rest ^= cell(c);
        events->Add(cell(0), cell(1) + (rest == 42 ? 1 : 0), cell(3), id);
      });
}

}  // namespace

FloorResult ExportFloor(const fs::path& path) {
  constexpr int64_t kRows = 500'000;
  struct Job {
    const ReadColumns* table;
    int64_t first;
  };
  std::vector<Job> jobs;
  {
    const Connection db = Open(path);
    for (const ReadColumns* table : {&kKernels, &kCalls, &kRanges})
      ForEachRow(db.get(), fmt::format("SELECT max(rowid) FROM {}", table->name), [&](sqlite3_stmt* row) {
        for (int64_t first = 1; first <= sqlite3_column_int64(row, 0); first += kRows)
          jobs.push_back({table, first});
      });
  }
  std::vector<FloorProcesses> parts(jobs.size());
  ParallelFor(jobs.size(), [&](size_t i) {
    ReadPart(path, *jobs[i].table, jobs[i].first, jobs[i].first + kRows - 1, parts[i]);
  });
  return WorkOn(parts);
}

}  // namespace dladvisor
