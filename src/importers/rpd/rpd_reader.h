// SPDX-License-Identifier: Apache-2.0
// The tables of rocmProfileData as rows of a Trace.
//
// rocpd_api are calls of HIP, markers and the tracer's own work on the host, rocpd_op what GPUs did, and
// rocpd_api_ops which call launched what. Grids and sizes are of the calls (rocpd_kernelapi, rocpd_copyapi).
// What launches a graph launches many operations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "src/importers/rocm/rocm_trace.h"
#include "src/importers/sqlite/sqlite_reader.h"

namespace dladvisor::rpd {

class Reader {
 public:
  explicit Reader(const sqlite::Database& db);
  Trace Read();

 private:
  struct Call {
    int64_t pid = 0;
    NameId name = kNoName;
    int64_t correlation = 0;
    std::optional<int64_t> stream;
    std::optional<LaunchShape> shape;
    int64_t shared_bytes = 0, bytes = 0;
  };
  struct Operation {
    std::string_view type, kernel;
    const Call* call = nullptr;
    int64_t queue = 0;
    bool of_graph = false;
  };

  std::string_view Text(int64_t id) const;
  std::string_view Arguments(int64_t id) const;
  void ReadStrings(std::string_view table, std::unordered_map<int64_t, std::string>& strings);
  void ReadCalls();
  void AddRow(uint32_t thread, int64_t id, std::string_view name, std::string_view domain,
              std::string_view arguments, Ns start, Ns end);
  void ReadKernelCalls();
  void ReadCopyCalls();
  void ReadLaunches();
  void ReadOperations();
  void AddOperation(const Operation& operation, rocm::Work work);
  int64_t Stream(int64_t pid, std::string_view pointer);
  int64_t StreamOfWork(const Call* call, int64_t device, int64_t queue);
  std::optional<int64_t> DeviceOfCopy(int64_t pid) const;
  void LookAtTracer();

  const sqlite::Database& db_;
  rocm::RocmTrace rows_;
  std::unordered_map<int64_t, std::string> strings_, arguments_;
  bool has_own_arguments_ = false;                  // a table of theirs
  std::unordered_map<int64_t, Call> calls_;         // by id
  std::unordered_map<int64_t, int64_t> launchers_;  // id of the call, by that of the operation
  std::map<std::pair<int64_t, std::string>, int64_t, std::less<>> streams_;  // by process and pointer
  std::map<std::pair<int64_t, int64_t>, int64_t> queues_;                    // stream, by device and queue
  std::map<int64_t, int64_t> devices_;  // of the kernels of a process; -1 for several
  bool counts_items_ = false;           // in grids of all calls, and not blocks
  bool knows_grids_ = true;             // which of the two it is
};

}  // namespace dladvisor::rpd
