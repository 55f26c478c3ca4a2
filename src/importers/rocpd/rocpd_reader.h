// SPDX-License-Identifier: Apache-2.0
// The tables that rocprofv3 writes of one process, as rows of a Trace.
//
// Regions are calls of HIP, HSA and RCCL, and markers of roctx, on the host. An event belongs to each row and
// holds its category and, as stack_id, the number by which a call and what it launches are matched: of a call
// that another makes, parent_stack_id is that of the other. Grids are in work-items. In schema 4 rows refer
// to tracks, which hold process, thread, agent and stream.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/importers/rocm/rocm_trace.h"
#include "src/importers/sqlite/sqlite_reader.h"

namespace dladvisor::rocpd {

class Reader {
 public:
  // `id` ends the names of the tables.
  Reader(const sqlite::Database& db, std::string id, rocm::RocmTrace& rows);

  bool HasTimes() const;  // in the rows themselves, as all schemas have them that are known here
  void Read();
  const std::set<std::string>& machines() const { return machines_; }

 private:
  struct Agent {
    bool is_gpu = false;
    int64_t ordinal = 0;
  };
  struct Event {
    int64_t category = -1, stack = 0, parent = 0;
  };
  struct Kernel {
    std::string name{};
    int64_t registers = 0;
  };
  struct Place {
    int64_t pid = 0, tid = 0, agent = -1, queue = 0, stream = 0;
  };

  std::string Name(std::string_view table) const { return std::string(table) + id_; }
  std::string_view Text(int64_t id) const;
  void ReadStrings();
  void ReadNode();
  void ReadProcesses();
  void ReadThreads();
  void ReadAgents();
  void ReadSymbols();
  void ReadEvents();
  void ReadTracks();
  void ReadRegions();
  void ReadMarks();
  void ReadKernels();
  void ReadCopies();
  void ReadMemory();
  rocm::Domain DomainOf(int64_t event) const;
  std::string MessageOf(int64_t event) const;
  // From cells {pid, tid, agent_id, queue_id, stream_id, track_id} from `first` on.
  Place PlaceOf(const sqlite::Rows& rows, size_t first) const;
  int64_t Correlation(int64_t event) const;
  std::optional<int64_t> Gpu(int64_t agent) const;

  const sqlite::Database& db_;
  std::string id_;
  rocm::RocmTrace& rows_;
  std::set<std::string> machines_;
  std::unordered_map<int64_t, std::string> strings_, categories_, messages_;
  std::unordered_map<int64_t, int64_t> pids_, tids_;  // by id of the table
  std::unordered_map<int64_t, Agent> agents_;
  std::unordered_map<int64_t, Kernel> symbols_;
  std::unordered_map<int64_t, Event> events_;
  std::unordered_map<int64_t, Place> tracks_;
  std::unordered_map<int64_t, int64_t>
      callers_;  // of calls that are none of HIP: number -> that of the other
  bool has_hip_ = false;
};

}  // namespace dladvisor::rocpd
