// SPDX-License-Identifier: Apache-2.0
#include "src/cli/timeline_command.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/output_file.h"
#include "engine/inference/inference.h"
#include "src/timeline/trace_events.h"

namespace dladvisor {
namespace {

struct TimelineOptions {
  ProfileOptions profile;
  std::optional<int64_t> step;
  std::string output;
};

std::vector<int64_t> Integers(const Database& db, const std::string& sql) {
  std::vector<int64_t> values;
  for (const auto& row : db.Query(sql).rows)
    if (const auto number = AsNumber(row[0])) values.push_back(static_cast<int64_t>(*number));
  return values;
}

// Those asked for, else the one that the report draws; none where the profile has no steps.
std::vector<int64_t> ChosenSteps(const TimelineOptions& options, const Database& db) {
  const std::vector<int64_t> all =
      Integers(db, "SELECT DISTINCT step FROM step WHERE warmup = 0 ORDER BY step");
  if (options.step) {
    if (std::ranges::find(all, *options.step) == all.end())
      throw Error(fmt::format("--step {}", *options.step), "is not a steady step of the profile",
                  all.empty() ? "It has none; leave the option out for the analysed time."
                              : fmt::format("Its steady steps are {} to {}.", all.front(), all.back()));
    return {*options.step};
  }
  if (!options.profile.steps.empty()) return all;
  return Integers(
      db,
      "SELECT step FROM typical_step JOIN pacing_gpu USING (rank, device) WHERE step IS NOT NULL ORDER BY "
      "iif((SELECT count(DISTINCT rank) > 1 FROM typical_step), step IS NOT (SELECT worst_step FROM jitter "
      "WHERE cohort = 0), 0), iif((SELECT count(DISTINCT rank) > 1 FROM typical_step), -step_ns, step_ns) "
      "LIMIT 1");
}

// What makes the clock of each rank the common one: that of the profile with the earliest origin.
std::map<int64_t, Ns> Shifts(const Database& db) {
  std::map<int64_t, Ns> shifts;
  for (const auto& row :
       db.Query(
             "WITH origin AS MATERIALIZED (SELECT r.rank, coalesce(c.origin_utc_ns, p.clock_origin_utc_ns) "
             "AS "
             "ns, coalesce(c.offset_ns, 0) AS offset_ns FROM rank r JOIN profile p USING (profile) LEFT JOIN "
             "clock c USING (rank, device)) SELECT rank, coalesce(ns - (SELECT min(ns) FROM origin), 0) + "
             "offset_ns FROM origin")
           .rows)
    shifts.emplace(std::get<int64_t>(row[0]), static_cast<Ns>(AsNumber(row[1]).value_or(0)));
  return shifts;
}

// The steps by when they begin.
TraceEvents::StepsByRank StepsOf(const Database& db, const std::vector<int64_t>& numbers) {
  TraceEvents::StepsByRank steps;
  if (numbers.empty()) return steps;
  for (const auto& row :
       db.Query(fmt::format("SELECT rank, start_ns, step FROM step WHERE warmup = 0 AND step "
                            "BETWEEN {} AND {}",
                            numbers.front(), numbers.back()))
           .rows)
    steps[std::get<int64_t>(row[0])].emplace(std::get<int64_t>(row[1]), std::get<int64_t>(row[2]));
  return steps;
}

// Where the first of the steps begins on the common clock.
Ns OriginOf(const Database& db, const TraceEvents::StepsByRank& steps, const std::map<int64_t, Ns>& shifts) {
  std::map<int64_t, Ns> starts;
  for (const auto& [rank, of_rank] : steps) starts.emplace(rank, of_rank.begin()->first);
  if (steps.empty())
    for (const auto& row : db.Query("SELECT rank, min(step_start_ns) FROM typical_step GROUP BY rank").rows)
      starts.emplace(std::get<int64_t>(row[0]), std::get<int64_t>(row[1]));
  std::optional<Ns> origin;
  for (const auto& [rank, start] : starts) {
    const auto shift = shifts.find(rank);
    const Ns moved = start + (shift == shifts.end() ? 0 : shift->second);
    origin = std::min(origin.value_or(moved), moved);
  }
  return origin.value_or(0);
}

// Whether all collectives are of all ranks.
bool IsOneGroup(const Database& db) {
  return Integers(db,
                  "SELECT count(*) > 0 AND min(size) >= (SELECT count(*) FROM rank) FROM collective_group")
             .at(0) == 1;
}

void RunTimeline(const TimelineOptions& options, const CommonOptions& common) {
  if (!options.output.ends_with(".json") && !options.output.ends_with(".json.gz"))
    throw Error(options.output, "is no name of a trace", "End it in .json.gz or .json.");
  const Project project = LoadProject(common.config);
  const AnalysisOptions analysis = options.profile.ToAnalysisOptions(project);
  Stages stages(common);
  stages.Begin("rules");
  const KnowledgeBase knowledge = LoadConfiguredRules(common, project);
  stages.Begin("read");
  const Profile profile = LoadProfiles(options.profile, analysis, stages);
  if (profile.is_elsewhere) return;
  RefuseToOverwrite(options.output, profile);
  for (const std::string& message : profile.unreadable) fmt::print(stderr, "warning: {}\n", message);
  Database database = profile.OpenDatabase();
  if (Integers(database, "SELECT count(*) FROM gpu").at(0) == 0)
    throw Error(profile.files.at(0), "has no work on a GPU to draw",
                "`dladvisor report` says what the profile holds.");
  const TraceEvents::StepsByRank steps = StepsOf(database, ChosenSteps(options, database));
  const std::map<int64_t, Ns> shifts = Shifts(database);
  TraceEvents events(OriginOf(database, steps, shifts), IsOneGroup(database));
  stages.Begin("events");
  for (const auto& row :
       database
           .Query(
               "SELECT profile, min(rank) FROM rank JOIN profile USING (profile) WHERE duplicate_of IS NULL "
               "GROUP BY profile ORDER BY profile")
           .rows) {
    const auto number = static_cast<size_t>(std::get<int64_t>(row[0]));
    const int64_t rank = std::get<int64_t>(row[1]);
    const auto add = [&](const Profile& one) {
      if (!one.analysed)
        throw Error(one.files.at(0), "is a digest, which holds no events",
                    "Give the profile it was made of.");
      events.Add(one.analysed->Get<Context>(), one.analysed->Get<std::vector<GpuTimeline>>(), steps, rank,
                 shifts);
    };
    if (profile.analysed)
      add(profile);
    else
      add(LoadProfile(profile.files.at(number), analysis));
  }
  stages.Begin("infer");
  events.AddFindings(Infer(knowledge, database, {.absent_relations = profile.MissingRelations()}));
  stages.Begin("write");
  const std::string text = events.Finish();
  WriteFileWhole(options.output, options.output.ends_with(".gz") ? Gzip(text) : text);
  stages.Hide();
  if (!common.quiet) fmt::print("{} written: open it in https://ui.perfetto.dev\n", options.output);
}

}  // namespace

void AddTimelineCommand(CLI::App& app, const CommonOptions& common) {
  auto options = std::make_shared<TimelineOptions>();
  CLI::App* command =
      app.add_subcommand("timeline", "Write steps, idle time and findings as a trace for ui.perfetto.dev");
  options->profile.AddTo(*command);
  options->profile.AddMpiTo(*command);
  command->add_option("--step", options->step,
                      "Number of the step; default: that of median length, or with --steps all of them");
  command->add_option("-o,--output", options->output, "File to write (.json.gz or .json)")
      ->required()
      ->type_name("FILE");
  command->callback([options, &common] { RunTimeline(*options, common); });
}

}  // namespace dladvisor
