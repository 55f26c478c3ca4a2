// SPDX-License-Identifier: Apache-2.0
// Files compiled into the program, so that one binary can be copied to a cluster and run anywhere.
// cmake/embed.cmake generates the functions that return them.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace dladvisor {

struct EmbeddedFile {
  std::string_view path;  // relative to the embedded folder, e.g. "compute/mixed-precision-off.yaml"
  std::string_view content;
};

// The content of the file of that path. Throws Error where there is none.
std::string_view FindEmbedded(std::span<const EmbeddedFile> files, std::string_view path);

}  // namespace dladvisor
