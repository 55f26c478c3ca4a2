// SPDX-License-Identifier: Apache-2.0
// What a file begins with, by which its kind is known.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace dladvisor {

inline constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);

// The first bytes of a file, as many as are there; none of a file that cannot be read.
std::string ReadHead(const std::filesystem::path& path, size_t bytes);

}  // namespace dladvisor
