// SPDX-License-Identifier: Apache-2.0
// By what the file of a digest is known to be one.
#pragma once

#include <cstddef>
#include <string_view>

namespace dladvisor {

// Stands in the header of SQLite files for what they are: "dlad" of a digest.
inline constexpr int kDigestApplicationId = 0x646c6164;
inline constexpr std::string_view kDigestIdBytes = "dlad";
inline constexpr size_t kDigestIdAt = 68;

// Of a table of every digest, and how far from the beginning of the file it stands at most.
inline constexpr std::string_view kDigestTable = "CREATE TABLE digest_relation(name TEXT PRIMARY KEY";
inline constexpr size_t kDigestTableWithin = 256 << 10;

}  // namespace dladvisor
