// A profile as the commands use it: its facts, and its events where the file still has them.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/database.h"
#include "engine/knowledge_base.h"
#include "src/analysis/analysis.h"
#include "src/fleet/digest.h"
#include "src/trace/trace.h"

namespace dladvisor {

struct Profile {
  Digest digest;
  std::unique_ptr<Trace> trace;                   // null where the file was a digest
  std::vector<std::unique_ptr<Relation>> events;  // views over `trace`

  // A database over the facts and events, which must not outlive this profile.
  Database OpenDatabase() const;
};

// Schemas of all relations that rules and queries may read: facts, then events.
const std::vector<const Schema*>& AllSchemas();

// A knowledge base without rules over all relations, whose rules claim savings from the time ledger.
KnowledgeBase EmptyKnowledge();

// Reads a profile of any format, or a digest, and analyses it. Throws Error.
Profile LoadProfile(const std::filesystem::path& path, const AnalysisOptions& options);

}  // namespace dladvisor
