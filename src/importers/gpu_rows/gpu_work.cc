// SPDX-License-Identifier: Apache-2.0
#include "src/importers/gpu_rows/gpu_work.h"

#include <algorithm>
#include <cstddef>

namespace dladvisor::gpu_rows {
namespace {

// The last part of a name that the linker has: "_ZN7cutlass6KernelI..." -> "Kernel"; "" where it is none.
std::string_view LastPartOfMangled(std::string_view name) {
  if (!name.starts_with("_Z")) return "";
  const bool is_nested = name.starts_with("_ZN");
  std::string_view part;
  for (size_t at = is_nested ? 3 : 2; at < name.size() && name[at] >= '0' && name[at] <= '9';) {
    size_t length = 0;
    for (; at < name.size() && name[at] >= '0' && name[at] <= '9'; ++at)
      length = std::min(10 * length + static_cast<size_t>(name[at] - '0'), name.size());
    if (length > name.size() - at) break;
    part = name.substr(at, length);
    at += length;
    if (!is_nested) break;
  }
  return part;
}

}  // namespace

std::string_view ShortNameOf(std::string_view name) {
  if (const std::string_view part = LastPartOfMangled(name); !part.empty()) return part;
  size_t end = name.size(), begin = 0;
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' && depth == 0 && name.substr(i).starts_with("(anonymous namespace)")) {
      i += 20;
      continue;
    }
    if ((c == '<' || c == '(') && depth == 0 && i > begin) {
      end = i;
      if (c == '(' || name.find("::", i) == std::string_view::npos) break;
      // The arguments of an enclosing class: what follows them names the kernel.
      int level = 0;
      size_t close = i;
      for (; close < name.size(); ++close) {
        level += (name[close] == '<') - (name[close] == '>' && name[close - 1] != '-');
        if (level == 0) break;
      }
      if (close + 2 >= name.size() || name.substr(close + 1, 2) != "::") break;
      i = close;
      end = name.size();
      continue;
    }
    if (c == ' ' || c == ':') begin = i + 1;
  }
  return begin < end ? name.substr(begin, end - begin) : name;
}

int64_t Product(const std::array<int64_t, 3>& d) {  // CUDA's limits: 2^31, 2^16, 2^16
  return std::clamp<int64_t>(d[0], 0, int64_t{1} << 31) * std::clamp<int64_t>(d[1], 0, 1 << 16) *
         std::clamp<int64_t>(d[2], 0, 1 << 15);
}

}  // namespace dladvisor::gpu_rows
