// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/passes.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>

namespace dladvisor {

PassKind PassOf(std::string_view name) {
  static const RE2 forward(R"((?i)(?:## )?(?:forward|fwd)(?:[ _-]?pass)?(?: ##)?)"),
      backward(R"((?i)(?:## )?(?:backward|bwd)(?:[ _-]?pass)?(?: ##)?)"),
      update(R"((?i)(?:## )?(?:optimi[sz]er|optim)(?:[ _.-]?step)?(?: ##)?)");
  const re2::StringPiece text(name.data(), name.size());
  return RE2::FullMatch(text, forward)    ? PassKind::kForward
         : RE2::FullMatch(text, backward) ? PassKind::kBackward
         : RE2::FullMatch(text, update)   ? PassKind::kUpdate
                                          : PassKind::kNone;
}

std::vector<StepRange> BetweenPasses(const std::vector<std::pair<PassKind, Interval>>& passes) {
  const bool updates =
      std::ranges::any_of(passes, [](const auto& pass) { return pass.first == PassKind::kUpdate; });
  std::vector<StepRange> between;
  std::optional<Ns> begin;
  bool complete = false;
  const auto end = [&](Ns time) {
    if (begin && complete) between.push_back({static_cast<int64_t>(between.size()), {*begin, time}});
    if (complete) begin.reset();
    complete = false;
  };
  for (const auto& [pass, time] : passes) {
    if (pass == PassKind::kForward) {
      end(time.start);
      if (!begin) begin = time.start;
    }
    complete = complete || (begin && pass == (updates ? PassKind::kUpdate : PassKind::kBackward));
  }
  if (!passes.empty()) end(passes.back().second.end);
  return between;
}

}  // namespace dladvisor
