// SPDX-License-Identifier: Apache-2.0
// Call chains, which other rows refer to by id (OSRT_CALLCHAINS, SAMPLING_CALLCHAINS): only those that are
// referred to are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

class Chains {
 public:
  Chains(Context& in, std::string_view table) : in_(in), table_(table), present_(in.db.Has(table)) {}

  // The index that the chain will have in what Read() returns; kNoIndex without one.
  uint32_t Index(std::optional<int64_t> id);
  CallChains Read();

 private:
  Context& in_;
  std::string_view table_;
  bool present_;
  std::unordered_map<int64_t, uint32_t> index_;
};

}  // namespace dladvisor::nsys
