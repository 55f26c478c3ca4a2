// A digest: the relations that analyses made of a profile, as one SQLite file. It is what a gate keeps as
// baseline, what ranks send each other, and what rules can be run on again; it describes its own schemas, so
// that a digest of another version can still be read.
//
// Layout: `digest(key, value)` with format_version and generator; `digest_column(relation, position, name,
// type, unit, doc, nullable, capture, key_position)`; `digest_relation(name, position, doc)`; and one table
// `fact_NAME` per relation. Same relations, same bytes.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "engine/relation.h"

namespace dladvisor {

inline constexpr int kDigestFormatVersion = 1;

struct Digest {
  std::vector<Table> relations;
};

bool IsDigest(const std::filesystem::path& path);
// Throws Error: no digest, damaged, or of a newer format than this program reads.
Digest ReadDigest(const std::filesystem::path& path);
// Replaces the file atomically. Throws Error.
void WriteDigest(const Digest& digest, const std::filesystem::path& path);

}  // namespace dladvisor
