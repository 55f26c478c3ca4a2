// SPDX-License-Identifier: Apache-2.0
// The tables of rocprof's database as rows of a Trace (bin/tblextr.py of ROCm/rocprofiler writes them).
//
// HIP and HSA hold calls, rocTX ranges, OPS what ran on GPUs and COPY copies, each with the number of its
// call as Index. KERN holds kernels as rocprof itself dispatched them, one by one, with what they need:
// work-items in all (grd) and of a workgroup (wgr), registers, and scratch memory; without BeginNs and EndNs
// its kernels have no times. A GPU has the number of its node. Sizes of copies stand among the arguments of
// calls.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "src/importers/rocm/rocm_trace.h"
#include "src/importers/sqlite/sqlite_reader.h"

namespace dladvisor::rocprof_db {

bool IsRocprof(const sqlite::Database& database);

class Reader {
 public:
  explicit Reader(const sqlite::Database& db);
  bool HasTimes() const;
  Trace Read();

 private:
  bool HasRows(std::string_view table) const;  // with times
  void ReadCalls(std::string_view table);
  void ReadRanges();
  void ReadKernels();
  void ReadOperations(std::string_view table);

  const sqlite::Database& db_;
  rocm::RocmTrace rows_;
  std::map<std::pair<int64_t, int64_t>, int64_t> bytes_;  // of a call that copies, by process and number
};

}  // namespace dladvisor::rocprof_db
