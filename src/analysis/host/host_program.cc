// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/host_program.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "src/analysis/context/api_kind.h"
#include "src/analysis/context/operator_tree.h"
#include "src/analysis/family/family.h"
#include "src/analysis/timeline/host_buckets.h"
#include "src/trace/intervals.h"

namespace dladvisor {
namespace {

constexpr size_t kMostRows = 50;

bool Communicates(std::string_view name) {
  static const RE2 collective(R"((?i)^(gloo|mpi|c10d)(:|::|_))");
  return RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), collective);
}

// The time of an operator without that of the operators within it.
std::vector<IntervalSet> SelfTimes(const Trace& trace, const OperatorTree& tree) {
  std::vector<IntervalSet> children(tree.calls.size());
  const auto time_of = [&](const OperatorCall& call) {
    return Interval{trace.ranges.start[call.range], trace.ranges.end[call.range]};
  };
  for (const OperatorCall& call : tree.calls)
    if (call.parent != kNoIndex) Append(children[call.parent], time_of(call));
  std::vector<IntervalSet> self(tree.calls.size());
  for (size_t i = 0; i < tree.calls.size(); ++i) self[i] = Subtract({time_of(tree.calls[i])}, children[i]);
  return self;
}

// Of the calls those of a data loader, and what these run.
std::vector<bool> AreLoaders(const Trace& trace, const OperatorTree& tree) {
  std::vector<bool> loads(tree.calls.size());
  for (size_t i = 0; i < tree.calls.size(); ++i) {
    const OperatorCall& call = tree.calls[i];
    loads[i] = (call.parent != kNoIndex && loads[call.parent]) ||
               (!call.is_operator &&
                BucketOfRange(trace.names.View(trace.ranges.name[call.range])) == Bucket::kInput);
  }
  return loads;
}

// The time that threads spend in calls of the operating system, by call.
class OsTime {
 public:
  explicit OsTime(const Trace& trace) : calls_(trace.os_calls), of_thread_(trace.threads.size()) {
    for (uint32_t i = 0; i < calls_.size(); ++i) {
      if (calls_.thread[i] == kNoIndex) continue;
      std::vector<Call>& calls = of_thread_[calls_.thread[i]];
      calls.push_back({i, std::max(calls_.end[i], calls.empty() ? calls_.end[i] : calls.back().last_end)});
    }
  }
  void Add(uint32_t thread, const IntervalSet& times, std::map<NameId, Ns>& by_name) const {
    if (thread == kNoIndex || times.empty()) return;
    const std::vector<Call>& calls = of_thread_[thread];
    auto call = std::ranges::upper_bound(calls, times.front().start, {}, &Call::last_end);
    for (size_t first = 0; call != calls.end() && calls_.start[call->index] < times.back().end; ++call) {
      const Interval during{calls_.start[call->index], calls_.end[call->index]};
      while (first < times.size() && times[first].end <= during.start) ++first;
      Ns within = 0;
      for (size_t t = first; t < times.size() && times[t].start < during.end; ++t)
        within +=
            std::max<Ns>(0, std::min(times[t].end, during.end) - std::max(times[t].start, during.start));
      if (within > 0) by_name[calls_.name[call->index]] += within;
    }
  }

 private:
  struct Call {
    uint32_t index = 0;
    Ns last_end = 0;  // of this one and all before
  };

  const OsCalls& calls_;
  std::vector<std::vector<Call>> of_thread_;  // by their starts
};

}  // namespace

const RelationOf<HostProgramRow>& HostProgramRelation() {
  static const auto relation =
      RelationOf<HostProgramRow>("host_program",
                                 "What takes the time of a program that uses no GPU, or of which nothing of "
                                 "a GPU was recorded; no rows for others.")
          .Key("rank", &HostProgramRow::rank, kRankNumber, "Rank.")
          .Key("name", &HostProgramRow::name, Unit::kText,
               "Operator of the framework (where there are none, range), range of a data loader or of an "
               "optimizer's update, or collective of hosts.")
          .Column("communication", &HostProgramRow::communication, Unit::kNone,
                  "1 for a collective (gloo, MPI).")
          .Column("loading", &HostProgramRow::loading, Unit::kNone, "1 for a range of a data loader.")
          .Column("updating", &HostProgramRow::updating, Unit::kNone,
                  "1 for a range of an optimizer's update, whose operators have rows as well.")
          .Column("calls", &HostProgramRow::calls, Unit::kCount, "Calls.")
          .Column("busy_ns", &HostProgramRow::busy_ns, Unit::kNanoseconds,
                  "Time in which a thread is in one (union), of operators without those within it, and of "
                  "loaders without the operators of others; what a loader runs itself is loading.")
          .Column("longest_ns", &HostProgramRow::longest_ns, Unit::kNanoseconds,
                  "The longest call, of operators without those within it.")
          .Column("alone_ns", &HostProgramRow::alone_ns, Unit::kNanoseconds,
                  "Of a collective, the part in which no operator runs on any thread; of a range of a data "
                  "loader, the part in which none with more time loads, so that their sum counts no time "
                  "twice; of an operator all of it.")
          .Column("os_call", &HostProgramRow::os_call, Unit::kText,
                  "Call of the operating system that it spends most time in; unknown where none was recorded "
                  "in it.")
          .Column("os_call_ns", &HostProgramRow::os_call_ns, Unit::kNanoseconds, "That time.")
          .Column("share", &HostProgramRow::share, Unit::kRatio, "busy_ns over the profile's time.")
          .Column("alone_share", &HostProgramRow::alone_share, Unit::kRatio,
                  "alone_ns over the profile's time.");
  return relation;
}

std::vector<HostProgramRow> ComputeHostProgram(const Context& context) {
  const Trace& trace = context.trace;
  if (!context.ranks.gpus.empty() || !GivesGpusNothing(trace)) return {};
  const OperatorTree tree = BuildOperatorTree(context);  // not an input: programs with GPU work do without
  std::map<std::string, std::pair<HostProgramRow, std::vector<Interval>>> by_name;
  std::map<std::string, std::map<NameId, Ns>> in_os;
  const OsTime os(trace);
  std::vector<Interval> operating;
  const std::vector<IntervalSet> self = SelfTimes(trace, tree);
  const std::vector<bool> loads = AreLoaders(trace, tree);
  for (size_t i = 0; i < tree.calls.size(); ++i) {
    const OperatorCall& call = tree.calls[i];
    const std::string& name = tree.names[tree.name[trace.ranges.name[call.range]] - 1];
    if (!call.is_operator || loads[i] || Communicates(name)) continue;
    auto& [row, times] = by_name[name];
    ++row.calls;
    row.longest_ns = std::max(row.longest_ns, Length(self[i]));
    times.insert(times.end(), self[i].begin(), self[i].end());
    os.Add(trace.ranges.thread[call.range], self[i], in_os[name]);
    operating.insert(operating.end(), self[i].begin(), self[i].end());
  }
  for (uint32_t i = 0; i < trace.ranges.size(); ++i) {
    const std::string_view name = trace.names.View(trace.ranges.name[i]);
    if (trace.ranges.open[i] || trace.ranges.kind[i] == RangeKind::kMark || !Communicates(name)) continue;
    auto& [row, times] = by_name[std::string(name)];
    row.communication = true;
    ++row.calls;
    times.push_back({trace.ranges.start[i], trace.ranges.end[i]});
  }
  const IntervalSet busy = Union(std::move(operating));
  std::map<NameId, std::vector<Interval>> loading;
  for (uint32_t i = 0; i < trace.ranges.size(); ++i) {
    if (trace.ranges.open[i] || trace.ranges.kind[i] != RangeKind::kPushPop) continue;
    const std::string_view name = trace.names.View(trace.ranges.name[i]);
    const Interval time{trace.ranges.start[i], trace.ranges.end[i]};
    if (BucketOfRange(name) == Bucket::kInput) loading[trace.ranges.name[i]].push_back(time);
    if (!name.starts_with("Optimizer.step#")) continue;
    auto& [row, times] = by_name[std::string(name)];
    row.updating = true;
    ++row.calls;
    row.longest_ns = std::max(row.longest_ns, time.length());
    times.push_back(time);
  }
  for (auto& [id, ranges] : loading) {
    auto& [row, times] = by_name[std::string(trace.names.View(id))];
    row.loading = true;
    if (row.calls > 0) continue;  // as ranges where there are no operators
    row.calls = static_cast<int64_t>(ranges.size());
    for (const Interval& range : ranges) row.longest_ns = std::max(row.longest_ns, range.length());
    times = Subtract(Union(std::move(ranges)), busy);
  }
  const auto whole = static_cast<double>(std::max<Ns>(1, context.activity.length()));
  std::vector<std::pair<HostProgramRow, IntervalSet>> found;
  for (auto& [name, entry] : by_name) {
    auto& [row, times] = found.emplace_back(std::move(entry.first), Union(std::move(entry.second)));
    row.name = name;
    row.busy_ns = Length(times);
    for (const auto& [call, time] : in_os[name])
      if (time > row.os_call_ns.value_or(0)) {
        row.os_call = trace.names.View(call);
        row.os_call_ns = time;
      }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::tuple(-a.first.busy_ns, a.first.name) < std::tuple(-b.first.busy_ns, b.first.name);
  });
  if (found.size() > kMostRows) found.resize(kMostRows);
  std::vector<HostProgramRow> rows;
  IntervalSet loaded;  // by the rows before
  for (auto& [row, times] : found) {
    row.alone_ns = row.communication ? Length(Subtract(times, busy))
                   : row.loading     ? Length(Subtract(times, loaded))
                                     : row.busy_ns;
    if (row.loading) loaded = Union(loaded, times);
    row.share = static_cast<double>(row.busy_ns) / whole;
    row.alone_share = static_cast<double>(row.alone_ns) / whole;
    rows.push_back(std::move(row));
  }
  return rows;
}

const Family& HostProgramFamily() {
  static const Family family = FamilyOf(HostProgramRelation(), ComputeHostProgram);
  return family;
}

}  // namespace dladvisor
