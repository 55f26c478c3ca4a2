// What the readers of one export share: names by string id, processes and threads by serialized id, devices,
// and the rules for rows that cannot be used.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/importers/nsys/database.h"
#include "src/trace/trace.h"

namespace dladvisor::nsys {

// StringIds, read once; a string is interned when first used.
class Names {
 public:
  Names(const Database& db, StringPool& pool);
  NameId ById(int64_t id);
  // The cell as a name: an id into StringIds, or the text itself. NULL is kNoName; an id without a string
  // becomes "[string ID]", so that different unknown names stay apart.
  NameId Of(const Rows& rows, size_t column);

 private:
  struct Entry {
    size_t offset = 0, size = 0;
    NameId name = kNoName;
    bool known = false, interned = false;
  };
  Entry& Slot(int64_t id);

  StringPool& pool_;
  std::string bytes_;
  std::vector<Entry> dense_;  // small ids, as exporters give them
  std::unordered_map<int64_t, Entry> sparse_;
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

 private:
  struct Named {
    int64_t priority = 0;
    NameId name = kNoName;
  };
  Trace& trace_;
  std::unordered_map<int64_t, std::pair<int64_t, std::string>> process_names_;  // -> pid, name
  std::unordered_map<int64_t, Named> thread_names_;
  std::unordered_map<int64_t, uint32_t> processes_, threads_;
  int64_t last_process_ = 0, last_thread_ = 0;
  uint32_t last_process_index_ = kNoIndex, last_thread_index_ = kNoIndex;
};

// CUDA devices. Every device of the target info is listed, used or not, and every one that events name.
//
// A device id counts as its process does: with a CUDA_VISIBLE_DEVICES per process, 0 is a different GPU in
// each. Where the export tells (TARGET_INFO_CUDA_DEVICE) and processes disagree, devices are numbered by the
// profiler's GPU ids instead.
class Devices {
 public:
  Devices(const Database& db, Trace& trace);
  // nullopt where the number can be no device id.
  std::optional<uint32_t> OfEvent(int64_t global_pid, std::optional<int64_t> device_id);
  std::optional<uint32_t> OfGpu(int64_t gpu_id);  // by the profiler's own GPU id
  void SortByOrdinal();                           // once, after the last event

 private:
  uint32_t Add(Device device);
  uint32_t ByOrdinal(int64_t ordinal);
  void ReadGpus(const Database& db);
  void ReadOldGpus(const Database& db);

  Trace& trace_;
  std::map<std::pair<int64_t, int64_t>, int64_t> gpu_of_;  // (pid, CUDA id) -> GPU id, when they disagree
  std::map<int64_t, int64_t> cuda_of_gpu_;                 // GPU id -> CUDA id, when they agree
  std::map<int64_t, uint32_t> by_ordinal_, by_gpu_;
  std::map<int64_t, Device> hidden_;  // GPU id -> a GPU that no process was allowed to see
};

struct Context {
  const Database& db;
  Trace& trace;
  Names& names;
  Hosts& hosts;
  Devices& devices;
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
  void Skip() { ++skipped_; }  // this row cannot be used after all
  Ns start() const { return start_; }
  Ns end() const { return end_; }  // the start, where it is not known or not asked for
  bool has_end() const { return has_end_; }
  Rows& rows() { return rows_; }

 private:
  Context& context_;
  std::string table_;
  Rows rows_;
  End wants_end_;
  Ns start_ = 0, end_ = 0, previous_start_ = 0, total_ = 0;
  bool has_end_ = false;
  int64_t skipped_ = 0, negative_ = 0, out_of_order_ = 0;
};

// A cell that counts something: absent, negative and absurd values are brought into 0..most.
int64_t Count(const Rows& rows, size_t column, int64_t most);

MemoryKind MemoryKindOf(std::optional<int64_t> code);

// The order of rows by start (ties: `before`, then the file's order), empty where they are sorted already.
template <typename Before>
std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start, Before before);
inline std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start);

template <typename... Columns>
void Reorder(const std::vector<uint32_t>& order, Columns&... columns);

// --- the readers, one per topic ---
void ReadSystem(Context& context);  // versions, host, environment, clock, diagnostics
void ReadGpuEvents(
    Context& context);               // kernels, copies, sets, graph launches, synchronisation, event records
void ReadStreams(Context& context);  // kinds of streams; after all events, which name the processes
void ReadHostEvents(Context& context);  // API calls, OS calls with call chains, profiler overhead
void ReadNvtx(Context& context);  // after the others: an unpopped range ends with its thread's last event
void ReadMeasurements(Context& context);  // allocations, page faults and hardware counters
void ReadCpu(Context& context);           // samples of stacks, context switches
void ReadNetwork(Context& context);       // calls of MPI and the like, counters of adapters

// --- inline implementations ---

template <typename Before>
std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start, Before before) {
  bool sorted = true;
  for (size_t i = 1; sorted && i < start.size(); ++i)
    sorted = start[i - 1] < start[i] || (start[i - 1] == start[i] && !before(i, i - 1));
  if (sorted) return {};
  std::vector<uint32_t> order(start.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return start[a] != start[b] ? start[a] < start[b] : before(a, b);
  });
  return order;
}

inline std::vector<uint32_t> OrderByStart(const std::vector<Ns>& start) {
  return OrderByStart(start, [](size_t, size_t) { return false; });
}

template <typename... Columns>
void Reorder(const std::vector<uint32_t>& order, Columns&... columns) {
  if (order.empty()) return;
  const auto one = [&](auto& column) {
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(order.size());
    for (const uint32_t i : order) sorted.push_back(column[i]);
    column = std::move(sorted);
  };
  (one(columns), ...);
}

}  // namespace dladvisor::nsys
