// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/load_profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "src/analysis/compat/views.h"
#include "src/analysis/context/context.h"
#include "src/analysis/context/varint.h"
#include "src/analysis/families.h"
#include "src/analysis/family/family.h"
#include "src/analysis/ranks/pacing_gpu.h"
#include "src/analysis/ranks/rank.h"
#include "src/analysis/ranks/straggler.h"
#include "src/analysis/summary/profile.h"
#include "src/analysis/timeline/step.h"
#include "src/analysis/timeline/time_ledger.h"
#include "src/analysis/timeline/typical_step.h"
#include "src/events/event_relations.h"
#include "src/fleet/digest_message.h"
#include "src/fleet/earlier_run.h"
#include "src/fleet/find_files.h"
#include "src/fleet/merge.h"
#include "src/importers/importers.h"
#include "src/trace/parallel.h"

namespace dladvisor {

Database Profile::OpenDatabase() const {
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  for (const auto& relation : events) database.Add(*relation);
  for (const Schema* schema : EarlierRunSchemas())
    if (!database.FindRelation(schema->name)) database.Add(std::make_unique<Table>(*schema));
  for (const auto* views : {&NsysViews(), &DlprofViews(), &PytorchViews(), &TracelensViews()})
    for (const View& view : *views) database.AddView(view.name, view.sql);
  return database;
}

std::map<std::string, std::string> Profile::MissingRelations() const {
  std::map<std::string, std::string> missing;
  if (!trace)
    for (const Schema* schema : AllSchemas())
      missing.emplace(schema->name, "one profile alone has, and no digest and no folder of ranks");
  for (const Family* family : AllFamilies())
    if (!family->on_demand) missing.erase(family->schema->name);
  for (const Schema* schema : EarlierRunSchemas()) missing[schema->name] = "a gate alone has";
  return missing;
}

const std::vector<const Schema*>& AllSchemas() {
  static const std::vector<const Schema*> schemas = [] {
    std::vector<const Schema*> facts, on_demand;
    for (const Family* family : AllFamilies())
      (family->on_demand ? on_demand : facts).push_back(family->schema);
    std::vector<const Schema*> all = facts;
    all.insert(all.end(), EventSchemas().begin(), EventSchemas().end());
    all.insert(all.end(), on_demand.begin(), on_demand.end());
    all.insert(all.end(), EarlierRunSchemas().begin(), EarlierRunSchemas().end());
    return all;
  }();
  return schemas;
}

KnowledgeBase EmptyKnowledge() { return KnowledgeBase(AllSchemas(), TimeLedger()); }

namespace {

void RefuseSteps(const std::filesystem::path& digest, const AnalysisOptions& options) {
  if (options.steps || options.whole || !options.step_range.empty() || !options.pipeline.empty())
    throw Error(digest.string(), "is a digest, whose steps and ranges are already chosen",
                "Give --steps, --step-range and --pipeline to `dladvisor digest` instead.");
}

// What the digest does not hold is empty: events, and relations that its version did not know.
void AddEmptyRelations(Digest& digest) {
  for (const Schema* schema : AllSchemas())
    if (!digest.Find(schema->name)) digest.relations.emplace_back(*schema);
}

// The relations of a digest that may be of another version, as this one declares them.
void TakeOurSchemas(Digest& digest) {
  const auto names = [](const Schema& schema) {
    std::vector<std::string> all;
    for (const Column& column : schema.columns) all.push_back(column.name);
    return all;
  };
  for (Table& table : digest.relations)
    if (const Family* family = FindFamily(table.schema().name);
        family && names(table.schema()) != names(*family->schema))
      table = WithSchema(table, *family->schema);
  AddEmptyRelations(digest);
}

EventPlaces PlacesOf(const Context& context) {
  EventPlaces places;
  places.rank_of_process = context.ranks.of_process;
  for (const auto& [rank, steps] : context.steps.by_rank)
    for (const Step& step : steps)
      places.steps[rank].push_back({step.number, step.time.start, step.time.end});
  return places;
}

Profile LoadOne(const std::filesystem::path& path, const AnalysisOptions& options) {
  if (std::optional<Profile> digest = LoadIfDigest(path)) {
    RefuseSteps(path, options);
    return std::move(*digest);
  }
  Profile profile;
  profile.files = {path.string()};
  profile.trace = std::make_unique<Trace>(ReadProfile(path));
  profile.analysed = std::make_unique<AnalysedTrace>(*profile.trace, options);
  profile.digest = profile.analysed->ComputeDigest();
  CompareRanks(profile.digest, IdentitiesOf(profile.digest));
  profile.events = EventRelations(*profile.trace, PlacesOf(profile.analysed->Get<Context>()));
  for (auto& relation : profile.analysed->OnDemandRelations()) profile.events.push_back(std::move(relation));
  return profile;
}

// The facts of one of several files; without details where they are many. Takes them from `known`.
Digest LoadFacts(const std::filesystem::path& path, const AnalysisOptions& options, bool with_details,
                 DigestsByPath& known) {
  Digest digest;
  const auto read_before = known.find(path);
  if (IsDigest(path)) {
    RefuseSteps(path, options);
    digest = read_before == known.end() ? ReadDigest(path) : std::move(read_before->second);
    if (const Table* profiles = digest.Find(ProfileRelation().schema().name);
        profiles && profiles->rows() > 1)
      throw Error(path.string(), "is a digest of several profiles, which cannot be put together with others",
                  "Give the digests of the single profiles, or this one alone.");
  } else {
    digest =
        read_before == known.end() ? Analyze(ReadProfile(path), options) : std::move(read_before->second);
  }
  if (!with_details)
    std::erase_if(digest.relations, [](const Table& table) { return IsDetail(table.schema().name); });
  return digest;
}

// Of many profiles the details are kept of those that a reader will look at: the one that sets the pace, the
// slowest, the fastest and a typical one, stragglers, and the first.
std::vector<size_t> WorthDetails(const Digest& digest) {
  std::vector<int64_t> ranks;
  for (const JitterRow& row : RowsOf(digest, JitterRelation()))
    if (row.cohort == 0) ranks.insert(ranks.end(), {row.max_rank, row.min_rank, row.typical_rank});
  for (const PacingGpuRow& row : RowsOf(digest, PacingGpuRelation())) ranks.push_back(row.rank);
  for (const StragglerRow& row : RowsOf(digest, StragglerRelation())) ranks.push_back(*row.rank);
  std::set<size_t> profiles;
  for (const RankRow& row : RowsOf(digest, RankRelation()))
    if (profiles.empty() || std::ranges::find(ranks, row.rank) != ranks.end())
      profiles.insert(static_cast<size_t>(row.profile));
  return {profiles.begin(), profiles.end()};
}

// Where the step that is worst of all begins on each of its ranks, which have different clocks.
std::vector<int64_t> StartsOfWorstStep(const Digest& digest) {
  std::vector<int64_t> starts;
  for (const JitterRow& row : RowsOf(digest, JitterRelation()))
    if (row.cohort == 0)
      for (const StepRow& step : RowsOf(digest, StepRelation()))
        if (step.step == row.worst_step) starts.push_back(step.start_ns);
  return starts;
}

// Of few profiles, all of which have details: those of the ranks that reports draw (the one that sets the
// pace, over a typical one) which keep no picture of the worst step.
std::vector<size_t> WithoutPicture(const Digest& digest) {
  std::set<size_t> profiles;
  const std::vector<TypicalStepRow> pictures = RowsOf(digest, TypicalStepRelation());
  for (const JitterRow& row : RowsOf(digest, JitterRelation())) {
    if (row.cohort != 0) continue;
    std::set<int64_t> ranks = {row.typical_rank};
    for (const PacingGpuRow& pacing : RowsOf(digest, PacingGpuRelation())) ranks.insert(pacing.rank);
    for (const TypicalStepRow& picture : pictures)
      if (picture.step == row.worst_step) ranks.erase(picture.rank);
    for (const RankRow& rank : RowsOf(digest, RankRelation()))
      if (ranks.contains(rank.rank)) profiles.insert(static_cast<size_t>(rank.profile));
  }
  return {profiles.begin(), profiles.end()};
}

// What became of one of several files.
struct Reading {
  bool is_read = false;
  Digest digest;
  std::string error;  // "" where it was read, or is passed over
};

Reading Read(const FoundFile& file, const AnalysisOptions& options, bool with_details, DigestsByPath& known) {
  Reading reading;
  try {
    reading.digest = LoadFacts(file.path, options, with_details, known);
    reading.is_read = true;
  } catch (const WrongKind& error) {
    if (file.named) reading.error = error.what();
  } catch (const Error& error) {
    reading.error = error.what();
  }
  return reading;
}

// For other processes: is_read, and the digest or the error.
void Put(const Reading& reading, std::string& out) {
  PutVarint(out, reading.is_read);
  if (reading.is_read) return PutDigest(reading.digest, out);
  PutVarint(out, static_cast<int64_t>(reading.error.size()));
  out += reading.error;
}

Reading Take(std::string_view& in) {
  const auto next = [&] {
    VarintReader reader(in, "message");
    const int64_t number = reader.Next();
    in.remove_prefix(reader.position());
    return number;
  };
  Reading reading;
  reading.is_read = next() != 0;
  if (reading.is_read) {
    reading.digest = TakeDigest(in);
  } else {
    const auto length = static_cast<size_t>(next());
    reading.error = in.substr(0, length);
    in.remove_prefix(length);
  }
  return reading;
}

// The files of each process are every size()-th; on all but the first it returns nothing.
std::vector<Reading> ReadAll(const std::vector<FoundFile>& found, const AnalysisOptions& options, Team& team,
                             bool with_details, const std::function<void(size_t, size_t)>& progress,
                             DigestsByPath known) {
  std::vector<size_t> own;
  for (size_t i = team.rank(); i < found.size(); i += team.size()) own.push_back(i);
  std::vector<Reading> readings(found.size());
  std::mutex mutex;
  size_t done = 0;
  ParallelFor(own.size(), [&](size_t i) {
    readings[own[i]] = Read(found[own[i]], options, with_details, known);
    const std::lock_guard lock(mutex);
    ++done;
    if (progress) progress(done, own.size());
  });
  std::string message;
  if (team.rank() > 0)
    for (const size_t i : own) Put(readings[i], message);
  const std::vector<std::string> messages = team.Gather(std::move(message));
  if (team.rank() > 0) return {};
  ParallelFor(messages.size(), [&](size_t process) {
    if (process == 0) return;
    std::string_view in = messages[process];
    for (size_t i = process; i < found.size(); i += team.size()) readings[i] = Take(in);
  });
  return readings;
}

// Puts together what was read. `read` are the numbers in `found` of the files that were.
Profile Merged(const std::vector<FoundFile>& found, std::vector<Reading> readings,
               std::vector<size_t>& read) {
  Profile profile;
  std::vector<Digest> digests;
  for (size_t i = 0; i < found.size(); ++i) {
    if (readings[i].is_read) {
      digests.push_back(std::move(readings[i].digest));
      profile.files.push_back(found[i].path.string());
      read.push_back(i);
    } else if (!readings[i].error.empty()) {
      profile.unreadable.push_back(std::move(readings[i].error));
    }
  }
  if (digests.empty()) {
    if (profile.unreadable.empty())
      throw Error(
          found[0].path.parent_path().string(),
          fmt::format("holds no profile: none of the {} files that it might have is one", found.size()),
          "`dladvisor report --help` says what can be read.");
    throw Error(fmt::format("{} files", found.size()),
                "none can be used; the first: " + profile.unreadable[0]);
  }
  std::vector<RankIdentity> identities;
  profile.digest = MergeDigests(digests, identities);
  CompareRanks(profile.digest, identities);
  return profile;
}

// Files to read once more, for relations that were left out, with the pictures of these steps.
struct SecondLook {
  std::vector<size_t> files;     // their numbers among all
  std::vector<size_t> profiles;  // their numbers in the digest
  std::vector<int64_t> drawn;    // AnalysisOptions::drawn
};

// On the first process, where `read` are the numbers of the files that were.
SecondLook LookAgain(const std::vector<FoundFile>& found, const std::vector<size_t>& read, bool with_details,
                     const Digest& digest) {
  SecondLook look;
  for (const size_t profile : with_details ? WithoutPicture(digest) : WorthDetails(digest)) {
    const FoundFile& file = found[read[profile]];
    if (with_details && IsDigest(file.path)) continue;  // shows what it has
    look.profiles.push_back(profile);
    look.files.push_back(read[profile]);
  }
  if (!look.files.empty()) look.drawn = StartsOfWorstStep(digest);
  return look;
}

// What the other processes need of it.
void Put(const SecondLook& look, std::string& out) {
  PutVarint(out, static_cast<int64_t>(look.files.size()));
  for (const size_t file : look.files) PutVarint(out, static_cast<int64_t>(file));
  for (const int64_t start : look.drawn) PutVarint(out, start);
}

void Take(std::string_view in, SecondLook& look) {
  VarintReader reader(in, "message");
  look.files.resize(static_cast<size_t>(reader.Next()));
  for (size_t& file : look.files) file = static_cast<size_t>(reader.Next());
  look.drawn.clear();
  while (reader.position() < in.size()) look.drawn.push_back(reader.Next());
}

void AddDetails(const std::vector<FoundFile>& found, const SecondLook& look, AnalysisOptions options,
                bool with_details, Team& team, Digest& digest) {
  if (look.files.empty()) return;
  std::vector<FoundFile> chosen;
  for (const size_t file : look.files) chosen.push_back(found[file]);
  options.drawn = look.drawn;
  std::vector<Reading> readings = ReadAll(chosen, options, team, true, {}, {});
  if (team.rank() > 0) return;
  const std::vector<RankRow> ranks = RowsOf(digest, RankRelation());
  for (size_t i = 0; i < chosen.size(); ++i) {
    if (!readings[i].is_read) throw Error(chosen[i].path.string(), "was read, and could not be read again");
    if (with_details)  // it has all but the picture
      std::erase_if(readings[i].digest.relations, [](const Table& table) {
        return IsDetail(table.schema().name) && table.schema().name != TypicalStepRelation().schema().name;
      });
    AppendDetails(readings[i].digest, look.profiles[i], ranks, digest);
  }
}

Profile LoadSeveral(const std::vector<FoundFile>& found, const AnalysisOptions& options, Team& team,
                    const std::function<void(size_t, size_t)>& progress, DigestsByPath known) {
  const bool with_details = found.size() <= kMostWithDetails;
  std::vector<Reading> readings = ReadAll(found, options, team, with_details, progress, std::move(known));
  Profile profile;
  profile.is_elsewhere = team.rank() > 0;
  SecondLook look;
  std::string message;
  try {
    std::vector<size_t> read;
    if (!profile.is_elsewhere) {
      profile = Merged(found, std::move(readings), read);
      look = LookAgain(found, read, with_details, profile.digest);
    }
    Put(look, message);
  } catch (...) {
    team.Share({});  // the others wait for it
    throw;
  }
  message = team.Share(std::move(message));
  if (!message.empty()) Take(message, look);
  AddDetails(found, look, options, with_details, team, profile.digest);
  if (!profile.is_elsewhere) AddEmptyRelations(profile.digest);
  return profile;
}

}  // namespace

std::optional<Profile> LoadIfDigest(const std::filesystem::path& path,
                                    const std::set<std::string>& left_out) {
  if (path == "-") return std::nullopt;
  std::optional<Digest> digest = ReadIfDigest(path, left_out);
  if (!digest) return std::nullopt;
  Profile profile;
  profile.files = {path.string()};
  profile.digest = std::move(*digest);
  TakeOurSchemas(profile.digest);
  return profile;
}

Profile LoadProfile(const std::filesystem::path& path, const AnalysisOptions& options) {
  return LoadOne(path, options);
}

Profile LoadProfiles(const std::vector<std::string>& arguments, const AnalysisOptions& options, Team& team,
                     const std::function<void(size_t, size_t)>& progress, DigestsByPath known) {
  return LoadFoundFiles(FindFiles(arguments), options, team, progress, std::move(known));
}

Profile LoadFoundFiles(const std::vector<FoundFile>& found, const AnalysisOptions& options, Team& team,
                       const std::function<void(size_t, size_t)>& progress, DigestsByPath known) {
  if (found.size() > 1) try {
      return LoadSeveral(found, options, team, progress, std::move(known));
    } catch (...) {
      if (team.rank() > 0) team.Abandon();
      throw;
    }
  if (team.rank() == 0) return LoadOne(found[0].path, options);
  Profile elsewhere;
  elsewhere.is_elsewhere = true;
  return elsewhere;
}

}  // namespace dladvisor
