// SPDX-License-Identifier: Apache-2.0
// Output files are whole or absent: written aside, synced, then renamed over the target.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace dladvisor {

// Replaces `path` with `content` atomically. Throws Error naming the path; leaves nothing behind then.
void WriteFileWhole(const std::filesystem::path& path, std::string_view content);

// The content of a file, or "" where it cannot be read.
std::string ReadWhole(const std::filesystem::path& path);

}  // namespace dladvisor
