// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/loader_restart.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "src/analysis/context/operator_tree.h"
#include "src/analysis/family/family.h"

namespace dladvisor {
namespace {

// Workers that are kept are told of the next epoch in a millisecond or two; a process takes longer to start.
constexpr Ns kLeastStart = 5'000'000;
// Of that time those of operators, as for drawing the order of samples, are this part at most.
constexpr double kMostOperating = 0.1;

}  // namespace

bool IsFetchFromWorkers(std::string_view name) {
  return name.starts_with("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.") &&
         name.find("next", name.find('.')) != std::string_view::npos;
}

bool CallsTheApi(const Trace& trace, uint32_t thread, Interval time) {
  const ApiCalls& calls = trace.api_calls;
  auto i = static_cast<size_t>(std::lower_bound(calls.start.begin(), calls.start.end(), time.start) -
                               calls.start.begin());
  for (; i < calls.size() && calls.start[i] < time.end; ++i)
    if (calls.thread[i] == thread) return true;
  return false;
}

const RelationOf<LoaderRestartRow>& LoaderRestartRelation() {
  static const auto relation =
      RelationOf<LoaderRestartRow>("loader_restart",
                                   "Ends of epochs at which a DataLoader ends its workers and starts new "
                                   "ones, in the analysed window.")
          .Key("rank", &LoaderRestartRow::rank, kRankNumber, "Rank.")
          .Column("restarts", &LoaderRestartRow::restarts, Unit::kCount,
                  "Times that a batch was asked for twice with nothing between but what making an iterator "
                  "takes.")
          .Column("ending_ns", &LoaderRestartRow::ending_ns, Unit::kNanoseconds,
                  "Time of the fetches that find the epoch's end, in which the workers end.")
          .Column("starting_ns", &LoaderRestartRow::starting_ns, Unit::kNanoseconds,
                  "Time from there to the next fetch, in which workers are started.")
          .Column("first_ns", &LoaderRestartRow::first_ns, Unit::kNanoseconds,
                  "Time of that fetch, until the first batch of the new workers.")
          .Column("window_share", &LoaderRestartRow::window_share, Unit::kRatio,
                  "The three over the host's time for the analysed window.");
  return relation;
}

std::vector<LoaderRestartRow> ComputeLoaderRestarts(const Context& context) {
  const Trace& trace = context.trace;
  const Ranges& ranges = trace.ranges;
  struct Loader {
    Interval fetch, operators;  // the last of both
    bool fetched = false;
    bool drew = false;  // since: each new iterator draws a seed for its workers
    Ns operating = 0;   // since
  };
  std::map<uint32_t, Loader> loaders;  // by thread
  std::map<int64_t, LoaderRestartRow> by_rank;
  std::vector<bool> is_fetch(trace.names.size());
  for (NameId name = 0; name < trace.names.size(); ++name)
    is_fetch[name] = IsFetchFromWorkers(trace.names.View(name));
  if (std::ranges::find(is_fetch, true) == is_fetch.end()) return {};
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    if (ranges.open[i]) continue;
    if (!is_fetch[ranges.name[i]]) {
      const auto found = loaders.find(ranges.thread[i]);
      if (found == loaders.end() || ranges.start[i] < found->second.fetch.end ||
          trace.names.View(ranges.domain[i]) != kOperatorDomain)
        continue;
      Loader& loader = found->second;
      loader.drew |= trace.names.View(ranges.name[i]) == "aten::random_";
      loader.operating += std::max<Ns>(0, ranges.end[i] - std::max(ranges.start[i], loader.operators.end));
      loader.operators.end = std::max(loader.operators.end, ranges.end[i]);
      continue;
    }
    Loader& loader = loaders[ranges.thread[i]];
    const Interval time{ranges.start[i], ranges.end[i]};
    const Interval between{loader.fetch.end, time.start}, last = loader.fetch;
    const bool follows =
        loader.fetched && loader.drew &&
        static_cast<double>(loader.operating) <= kMostOperating * static_cast<double>(between.length());
    loader = {time, time, true};
    const int64_t rank = context.RankOfThread(ranges.thread[i]);
    if (!follows || rank < 0 || between.length() < kLeastStart ||
        CallsTheApi(trace, ranges.thread[i], between))
      continue;
    const Interval window = context.HostOfSteps(rank);
    if (last.start < window.start || time.end > window.end) continue;
    LoaderRestartRow& row = by_rank[rank];
    row.rank = rank;
    ++row.restarts;
    row.ending_ns += last.length();
    row.starting_ns += between.length();
    row.first_ns += time.length();
  }
  std::vector<LoaderRestartRow> rows;
  for (auto& [rank, row] : by_rank) {
    const Ns window = context.HostOfSteps(rank).length();
    row.window_share = window > 0 ? static_cast<double>(row.ending_ns + row.starting_ns + row.first_ns) /
                                        static_cast<double>(window)
                                  : 0;
    rows.push_back(row);
  }
  return rows;
}

const Family& LoaderRestartFamily() {
  static const Family family = FamilyOf(LoaderRestartRelation(), ComputeLoaderRestarts);
  return family;
}

}  // namespace dladvisor
