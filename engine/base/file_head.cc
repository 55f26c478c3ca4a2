// SPDX-License-Identifier: Apache-2.0
#include "engine/base/file_head.h"

#include <fstream>

namespace dladvisor {

std::string ReadHead(const std::filesystem::path& path, size_t bytes) {
  std::ifstream in;
  in.rdbuf()->pubsetbuf(nullptr, 0);  // which would be filled
  in.open(path, std::ios::binary);
  std::string head(bytes, '\0');
  in.read(head.data(), static_cast<std::streamsize>(bytes));
  head.resize(static_cast<size_t>(in.gcount()));
  return head;
}

}  // namespace dladvisor
