// SPDX-License-Identifier: Apache-2.0
#include "src/importers/bytes/whole_text.h"

#include "engine/base/error.h"

namespace dladvisor {

std::string WholeText(ByteSource& source) {
  constexpr size_t kPiece = size_t{1} << 20, kMost = size_t{1} << 28;
  std::string text;
  for (size_t read = kPiece; read == kPiece;) {
    const size_t at = text.size();
    if (at >= kMost)
      throw Error(source.name(), "larger than 256 MiB, which no single document of its format is");
    text.resize(at + kPiece);
    read = source.Read(text.data() + at, kPiece);
    text.resize(at + read);
  }
  std::erase(text, '\0');  // holes
  return text;
}

}  // namespace dladvisor
