// SPDX-License-Identifier: Apache-2.0
#include "src/cli/gate_sides.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "src/fleet/earlier_run.h"
#include "src/fleet/runs.h"
#include "src/gate/judge/judge.h"
#include "src/trace/parallel.h"

namespace dladvisor {
namespace {

// What a candidate has besides its own: the relation of the baseline, and the history of that setting.
struct RunsBefore {
  std::shared_ptr<const Table> baseline;
  const std::vector<HistoryRun>* history = nullptr;
  std::string setting;
};

// Those of one setting, the last first.
Table HistoryTable(const std::vector<HistoryRun>& history, const std::string& setting) {
  std::vector<HistoryRow> rows;
  for (auto run = history.rbegin(); run != history.rend(); ++run) {
    if (run->setting != setting) continue;
    HistoryRow& row = rows.emplace_back();
    static_cast<RunFigures&>(row) = RunFigures::Of([&](const std::string& metric) {
      const auto value = run->values.find(metric);
      return value == run->values.end() ? std::nullopt : std::optional(value->second.value);
    });
    row.age = static_cast<int64_t>(rows.size());
    row.label = run->label;
  }
  return HistoryRelation().ToTable(rows);
}

// A run on which rules are evaluated; its database refers to the profile and the earlier runs.
struct OpenRun {
  Profile profile;
  std::shared_ptr<const Table> baseline, history;
  Database database;
  std::map<std::string, std::string> missing;

  explicit OpenRun(Profile read)
      : profile(std::move(read)), database(profile.OpenDatabase()), missing(profile.MissingRelations()) {}

  void Judge(const KnowledgeBase& knowledge, const RunsBefore& before, GateRun& run) {
    baseline = before.baseline;
    if (before.history && !before.history->empty())
      history = std::make_shared<const Table>(
          HistoryTable(EarlierRuns(*before.history, {&run, 1}), before.setting));
    for (const auto& table : {baseline, history})
      if (table) {
        database.Add(*table);
        missing.erase(table->schema().name);
      }
    AddFindings(knowledge, database, missing, run);
  }
};

std::set<std::string> NotRead(const KnowledgeBase& knowledge) {
  std::set<std::string> names(std::begin(kDrawnByReportsAlone), std::end(kDrawnByReportsAlone));
  for (const Rule& rule : knowledge.rules())
    for (const std::string& read : rule.reads) names.erase(read);
  for (const auto& relation : knowledge.relations())
    for (const std::string& read : relation->reads) names.erase(read);
  return names;
}

// So many digests are judged side by side, and open at a time on each side.
constexpr size_t kMostOpen = 16;

// Runs of one side: those of a few digests stay open, and of the others is kept what a comparison says of
// them.
struct ReadSide {
  std::vector<GateRun> runs;
  std::map<size_t, std::unique_ptr<OpenRun>> open;  // by index into `runs`
  std::map<size_t, RecordedRun> described;          // likewise, of the others
  std::vector<std::string> unreadable;

  // The one whose steps take the median time.
  RecordedRun Middle() const {
    const auto step = [&](size_t i) {
      const RunMean* mean = runs[i].Find("step.time");
      return mean ? mean->mean : 0;
    };
    std::vector<size_t> order(runs.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, step);
    const size_t middle = order[(order.size() - 1) / 2];
    if (const auto known = described.find(middle); known != described.end()) return known->second;
    return DescribeRun(runs[middle], open.at(middle)->database);
  }
};

ReadSide Read(const std::vector<std::string>& arguments, const AnalysisOptions& analysis,
              const KnowledgeBase& knowledge, const RunsBefore& before) {
  ReadSide side;
  std::vector<std::pair<size_t, Profile>> facts;  // of runs without a trace
  const auto describe_all = [&] {
    std::vector<RecordedRun> descriptions(facts.size());
    ParallelFor(facts.size(), [&](size_t i) {
      GateRun& run = side.runs[facts[i].first];
      OpenRun open(std::move(facts[i].second));
      run = MeasureGateRun(run.name, open.database);
      open.Judge(knowledge, before, run);
      descriptions[i] = DescribeRun(run, open.database);
    });
    for (size_t i = 0; i < facts.size(); ++i)
      side.described.emplace(facts[i].first, std::move(descriptions[i]));
    facts.clear();
  };
  const auto take = [&](const std::string& name, Profile profile) {
    const size_t index = side.runs.size();
    GateRun& run = side.runs.emplace_back();
    run.name = name;
    if (!profile.trace) {
      if (facts.size() == kMostOpen) describe_all();
      facts.emplace_back(index, std::move(profile));
      return;
    }
    OpenRun open(std::move(profile));  // of which one fits into memory at a time
    run = MeasureGateRun(name, open.database);
    open.Judge(knowledge, before, run);
    side.described.emplace(index, DescribeRun(run, open.database));
  };
  side.unreadable = LoadRuns(arguments, analysis, take, {}, NotRead(knowledge));
  for (const auto& [index, profile] : facts) side.open[index];
  ParallelFor(facts.size(), [&](size_t i) {
    auto& [index, profile] = facts[i];
    std::unique_ptr<OpenRun>& open = side.open.at(index);
    open = std::make_unique<OpenRun>(std::move(profile));
    side.runs[index] = MeasureGateRun(side.runs[index].name, open->database);
  });
  return side;
}

// Means over the runs that have the metric.
Table BaselineTable(const std::vector<GateRun>& runs) {
  BaselineRow row;
  static_cast<RunFigures&>(row) = RunFigures::Of([&](const std::string& metric) {
    double sum = 0, count = 0;
    for (const GateRun& run : runs)
      if (const RunMean* mean = run.Find(metric)) {
        sum += mean->mean;
        ++count;
      }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  });
  row.runs = static_cast<int64_t>(runs.size());
  return BaselineRelation().ToTable({&row, 1});
}

}  // namespace

GivenRuns ReadGivenRuns(const std::vector<std::string>& baseline, const std::vector<std::string>& candidate,
                        const AnalysisOptions& analysis, const KnowledgeBase& knowledge,
                        const std::vector<HistoryRun>& history) {
  const auto before = std::make_shared<ReadSide>(Read(baseline, analysis, knowledge, {}));
  const RunsBefore earlier = {std::make_shared<const Table>(BaselineTable(before->runs)), &history,
                              before->runs[0].traits.Setting()};
  const auto after = std::make_shared<ReadSide>(Read(candidate, analysis, knowledge, earlier));
  struct Waiting {
    OpenRun* open;
    const RunsBefore* before;
    GateRun* run;
  };
  const RunsBefore nothing;
  std::vector<Waiting> waiting;
  for (const auto& [side, runs_before] : {std::pair(before, &nothing), std::pair(after, &earlier)})
    for (const auto& [index, open] : side->open)
      waiting.push_back({open.get(), runs_before, &side->runs[index]});
  ParallelFor(waiting.size(),
              [&](size_t i) { waiting[i].open->Judge(knowledge, *waiting[i].before, *waiting[i].run); });
  return {before->runs, after->runs, before->unreadable, after->unreadable,
          [before, after, &knowledge] { return CompareRuns(before->Middle(), after->Middle(), knowledge); }};
}

}  // namespace dladvisor
