// SPDX-License-Identifier: Apache-2.0
// Exports whose tables are large enough to be read in parts, with what makes parts depend on each other.
#pragma once

#include <filesystem>
#include <string>

#include "tests/importers/sqlite_file.h"

namespace dladvisor::test {

// The same rows, as tables that can be split by rowid or as tables without rowids, which cannot.
inline std::filesystem::path MakeLargeExport(const std::filesystem::path& path, bool with_rowids) {
  const std::string end = with_rowids ? ");" : ") WITHOUT ROWID;";
  const auto rows = [](int count, const std::string& select) {
    return "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < " +
           std::to_string(count) + ") " + select + " FROM r;";
  };
  // Two processes, one after the other; some rows out of order or unusable; names, threads, devices and
  // domains that appear late; durations whose sum does not fit.
  const std::string process = "(281474976710656 + ((900 + n / 70000) << 24))",
                    time = "(n % 70000 * 10 + CASE WHEN n % 1000 = 0 THEN -50 ELSE 0 END)";
  return MakeDatabase(
      path,
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);" +
          rows(50, "INSERT INTO StringIds SELECT n, 'name ' || n") +
          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (n INTEGER PRIMARY KEY, start, end, deviceId, streamId, "
          "correlationId, globalPid, demangledName, shortName, gridX, gridY, blockX, blockZ, "
          "registersPerThread, staticSharedMemory, dynamicSharedMemory, graphNodeId" +
          end +
          rows(
              120'000,
              "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT n, " + time + ", " + time +
                  " + n % 7 - (n % 5000 = 3) * 9, CASE WHEN n % 40000 = 0 THEN NULL ELSE n / 50000 "
                  "END, n % 3, n, " +
                  process +
                  ", 1 + n / 3000, CASE WHEN n > 90000 THEN 'text ' || (n % 5) ELSE 60 "
                  "END, CASE WHEN n = 100000 THEN 1 << 20 ELSE n % 100 END, 1 + n / 50000, 32 * (1 + n % 8), "
                  "1 + n / 110000, n % 255, n % 2 * 1024, n / 10000, n % 3 * (n / 60000)") +
          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (n INTEGER PRIMARY KEY, start, end, globalTid, "
          "correlationId, nameId, returnValue" +
          end +
          rows(120'000, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT n, " + time + ", " + time +
                            " + CASE WHEN n % 25000 = 9 THEN 300000000000000000 ELSE 4 END, " + process +
                            " + n / 40000, n, 1 + n % 2, n = 110000") +
          "CREATE TABLE NVTX_EVENTS (n INTEGER PRIMARY KEY, start, end, eventType, text, textId, domainId, "
          "globalTid, endGlobalTid" +
          end +
          rows(120'000, "INSERT INTO NVTX_EVENTS SELECT n, " + time +
                            ", CASE WHEN n % 9999 = 0 THEN NULL ELSE " + time +
                            " + n % 500 END, CASE WHEN n % 60000 = 0 THEN 75 WHEN n % 30001 = 0 THEN "
                            "39 ELSE 59 END, CASE WHEN n % 4 = 0 THEN 'range ' || (n / 20000) END, "
                            "2 + n % 9, n / 30000, " +
                            process + " + n / 40000, CASE WHEN n % 50 = 0 THEN " + process +
                            " + 7 + n / 80000 END"));
}

}  // namespace dladvisor::test
