#include "src/fleet/profile.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "src/analysis/across_ranks.h"
#include "src/analysis/op_call.h"
#include "src/analysis/profiler_relations.h"
#include "src/analysis/range_work.h"
#include "src/analysis/time_ledger.h"
#include "src/analysis/views.h"
#include "src/importers/importer.h"
#include "src/trace/event_relations.h"

namespace dladvisor {

Database Profile::OpenDatabase() const {
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  for (const auto& relation : events) database.Add(*relation);
  for (const auto* views : {&NsysViews(), &DlprofViews(), &PytorchViews()})
    for (const View& view : *views) database.AddView(view.name, view.sql);
  return database;
}

const std::vector<const Schema*>& AllSchemas() {
  static const std::vector<const Schema*> schemas = [] {
    static const Trace no_trace;
    static const auto events = EventRelations(no_trace);
    static const auto op_calls = OpCallRelations(no_trace, {});
    std::vector<const Schema*> all = FactSchemas();
    for (const Schema* schema : AcrossRanksSchemas()) all.push_back(schema);
    static const auto of_profilers = ProfilerRelations(no_trace, {});
    for (const auto* relations : {&events, &op_calls, &of_profilers})
      for (const auto& relation : *relations) all.push_back(&relation->schema());
    static const auto range_work = RangeWorkRelation(no_trace);
    all.push_back(&range_work->schema());
    return all;
  }();
  return schemas;
}

KnowledgeBase EmptyKnowledge() { return KnowledgeBase(AllSchemas(), TimeLedger()); }

Profile LoadProfile(const std::filesystem::path& path, const AnalysisOptions& options) {
  Profile profile;
  if (IsDigest(path)) {
    if (options.steps || !options.step_range.empty())
      throw Error(path.string(), "is a digest, whose steps are already chosen",
                  "Give --steps and --step-range to `dladvisor digest` instead.");
    profile.digest = ReadDigest(path);
    // What the digest does not hold is empty: events, and relations that its version did not know.
    for (const Schema* schema : AllSchemas())
      if (std::none_of(profile.digest.relations.begin(), profile.digest.relations.end(),
                       [&](const Table& table) { return table.schema().name == schema->name; }))
        profile.digest.relations.emplace_back(*schema);
    return profile;
  }
  profile.trace = std::make_unique<Trace>(ReadProfile(path));
  profile.digest.relations = Analyze(*profile.trace, options);
  for (Table& table : AnalyzeAcrossRanks(FleetFacts(profile.digest.relations)))
    profile.digest.relations.push_back(std::move(table));
  profile.events = EventRelations(*profile.trace);
  for (auto& relation : OpCallRelations(*profile.trace, options))
    profile.events.push_back(std::move(relation));
  profile.events.push_back(RangeWorkRelation(*profile.trace));
  for (auto& relation : ProfilerRelations(*profile.trace, options))
    profile.events.push_back(std::move(relation));
  return profile;
}

}  // namespace dladvisor
