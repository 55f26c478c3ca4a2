// SPDX-License-Identifier: Apache-2.0
// What the readers of one export share: names by string id, processes and threads by serialized id, devices,
// and the rules for rows that cannot be used.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/importers/nsys/devices.h"
#include "src/importers/sqlite/sqlite_reader.h"
#include "src/trace/event_tables.h"
#include "src/trace/launch_shapes.h"
#include "src/trace/trace.h"

namespace dladvisor::nsys {

using sqlite::Database;
using sqlite::RowRange;
using sqlite::Rows;

// StringIds, read once and then only looked at.
class Strings {
 public:
  explicit Strings(const Database& db);
  std::optional<uint32_t> Find(int64_t id) const;  // index of a string
  std::string_view At(uint32_t index) const {
    return std::string_view(bytes_).substr(entries_[index].offset, entries_[index].size);
  }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    size_t offset = 0, size = 0;
  };
  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> dense_;  // small ids, as exporters give them -> index, or kNoIndex
  std::unordered_map<int64_t, uint32_t> sparse_;
};

// Names of one Trace by id of the export; a string is interned when first used.
class Names {
 public:
  Names(const Strings& strings, StringPool& pool)
      : strings_(strings), pool_(pool), interned_(strings.size(), kNoIndex) {}
  NameId ById(int64_t id);
  // The cell as a name: an id into StringIds, or the text itself. NULL is kNoName; an id without a string
  // becomes "[string ID]", so that different unknown names stay apart.
  NameId Of(const Rows& rows, size_t column);
  // The string itself, which becomes no name; "" where there is none.
  std::string_view Text(int64_t id) const;

 private:
  const Strings& strings_;
  StringPool& pool_;
  std::vector<NameId> interned_;  // by index into strings_; kNoIndex where it is not yet
};

// nsys packs host, process and thread into one integer: the low 24 bits are the thread, the next 24 the
// process.
inline constexpr int64_t kThreadBits = 0xFFFFFF;
inline int64_t ProcessOf(int64_t global_tid) { return global_tid & ~kThreadBits; }
inline int64_t PidOf(int64_t global_id) { return (global_id >> 24) & 0xFFFFFF; }

// Processes and threads, listed in the Trace when an event first names them.
class Hosts {
 public:
  Hosts(const Database& db, Names& names, Trace& trace);
  uint32_t Process(int64_t global_pid);
  uint32_t Thread(int64_t global_tid);
  // Whether another event named the process: captures of the whole system list threads by the thousand.
  bool KnowsProcess(int64_t global_tid) const { return processes_.contains(ProcessOf(global_tid)); }
  // The export's ids of the processes and threads listed so far.
  const std::vector<int64_t>& process_ids() const { return process_ids_; }
  const std::vector<int64_t>& thread_ids() const { return thread_ids_; }

 private:
  struct Named {
    int64_t priority = 0, id = 0;
    NameId name = kNoName;
  };
  Trace& trace_;
  std::unordered_map<int64_t, std::pair<int64_t, std::string>> process_names_;  // -> pid, name
  std::unordered_map<int64_t, Named> thread_names_;
  std::unordered_map<int64_t, uint32_t> processes_, threads_;
  std::vector<int64_t> process_ids_, thread_ids_;
  int64_t last_process_ = 0, last_thread_ = 0;
  uint32_t last_process_index_ = kNoIndex, last_thread_index_ = kNoIndex;
};

// NVTX domains are numbered within a process and may be named after their first use.
class Domains {
 public:
  uint32_t Use(uint32_t process, int64_t id);  // index of the domain
  void SetName(uint32_t process, int64_t id, NameId name) { names_[Use(process, id)] = name; }
  // (process, number) of each domain used so far, and its name or kNoName.
  const std::vector<std::pair<uint32_t, int64_t>>& keys() const { return keys_; }
  const std::vector<NameId>& names() const { return names_; }

 private:
  std::map<std::pair<uint32_t, int64_t>, uint32_t> index_;
  std::vector<std::pair<uint32_t, int64_t>> keys_;
  std::vector<NameId> names_;
  uint32_t last_ = kNoIndex;
};

class Parts;

// Some rows of one table, and what reading them needs from, and provides to, those before and after.
struct Share {
  RowRange rows;
  Ns total = 0;  // durations of usable rows, those before included
};

// Durations of the rows of one table sum up to no more, so that sums of tables fit.
inline constexpr Ns kMostTotal = 1'000'000'000'000'000'000;

struct Context {
  const Database& db;
  Trace& trace;
  Names& names;
  Hosts& hosts;
  Devices& devices;
  Domains& domains;
  LaunchShapes& shapes;
  Parts* parts = nullptr;  // reads large tables; null while a part is read
  Share* share = nullptr;  // of the table at hand; null for all of it
};

// The rows of an activity table that have a usable time. What cannot be used is counted, by table, in the
// trace's health: rows without a start or end, rows that end before they start, and times so large that sums
// over the table would overflow (no capture is centuries long).
class Activity {
 public:
  enum class End { kRequired, kOptional, kNone };

  // `columns` begins with start and, unless `end` is kNone, end.
  Activity(Context& context, std::string_view table, const std::vector<std::string_view>& columns,
           End end = End::kRequired);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

  bool Next();
  // Calls `visit` at each row, instead of Next(): for large tables.
  template <typename Visit>
  void ForEach(Visit visit) {
    rows_.ForEach([&] {
      if (Use()) visit();
    });
  }
  void Skip() { ++skipped_; }  // this row cannot be used after all
  Ns start() const { return start_; }
  Ns end() const { return end_; }  // the start, where it is not known or not asked for
  bool has_end() const { return has_end_; }
  Rows& rows() { return rows_; }

 private:
  bool Use();  // reads the times of the row at hand; false, and counted, where they cannot be used

  Context& context_;
  std::string table_;
  Rows rows_;
  End wants_end_;
  Share whole_;
  Share& share_;
  Ns start_ = 0, end_ = 0;
  bool has_end_ = false;
  int64_t skipped_ = 0, negative_ = 0;
};

// A cell that counts something: absent, negative and absurd values are brought into 0..most.
int64_t Count(const Rows& rows, size_t column, int64_t most);

MemoryKind MemoryKindOf(std::optional<int64_t> code);

}  // namespace dladvisor::nsys
