// SPDX-License-Identifier: Apache-2.0
// Which files are meant: a file, a folder with all that lies below, or a pattern with *, ?, [...] that the
// shell did not expand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace dladvisor {

struct FoundFile {
  std::filesystem::path path;
  bool named = false;  // by the user: it must be readable; of a folder, what is not a profile is passed over
};

// Sorted so that numbers in names count as numbers (rank_2 before rank_10), each file once. "-" is kept as it
// is. Of a folder in which JAX's profiler has written its trace twice, as vm.trace.json.gz and for Perfetto,
// the first counts. Throws Error for what is not there and for a folder or pattern without files.
std::vector<FoundFile> FindFiles(const std::vector<std::string>& arguments);

// Compares names by their digits as numbers, other characters as they are.
bool NaturallyLess(std::string_view a, std::string_view b);

}  // namespace dladvisor
