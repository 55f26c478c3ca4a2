// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace dladvisor::test {

// Pages keep numbers and units together; tests look for them with the space that other formats have.
inline std::string PlainSpaces(std::string text) {
  for (size_t at = 0; (at = text.find("\u00A0", at)) != std::string::npos;) text.replace(at, 2, " ");
  return text;
}

}  // namespace dladvisor::test
