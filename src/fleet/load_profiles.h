// SPDX-License-Identifier: Apache-2.0
// Profiles as the commands use them: their facts, and their events where one file alone was read.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/rules/knowledge_base.h"
#include "engine/store/database.h"
#include "src/analysis/analysis.h"
#include "src/fleet/digest_file.h"
#include "src/fleet/find_files.h"
#include "src/fleet/team.h"
#include "src/trace/trace.h"

namespace dladvisor {

struct Profile {
  Digest digest;
  std::unique_ptr<Trace> trace;             // null where there are several files, or the file was a digest
  std::unique_ptr<AnalysedTrace> analysed;  // of `trace`, and null like it
  std::vector<std::unique_ptr<Relation>> events;  // views over both
  std::vector<std::string> files;                 // that were read, in the order of their numbers
  std::vector<std::string> unreadable;            // one message for each of several files that could not be
  bool is_elsewhere = false;  // on all processes of a team but the first, which have nothing more to do

  // A database over the facts and events, which must not outlive this profile.
  Database OpenDatabase() const;
  // Relations that it does not hold, such as those of events of a digest, and who has them: what reads them
  // sees no row.
  std::map<std::string, std::string> MissingRelations() const;
};

// Schemas of all relations that rules and queries may read: facts, then events.
const std::vector<const Schema*>& AllSchemas();

// A knowledge base without rules over all relations, whose rules claim savings from the time ledger.
KnowledgeBase EmptyKnowledge();

// Reads the file, once, where it is a digest; the relations `left_out` have no rows then. Throws Error.
std::optional<Profile> LoadIfDigest(const std::filesystem::path& path,
                                    const std::set<std::string>& left_out = {});

// Reads one profile of any format, or a digest, and analyses it. Throws Error.
Profile LoadProfile(const std::filesystem::path& path, const AnalysisOptions& options);

// What has been read of some files.
using DigestsByPath = std::map<std::filesystem::path, Digest>;

// Reads profiles of any format, and digests: files, folders and patterns (see find_files.h), and puts them
// together. `progress` is called with the number of files done and of all files, from any thread, one call at
// a time. The processes of a team each read their share; what comes out does not depend on how many they are.
// Throws Error where there is no file, a named one is unreadable and the only one, or none can be used. Files
// in `known` are not read again.
Profile LoadProfiles(const std::vector<std::string>& arguments, const AnalysisOptions& options, Team& team,
                     const std::function<void(size_t, size_t)>& progress = {}, DigestsByPath known = {});

// The same for files that have been found already.
Profile LoadFoundFiles(const std::vector<FoundFile>& found, const AnalysisOptions& options, Team& team,
                       const std::function<void(size_t, size_t)>& progress = {}, DigestsByPath known = {});

}  // namespace dladvisor
