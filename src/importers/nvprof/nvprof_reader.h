// SPDX-License-Identifier: Apache-2.0
// The tables of a database of nvprof as rows of a Trace.
//
// A table is a kind of CUPTI's activity records, a column a member of its struct (cupti_activity.h), of the
// version of CUDA that wrote it: members come and go. Names are ids in StringTable, those of kernels as the
// linker has them; calls have numbers (call_names.h). Work on a GPU names its context, and no process: it is
// of the process that makes the calls, where there is one. CUPTI_ACTIVITY_KIND_KERNEL holds kernels that ran
// one by one, as nvprof makes them for counters and metrics, and CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL those
// of the program at work.
//
// A row that cannot be used is counted, by table, in the trace's health, as are rows of work beyond sums that
// fit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/importers/gpu_rows/row_tables.h"
#include "src/importers/sqlite/sqlite_reader.h"
#include "src/trace/trace.h"

namespace dladvisor::nvprof {

bool IsNvprof(const sqlite::Database& database);
// Whether kernels ran one by one, and each again and again, for counters or metrics: their times are not
// those of the program.
bool HoldsCountersOnly(const sqlite::Database& database);

class Reader {
 public:
  explicit Reader(const sqlite::Database& db);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Trace Read();

 private:
  struct Text {
    NameId name = kNoName, short_name = kNoName;
  };
  // Of the rows of a table: those read and not used, and what those used take together.
  struct Table {
    std::string name;
    Ns total = 0;
    int64_t bytes = 0;
  };

  void ReadStrings();
  void ReadDevices();
  void ReadContexts();
  void ReadProgram();
  void ReadCalls();
  void ReadKernels(std::string_view table);
  void ReadCopies(std::string_view table, bool between_devices);
  void ReadSets();
  void ReadManagedMemory();
  void ReadSyncs();
  void ReadOverheads();
  void ReadMarkers();

  std::string_view String(int64_t id) const;
  const Text& KernelName(int64_t id);
  // Counts the row, whose first columns are start and end; false where it cannot be used.
  bool Use(Table& table, const sqlite::Rows& rows);
  bool UseBytes(Table& table, int64_t bytes);
  void Skip(const Table& table) { ++trace_.health.rows_skipped[table.name]; }
  // Columns that all tables of GPU work share, the first ones of `rows`; false where the device is none.
  bool AddWork(Table& table, GpuOperations& ops, const sqlite::Rows& rows);
  uint32_t Process();
  uint32_t ThreadOf(std::string_view object_id);

  const sqlite::Database& db_;
  Trace trace_;
  gpu_rows::Tables tables_;
  std::unordered_map<int64_t, std::string> strings_;
  std::unordered_map<int64_t, Text> kernel_names_;
  std::map<int64_t, Device> described_;
  std::map<int64_t, int64_t> device_of_context_;
  std::map<int64_t, int64_t> calls_of_pid_;
};

}  // namespace dladvisor::nvprof
