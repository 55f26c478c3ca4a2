// SPDX-License-Identifier: Apache-2.0
#include "engine/base/embedded.h"

#include <algorithm>
#include <string>

#include "engine/base/error.h"

namespace dladvisor {

std::string_view FindEmbedded(std::span<const EmbeddedFile> files, std::string_view path) {
  const auto found = std::ranges::find(files, path, &EmbeddedFile::path);
  if (found == files.end())
    throw Error(std::string(path), "is not compiled into the program", "Build it again.");
  return found->content;
}

}  // namespace dladvisor
