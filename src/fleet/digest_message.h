// SPDX-License-Identifier: Apache-2.0
// A digest as processes of one job send it to each other: what merging reads of it and nothing else, in an
// order that both know. A file must describe itself; this need not, and is made and read in a tenth of the
// time.
#pragma once

#include <string>
#include <string_view>

#include "src/fleet/digest_file.h"

namespace dladvisor {

// Appends it. Of the schemas names and types are kept.
void PutDigest(const Digest& digest, std::string& out);

// Takes the one that `in` begins with off it. Throws Error where bytes are missing.
Digest TakeDigest(std::string_view& in);

}  // namespace dladvisor
