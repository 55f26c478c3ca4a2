#include "src/fleet/profile.h"

#include "engine/base/error.h"
#include "src/importers/importer.h"
#include "src/trace/event_relations.h"

namespace dladvisor {

Database Profile::OpenDatabase() const {
  Database database;
  for (const Table& table : digest.relations) database.Add(table);
  for (const auto& relation : events) database.Add(*relation);
  return database;
}

Profile LoadProfile(const std::filesystem::path& path, const AnalysisOptions& options) {
  Profile profile;
  if (IsDigest(path)) {
    if (options.steps || !options.step_range.empty())
      throw Error(path.string(), "is a digest, whose steps are already chosen",
                  "Give --steps and --step-range to `dladvisor digest` instead.");
    profile.digest = ReadDigest(path);
    return profile;
  }
  profile.trace = std::make_unique<Trace>(ReadProfile(path));
  profile.digest.relations = Analyze(*profile.trace, options);
  profile.events = EventRelations(*profile.trace);
  return profile;
}

}  // namespace dladvisor
