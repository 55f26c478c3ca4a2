// SPDX-License-Identifier: Apache-2.0
#include "src/report/sections/claim.h"

#include <algorithm>

#include "src/report/sections/alike_findings.h"
#include "src/report/sections/findings_section.h"

namespace dladvisor {

const Finding& MostSaving(const Advice& advice, size_t root) {
  const Finding* most = &advice.findings[root];
  if (most->saves && most->saves->high_ns) return *most;
  const auto high = [](const Finding& f) { return f.saves ? f.saves->high_ns.value_or(-1) : -1; };
  for (const size_t symptom : advice.findings[root].causes)
    if (const Finding& below = MostSaving(advice, symptom); high(below) > high(*most)) most = &below;
  return *most;
}

Finding Claiming(const Advice& advice, size_t root) {
  const Finding& most = MostSaving(advice, root);
  Finding claim;
  claim.saves = most.saves;
  if (claim.saves && &most != &advice.findings[root]) claim.saves->low_ns = 0;
  return claim;
}

Finding ClaimingOfAlike(const Advice& advice, size_t root) {
  Finding claim = Claiming(advice, root);
  if (claim.saves && claim.saves->low_ns.value_or(0) > 0)
    claim.saves = SavingMostOfAlike(advice, MostSaving(advice, root)).saves;
  return claim;
}

Finding AsRecorded(Finding claim) {
  if (!claim.saves || !IsBehindLosses(*claim.saves)) return claim;
  claim.saves->high_ns = claim.saves->now_ns;
  if (claim.saves->low_ns) claim.saves->low_ns = std::min(*claim.saves->low_ns, *claim.saves->now_ns);
  return claim;
}

}  // namespace dladvisor
