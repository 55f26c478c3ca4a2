// SPDX-License-Identifier: Apache-2.0
// Digests as files, which digest_file.h reads.
#pragma once

#include <filesystem>
#include <string>

#include "src/analysis/digest.h"

namespace dladvisor {

// Throws Error, about `name`, where memory or SQLite's limits do not suffice.
std::string SerializeDigest(const Digest& digest, const std::string& name = "digest");
// Replaces the file atomically, or leaves it as it was and throws Error.
void WriteDigest(const Digest& digest, const std::filesystem::path& path);

}  // namespace dladvisor
