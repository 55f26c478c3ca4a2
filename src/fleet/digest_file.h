// SPDX-License-Identifier: Apache-2.0
// A digest: the relations that analyses made of a profile, or of several, as one SQLite file. It is what a
// gate keeps as baseline, what nodes keep of their profiles, and what rules can be run on again; it describes
// its own schemas, so that a digest of another version can still be read. Processes of one job send each
// other less (digest_message.h).
//
// Layout: `digest(key, value)` with format_version and generator; `digest_column(relation, position, name,
// type, unit, doc, nullable, capture, key_position)`; `digest_relation(name, position, doc)`; and one table
// `fact_NAME` per relation; `kernel_sequence`, `kernel_sequence_step`, `collective_track` and
// `collective_track_kind`, a row per GPU and per step or kind of it, so that digests of ranks can be put
// together. Same relations, same bytes.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/analysis/digest.h"

namespace dladvisor {

inline constexpr int kDigestFormatVersion = 2;

// The rows of a relation; none where the digest does not have it.
template <class Row>
std::vector<Row> RowsOf(const Digest& digest, const RelationOf<Row>& relation) {
  const Table* table = digest.Find(relation.schema().name);
  return table ? relation.ToRows(*table) : std::vector<Row>();
}

// False for a pipe, of which nothing is then read.
bool IsDigest(const std::filesystem::path& path);
// The digest, where the file is one, of which nothing is then read twice; without the relations `left_out`.
// Throws Error as ReadDigest.
std::optional<Digest> ReadIfDigest(const std::filesystem::path& path,
                                   const std::set<std::string>& left_out = {});
// Throws Error: no digest, damaged, or of a newer format than this program reads.
Digest ReadDigest(const std::filesystem::path& path);
// The same of a digest's bytes; `name` is what errors call it.
Digest ParseDigest(std::string content, const std::string& name, const std::set<std::string>& left_out = {});

}  // namespace dladvisor
