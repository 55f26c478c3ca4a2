// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/token_passes.h"

#include <string_view>
#include <unordered_map>

namespace dladvisor {
namespace {

enum class Part : uint8_t { kOther, kLookUp, kProduct, kChoice };

Part PartOf(std::string_view op) {
  static const std::unordered_map<std::string_view, Part> parts = {
      {"aten::embedding", Part::kLookUp}, {"aten::mm", Part::kProduct},
      {"aten::addmm", Part::kProduct},    {"aten::bmm", Part::kProduct},
      {"aten::baddbmm", Part::kProduct},  {"aten::linear", Part::kProduct},
      {"aten::matmul", Part::kProduct},   {"aten::_scaled_mm", Part::kProduct},
      {"aten::argmax", Part::kChoice},    {"aten::multinomial", Part::kChoice},
  };
  const auto found = parts.find(op);
  return found == parts.end() ? Part::kOther : found->second;
}

// What a thread has done since its pass began.
struct Open {
  Ns begin = 0;
  bool looked_up = false, multiplied = false, chose = false;
};

}  // namespace

std::map<uint32_t, std::vector<StepRange>> TokenPasses(const Trace& trace) {
  const Ranges& ranges = trace.ranges;
  std::unordered_map<NameId, Part> parts;
  std::map<uint32_t, Open> open;
  std::map<uint32_t, std::vector<StepRange>> passes;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.open[i] || ranges.thread[i] == kNoIndex) continue;
    const auto [known, is_new] = parts.try_emplace(ranges.name[i], Part::kOther);
    if (is_new) known->second = PartOf(trace.names.View(ranges.name[i]));
    if (known->second == Part::kOther) continue;
    Open& pass = open[ranges.thread[i]];
    pass.multiplied = pass.multiplied || known->second == Part::kProduct;
    pass.chose = pass.chose || (known->second == Part::kChoice && pass.multiplied);
    if (known->second != Part::kLookUp || (pass.looked_up && !pass.chose)) continue;
    if (pass.looked_up) {
      auto& list = passes[ranges.thread[i]];
      list.push_back({static_cast<int64_t>(list.size()), {pass.begin, ranges.start[i]}});
    }
    pass = {.begin = ranges.start[i], .looked_up = true};
  }
  return passes;
}

}  // namespace dladvisor
