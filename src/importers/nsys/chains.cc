// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/chains.h"

#include <algorithm>
#include <string>
#include <vector>

namespace dladvisor::nsys {

uint32_t Chains::Index(std::optional<int64_t> id) {
  if (!id || !present_) return kNoIndex;
  return index_.try_emplace(*id, static_cast<uint32_t>(index_.size())).first->second;
}

CallChains Chains::Read() {
  if (index_.empty()) return {};
  struct Frame {
    uint32_t chain;
    int64_t depth;
    NameId symbol;
  };
  std::vector<Frame> frames;
  // An address says nothing, the library it is in may; of the driver's compiler it does.
  const auto is_address = [](std::string_view symbol) { return symbol.starts_with("0x"); };
  Rows rows(in_.db, table_, {"id", "stackDepth", "symbol", "module"});
  while (rows.Next()) {
    const auto id = rows.Integer(0);
    const auto used = id ? index_.find(*id) : index_.end();
    if (used == index_.end()) continue;
    NameId symbol = in_.names.Of(rows, 2);
    if (is_address(in_.trace.names.View(symbol))) {
      const std::string_view module = in_.names.Text(rows.Integer(3, -1));
      if (module.find(kPtxCompiler) != std::string_view::npos)
        symbol = in_.trace.names.Intern(kPtxCompiler);
      else if (const std::string_view file = module.substr(module.rfind('/') + 1);
               file.starts_with("lib") && file.find(".so") != std::string_view::npos)
        symbol = in_.trace.names.Intern(std::string("[").append(file).append("]"));
    }
    frames.push_back({used->second, rows.Integer(1, 0), symbol});
  }
  in_.trace.health.rows_read[std::string(table_)] += rows.count();
  std::stable_sort(frames.begin(), frames.end(), [](const Frame& a, const Frame& b) {
    return a.chain != b.chain ? a.chain < b.chain : a.depth < b.depth;
  });
  CallChains chains(index_.size());
  for (const Frame& frame : frames) chains[frame.chain].push_back(frame.symbol);
  return chains;
}

}  // namespace dladvisor::nsys
