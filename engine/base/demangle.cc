// SPDX-License-Identifier: Apache-2.0
#include "engine/base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace dladvisor {

std::string Demangled(std::string_view name) {
  std::string text(name);
  if (!IsMangled(name)) return text;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(readable.get()) : text;
}

}  // namespace dladvisor
