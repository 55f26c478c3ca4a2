#include "src/importers/nsys/context.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dladvisor::nsys {

namespace {

constexpr Ns kLastTime = 4'000'000'000'000'000'000;   // 126 years: differences of two times fit
constexpr Ns kMostTotal = 1'000'000'000'000'000'000;  // of all durations of a table: sums of tables fit
constexpr size_t kDenseIds = size_t{1} << 24;

}  // namespace

// --- Names ---

Names::Names(const Database& db, StringPool& pool) : pool_(pool) {
  Rows rows(db, "StringIds", {"id", "value"});
  dense_.reserve(rows.SizeHint());
  while (rows.Next()) {
    const std::optional<int64_t> id = rows.Integer(0);
    if (!id) continue;
    Entry& entry = Slot(*id);
    const std::string_view text = rows.Text(1);
    entry = {bytes_.size(), text.size(), kNoName, true, false};
    bytes_ += text;
  }
}

Names::Entry& Names::Slot(int64_t id) {
  // Ids are dense in real exports; a stray large one must not make the table large.
  const size_t limit = std::min(kDenseIds, 2 * dense_.size() + 4096);
  if (id < 0 || static_cast<size_t>(id) >= limit) return sparse_[id];
  const auto index = static_cast<size_t>(id);
  if (index >= dense_.size()) {
    dense_.resize(index + 1);
    if (const auto moved = sparse_.find(id); moved != sparse_.end()) dense_[index] = moved->second;
  }
  return dense_[index];
}

NameId Names::ById(int64_t id) {
  Entry* entry = nullptr;
  if (id >= 0 && static_cast<size_t>(id) < dense_.size() && dense_[static_cast<size_t>(id)].known) {
    entry = &dense_[static_cast<size_t>(id)];
  } else if (const auto it = sparse_.find(id); it != sparse_.end()) {
    entry = &it->second;
  } else {
    return pool_.Intern(fmt::format("[string {}]", id));
  }
  if (!entry->interned) {
    entry->name = pool_.Intern(std::string_view(bytes_).substr(entry->offset, entry->size));
    entry->interned = true;
  }
  return entry->name;
}

NameId Names::Of(const Rows& rows, size_t column) {
  if (rows.IsText(column)) return pool_.Intern(rows.Text(column));
  const std::optional<int64_t> id = rows.Integer(column);
  return id ? ById(*id) : kNoName;
}

// --- Hosts ---

Hosts::Hosts(const Database& db, Names& names, Trace& trace) : trace_(trace) {
  Rows processes(db, "PROCESSES", {"globalPid", "pid", "name"});
  while (processes.Next())
    if (const auto id = processes.Integer(0))
      process_names_[*id] = {processes.Integer(1, PidOf(*id)), std::string(processes.Text(2))};

  Rows threads(db, "ThreadNames", {"globalTid", "nameId", "priority"});
  while (threads.Next()) {
    const auto id = threads.Integer(0);
    if (!id) continue;
    const int64_t priority = threads.Integer(2, 0);
    Named& named = thread_names_[*id];
    if (named.name == kNoName || priority > named.priority) named = {priority, names.Of(threads, 1)};
  }
}

uint32_t Hosts::Process(int64_t global_pid) {
  const int64_t id = ProcessOf(global_pid);
  if (id == last_process_ && last_process_index_ != kNoIndex) return last_process_index_;
  const auto [it, is_new] = processes_.try_emplace(id, static_cast<uint32_t>(trace_.processes.size()));
  if (is_new) {
    const auto named = process_names_.find(id);
    trace_.processes.push_back(named == process_names_.end()
                                   ? dladvisor::Process{PidOf(id), ""}
                                   : dladvisor::Process{named->second.first, named->second.second});
  }
  last_process_ = id;
  return last_process_index_ = it->second;
}

uint32_t Hosts::Thread(int64_t global_tid) {
  if (global_tid == last_thread_ && last_thread_index_ != kNoIndex) return last_thread_index_;
  const auto [it, is_new] = threads_.try_emplace(global_tid, static_cast<uint32_t>(trace_.threads.size()));
  if (is_new) {
    dladvisor::Thread thread{Process(global_tid), global_tid & kThreadBits, ""};
    if (const auto named = thread_names_.find(global_tid); named != thread_names_.end())
      thread.name = trace_.names.View(named->second.name);
    trace_.threads.push_back(std::move(thread));
  }
  last_thread_ = global_tid;
  return last_thread_index_ = it->second;
}

// --- Activity ---

Activity::Activity(Context& context, std::string_view table, const std::vector<std::string_view>& columns,
                   End end)
    : context_(context),
      table_(table),
      rows_(context.db, table, columns),
      wants_end_(end),
      previous_start_(std::numeric_limits<Ns>::min()) {}

Activity::~Activity() {
  if (!context_.db.Has(table_)) return;
  CaptureHealth& health = context_.trace.health;
  health.rows_read[table_] += rows_.count();
  if (skipped_) health.rows_skipped[table_] += skipped_;
  health.negative_durations += negative_;
  health.out_of_order += out_of_order_;
}

bool Activity::Next() {
  const auto usable = [](Ns time) { return time <= kLastTime && time >= -kLastTime; };
  while (rows_.Next()) {
    const std::optional<int64_t> start = rows_.Integer(0);
    std::optional<int64_t> end;
    if (wants_end_ != End::kNone) end = rows_.Integer(1);
    if (!start || !usable(*start) || (!end && wants_end_ == End::kRequired) || (end && !usable(*end))) {
      Skip();
      continue;
    }
    if (end && *end < *start) {
      ++negative_;
      Skip();
      continue;
    }
    start_ = *start;
    has_end_ = end.has_value();
    end_ = end.value_or(start_);
    if (end_ - start_ > kMostTotal - total_) {
      Skip();
      continue;
    }
    total_ += end_ - start_;
    if (start_ < previous_start_) ++out_of_order_;
    previous_start_ = start_;
    return true;
  }
  return false;
}

int64_t Count(const Rows& rows, size_t column, int64_t most) {
  return std::clamp<int64_t>(rows.Integer(column, 0), 0, most);
}

// ENUM_CUDA_MEM_KIND of the exports; CUPTI's own numbers differ.
MemoryKind MemoryKindOf(std::optional<int64_t> code) {
  switch (code.value_or(-1)) {
    case 0:
      return MemoryKind::kPageable;
    case 1:
      return MemoryKind::kPinned;
    case 2:
    case 5:  // device static
      return MemoryKind::kDevice;
    case 3:
      return MemoryKind::kArray;
    case 4:
    case 6:  // managed static
      return MemoryKind::kManaged;
    default:
      return MemoryKind::kUnknown;
  }
}

}  // namespace dladvisor::nsys
