// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/import_context.h"

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

constexpr Ns kLastTime = 4'000'000'000'000'000'000;  // 126 years: differences of two times fit
constexpr size_t kDenseIds = size_t{1} << 24;

}  // namespace

// --- Strings and names ---

Strings::Strings(const Database& db) {
  Rows rows(db, "StringIds", {"id", "value"});
  entries_.reserve(rows.SizeHint());
  while (rows.Next()) {
    const std::optional<int64_t> id = rows.Integer(0);
    if (!id) continue;
    const std::string_view text = rows.Text(1);
    const auto index = static_cast<uint32_t>(entries_.size());
    entries_.push_back({bytes_.size(), text.size()});
    bytes_ += text;
    // Ids are dense in real exports; a stray large one must not make the table large.
    if (*id >= 0 && static_cast<size_t>(*id) < std::min(kDenseIds, 2 * dense_.size() + 4096)) {
      const auto at = static_cast<size_t>(*id);
      if (at >= dense_.size()) dense_.resize(at + 1, kNoIndex);
      dense_[at] = index;
    } else {
      sparse_[*id] = index;
    }
  }
}

std::optional<uint32_t> Strings::Find(int64_t id) const {
  if (id >= 0 && static_cast<size_t>(id) < dense_.size() && dense_[static_cast<size_t>(id)] != kNoIndex)
    return dense_[static_cast<size_t>(id)];
  const auto found = sparse_.find(id);
  return found == sparse_.end() ? std::nullopt : std::optional(found->second);
}

NameId Names::ById(int64_t id) {
  const std::optional<uint32_t> index = strings_.Find(id);
  if (!index) return pool_.Intern(fmt::format("[string {}]", id));
  NameId& name = interned_[*index];
  if (name == kNoIndex) name = pool_.Intern(strings_.At(*index));
  return name;
}

std::string_view Names::Text(int64_t id) const {
  const std::optional<uint32_t> index = strings_.Find(id);
  return index ? strings_.At(*index) : std::string_view();
}

NameId Names::Of(const Rows& rows, size_t column) {
  if (const std::optional<int64_t> id = rows.Integer(column)) return ById(*id);
  return rows.IsText(column) ? pool_.Intern(rows.Text(column)) : kNoName;
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
    const Named other{.priority = priority, .id = threads.Integer(1, 0), .name = names.Of(threads, 1)};
    Named& named = thread_names_[*id];
    if (named.name == kNoName || priority > named.priority ||
        (priority == named.priority && other.id < named.id))
      named = other;
  }
}

uint32_t Hosts::Process(int64_t global_pid) {
  const int64_t id = ProcessOf(global_pid);
  if (id == last_process_ && last_process_index_ != kNoIndex) return last_process_index_;
  const auto [it, is_new] = processes_.try_emplace(id, static_cast<uint32_t>(trace_.processes.size()));
  if (is_new) {
    process_ids_.push_back(id);
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
    thread_ids_.push_back(global_tid);
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
      rows_(context.db, table, columns, context.share ? context.share->rows : RowRange{}),
      wants_end_(end),
      share_(context.share ? *context.share : whole_) {}

Activity::~Activity() {
  if (!context_.db.Has(table_)) return;
  CaptureHealth& health = context_.trace.health;
  health.rows_read[table_] += rows_.count();
  if (skipped_) health.rows_skipped[table_] += skipped_;
  health.negative_durations += negative_;
}

bool Activity::Next() {
  while (rows_.Next())
    if (Use()) return true;
  return false;
}

bool Activity::Use() {
  const auto usable = [](Ns time) { return time <= kLastTime && time >= -kLastTime; };
  const std::optional<int64_t> start = rows_.Integer(0);
  std::optional<int64_t> end;
  if (wants_end_ != End::kNone) end = rows_.Integer(1);
  if (!start || !usable(*start) || (!end && wants_end_ == End::kRequired) || (end && !usable(*end))) {
    Skip();
    return false;
  }
  if (end && *end < *start) {
    ++negative_;
    Skip();
    return false;
  }
  start_ = *start;
  has_end_ = end.has_value();
  end_ = end.value_or(start_);
  if (end_ - start_ > kMostTotal - share_.total) {
    Skip();
    return false;
  }
  share_.total += end_ - start_;
  return true;
}

// --- Domains ---

uint32_t Domains::Use(uint32_t process, int64_t id) {
  const std::pair key(process, id);
  if (last_ != kNoIndex && keys_[last_] == key) return last_;
  const auto [it, is_new] = index_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
  if (is_new) {
    keys_.push_back(key);
    names_.push_back(kNoName);
  }
  return last_ = it->second;
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
