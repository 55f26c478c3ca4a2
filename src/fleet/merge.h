// SPDX-License-Identifier: Apache-2.0
// Many profiles become one: their relations, with ranks and profiles numbered once over all of them, and what
// only shows when ranks are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/analysis/ranks/rank.h"
#include "src/fleet/digest_file.h"

namespace dladvisor {

// Of fleets of more profiles than this only the relations that compare ranks are kept of every profile; the
// others (ops, kernels, gaps, ...) of those that are worth a look.
inline constexpr size_t kMostWithDetails = 16;
bool IsDetail(const std::string& relation);

// The digests of profiles in the order of their numbers; leaves them empty. `identities` get one entry per
// rank that is put together.
Digest MergeDigests(std::vector<Digest>& digests, std::vector<RankIdentity>& identities);

// The same for a digest that stands alone.
std::vector<RankIdentity> IdentitiesOf(const Digest& digest);

// Adds the detail relations of one profile to a fleet that was put together without.
void AppendDetails(const Digest& details, size_t profile, const std::vector<RankRow>& ranks, Digest& merged);

// Adds the relations that need all ranks, in place of what is there of them.
void CompareRanks(Digest& digest, const std::vector<RankIdentity>& identities);

}  // namespace dladvisor
