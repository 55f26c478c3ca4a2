// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/api_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/operator_tree.h"
#include "src/analysis/family/family.h"
#include "src/trace/cuda_error.h"

namespace dladvisor {
namespace {

// What calls answer once the driver or the context is torn down (CUDA_ERROR_DEINITIALIZED and
// CUDA_ERROR_CONTEXT_IS_DESTROYED, and the same of HIP): the program ends. One that waits for a context and
// finds none (CUDA_ERROR_INVALID_CONTEXT) has nothing to wait for: profilers do so when they stop.
bool IsFailure(std::string_view name, int64_t result) {
  constexpr int64_t kDeinitialized = 4, kInvalidContext = 201, kContextIsDestroyed = 709;
  if (result == kInvalidContext && name == "cuCtxSynchronize") return false;
  return result != 0 && result != kDeinitialized && result != kContextIsDestroyed;
}

// What the call answered that failed, where none before it did.
void NoteFailure(Ns start, int64_t result, ApiNameRow& row) {
  ++row.errors;
  if (row.first_error_ns && *row.first_error_ns <= start) return;
  row.first_error_ns = start;
  const CudaError* error = FindCudaError(result);
  row.first_error = error ? fmt::format("{}: {}", result, error->text) : std::to_string(result);
  row.remedy = error ? std::optional<std::string>(error->remedy) : std::nullopt;
}

enum class Role : uint8_t { kOther, kLaunch, kRecord, kWait, kManaged };

// What each name of a call is to those that measure kernels.
std::vector<Role> RolesOf(const Trace& trace) {
  std::vector<Role> roles(trace.names.size(), Role::kOther);
  std::vector<uint8_t> seen(trace.names.size(), 0);
  for (const NameId id : trace.api_calls.name) {
    if (std::exchange(seen[id], 1) != 0) continue;
    const std::string_view name = ApiBaseName(trace.names.View(id));
    const auto holds = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
    roles[id] = holds("EventRecord")                      ? Role::kRecord
                : holds("Synchronize")                    ? Role::kWait
                : holds("MallocManaged")                  ? Role::kManaged
                : holds("MemAllocManaged")                ? Role::kManaged
                : holds("Launch") && !holds("LaunchHost") ? Role::kLaunch
                                                          : Role::kOther;
  }
  return roles;
}

// The launches of each thread since its last record of an event, and the one before, that warms up.
class TimedLaunches {
 public:
  explicit TimedLaunches(size_t threads) : of_thread_(threads) {}

  void Note(uint32_t thread, Role role, bool failed, ApiNameRow& row) {
    if (thread == kNoIndex) return;
    Open& open = of_thread_[thread];
    if (role == Role::kLaunch) {
      if (!open.is_open) open.launches.clear();
      open.launches.emplace_back(&row, failed);
    }
    if (role == Role::kRecord) {
      if (open.is_open)
        for (const auto& [launched, has_failed] : std::exchange(open.launches, {})) {
          ++launched->timed_calls;
          launched->timed_errors += has_failed;
        }
      open.is_open = true;
    }
    if (role == Role::kWait) open = {};
  }

 private:
  struct Open {
    bool is_open = false;
    std::vector<std::pair<ApiNameRow*, bool>> launches;
  };
  std::vector<Open> of_thread_;
};

// Which calls a framework's operators make.
class OperatorCalls {
 public:
  explicit OperatorCalls(const Context& context) : context_(context) {
    const Ranges& ranges = context.trace.ranges;
    for (size_t i = 0; i < ranges.size() && domain_ == kNoName; ++i)
      if (context.trace.names.View(ranges.domain[i]) == kOperatorDomain) domain_ = ranges.domain[i];
  }

  // Whether operators were recorded.
  bool known() const { return domain_ != kNoName; }

  bool Makes(uint32_t call) const {
    uint32_t range = context_.attribution.api_range[call];
    while (range != kNoIndex && context_.trace.ranges.domain[range] != domain_)
      range = context_.attribution.range_parent[range];
    return range != kNoIndex;
  }

 private:
  const Context& context_;
  NameId domain_ = kNoName;
};

// What of a call lies outside of the window: the longer of the parts before and after it.
int64_t LongestOutside(Interval call, Interval window) {
  return std::max({std::min(call.end, window.start) - call.start, call.end - std::max(call.start, window.end),
                   int64_t{0}});
}

// Adds the calls of a function under one of its names.
void Merge(const ApiNameRow& part, ApiNameRow& row) {
  row.min_ns = row.calls == 0 ? part.min_ns : std::min(row.min_ns, part.min_ns);
  row.max_ns = std::max(row.max_ns, part.max_ns);
  row.max_outside_ns = std::max(row.max_outside_ns, part.max_outside_ns);
  row.calls += part.calls;
  row.total_ns += part.total_ns;
  row.errors += part.errors;
  row.timed_calls += part.timed_calls;
  row.timed_errors += part.timed_errors;
  row.managed_calls += part.managed_calls;
  row.managed_ns += part.managed_ns;
  if (part.first_error_ns && (!row.first_error_ns || *part.first_error_ns < *row.first_error_ns)) {
    row.first_error_ns = part.first_error_ns;
    row.first_error = part.first_error;
    row.remedy = part.remedy;
  }
  row.window_calls += part.window_calls;
  row.window_ns += part.window_ns;
  row.window_in_a_row += part.window_in_a_row;
  if (part.window_in_operators)
    row.window_in_operators = row.window_in_operators.value_or(0) + *part.window_in_operators;
}

}  // namespace

const RelationOf<ApiNameRow>& ApiNameRelation() {
  static const auto relation =
      RelationOf<ApiNameRow>("api_name", "CUDA API calls by function, over the whole profile.")
          .Key("rank", &ApiNameRow::rank, kRankNumber, "Rank; unknown for processes without GPU work.")
          .Key("name", &ApiNameRow::name, Unit::kText, "Function, without version suffix.")
          .Column("calls", &ApiNameRow::calls, Unit::kCount, "Calls.")
          .Column("total_ns", &ApiNameRow::total_ns, Unit::kNanoseconds, "Sum of durations.")
          .Column("avg_ns", &ApiNameRow::avg_ns, Unit::kNanoseconds, "Mean duration.")
          .Column("min_ns", &ApiNameRow::min_ns, Unit::kNanoseconds, "Shortest.")
          .Column("max_ns", &ApiNameRow::max_ns, Unit::kNanoseconds, "Longest.")
          .Column("window_calls", &ApiNameRow::window_calls, Unit::kCount,
                  "Calls that begin between the window's first and last moment.")
          .Column("window_ns", &ApiNameRow::window_ns, Unit::kNanoseconds, "Sum of their durations in it.")
          .Column("calls_per_step", &ApiNameRow::calls_per_step, Unit::kCount,
                  "Those calls per steady step; unknown without steps.")
          .Column("max_outside_ns", &ApiNameRow::max_outside_ns, Unit::kNanoseconds,
                  "Longest part of one call that lies before or after the window; longest call where there "
                  "is none.")
          .Column("errors", &ApiNameRow::errors, Unit::kCount,
                  "Calls that did not return success, without those to a context that is gone.")
          .Column("first_error_ns", &ApiNameRow::first_error_ns, Unit::kNanoseconds,
                  "Start of the first of these on the profile's clock.")
          .Column("first_error", &ApiNameRow::first_error, Unit::kText,
                  "What it answered: its number, and its meaning where it is known.")
          .Column("remedy", &ApiNameRow::remedy, Unit::kText,
                  "What to do about that; unknown where the number does not tell.")
          .Column("window_in_a_row", &ApiNameRow::window_in_a_row, Unit::kCount,
                  "Of the window's calls those right behind another of the function on the same thread.")
          .Column("window_in_operators", &ApiNameRow::window_in_operators, Unit::kCount,
                  "Of the window's calls those that a framework's operators make; unknown where no "
                  "operators were recorded.")
          .Column("timed_calls", &ApiNameRow::timed_calls, Unit::kCount,
                  "Of calls that launch those between two records of events on the same thread without a "
                  "wait among them, as one makes that measures how long a kernel takes, and the one before, "
                  "that warms up.")
          .Column("timed_errors", &ApiNameRow::timed_errors, Unit::kCount, "Errors of these.")
          .Column("managed_calls", &ApiNameRow::managed_calls, Unit::kCount,
                  "Calls that begin after the first one that allocates managed memory.")
          .Column("managed_ns", &ApiNameRow::managed_ns, Unit::kNanoseconds, "Sum of their durations.");
  return relation;
}

std::vector<ApiNameRow> ComputeApiNames(const Context& context) {
  const Trace& trace = context.trace;
  const ApiCalls& calls = trace.api_calls;
  std::map<std::pair<int64_t, NameId>, ApiNameRow> by_id;
  std::map<int64_t, Interval> windows;
  for (size_t i = 0; i < context.ranks.gpus.size(); ++i)
    windows.try_emplace(context.ranks.gpus[i].rank, context.windows[i]);
  std::vector<std::pair<int64_t, ApiNameRow*>> last(trace.names.size());  // of a name: rank and row
  std::vector<NameId> before(trace.threads.size(), kNoName);              // the last call of each thread
  const std::vector<Role> roles = RolesOf(trace);
  TimedLaunches timed(trace.threads.size());
  bool has_managed = false;
  const OperatorCalls operators(context);
  for (size_t i = 0; i < calls.size(); ++i) {
    const int64_t rank = context.RankOfThread(calls.thread[i]);
    auto& [last_rank, last_row] = last[calls.name[i]];
    if (!last_row || last_rank != rank) {
      last_rank = rank;
      last_row = &by_id[{rank, calls.name[i]}];
    }
    ApiNameRow& row = *last_row;
    const int64_t duration = calls.end[i] - calls.start[i];
    row.min_ns = row.calls == 0 ? duration : std::min(row.min_ns, duration);
    row.max_ns = std::max(row.max_ns, duration);
    ++row.calls;
    row.total_ns += duration;
    if (has_managed) {
      ++row.managed_calls;
      row.managed_ns += duration;
    }
    has_managed = has_managed || roles[calls.name[i]] == Role::kManaged;
    const bool failed = calls.result[i] != 0 && IsFailure(trace.names.View(calls.name[i]), calls.result[i]);
    if (failed) NoteFailure(calls.start[i], calls.result[i], row);
    const uint32_t thread = calls.thread[i];
    timed.Note(thread, roles[calls.name[i]], failed, row);
    const bool in_a_row = thread != kNoIndex && before[thread] == calls.name[i];
    if (thread != kNoIndex) before[thread] = calls.name[i];
    const auto window = windows.find(rank);
    row.max_outside_ns = std::max(
        row.max_outside_ns,
        window == windows.end() ? duration : LongestOutside({calls.start[i], calls.end[i]}, window->second));
    if (window != windows.end() && calls.start[i] >= window->second.start &&
        calls.start[i] < window->second.end) {
      ++row.window_calls;
      row.window_ns += std::min(calls.end[i], window->second.end) - calls.start[i];
      row.window_in_a_row += in_a_row;
      if (operators.known())
        row.window_in_operators =
            row.window_in_operators.value_or(0) + operators.Makes(static_cast<uint32_t>(i));
    }
  }
  std::map<std::pair<int64_t, std::string_view>, ApiNameRow> by_name;
  for (const auto& [key, part] : by_id) {
    const std::string_view name = ApiBaseName(trace.names.View(key.second));
    ApiNameRow& row = by_name[{key.first, name}];
    if (key.first >= 0) row.rank = key.first;
    row.name = name;
    Merge(part, row);
  }
  std::vector<ApiNameRow> rows;
  for (auto& [key, row] : by_name) {
    row.avg_ns = static_cast<double>(row.total_ns) / static_cast<double>(row.calls);
    if (const int64_t steps = row.rank ? context.StepCount(*row.rank) : 0; steps > 0)
      row.calls_per_step = static_cast<double>(row.window_calls) / static_cast<double>(steps);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ApiNameRow& a, const ApiNameRow& b) {
    return std::pair(a.rank, -a.total_ns) < std::pair(b.rank, -b.total_ns);
  });
  return rows;
}

const Family& ApiNameFamily() {
  static const Family family = FamilyOf(ApiNameRelation(), ComputeApiNames).Detail();
  return family;
}

}  // namespace dladvisor
