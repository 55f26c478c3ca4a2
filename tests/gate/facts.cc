// SPDX-License-Identifier: Apache-2.0
#include "tests/gate/facts.h"

namespace dladvisor::test {

Facts RunOf(const std::vector<int64_t>& steps) {
  std::vector<StepRow> rows;
  std::vector<StepLedgerRow> ledger;
  for (size_t i = 0; i < steps.size(); ++i) {
    StepRow& row = rows.emplace_back();
    row.step = static_cast<int64_t>(i);
    row.duration_ns = steps[i];
    ledger.push_back({0, 0, row.step, "compute/other", steps[i], 1});
  }
  std::vector<RunRow> runs(1);
  RunRow& run = runs[0];
  run.ranks = run.gpus = 1;
  run.steps = static_cast<int64_t>(steps.size());
  if (!steps.empty()) run.step_source = "ranges";
  std::vector<GpuRow> gpus(1);
  gpus[0].name = "NVIDIA A100-SXM4-80GB";
  std::vector<ProfileRow> profiles(1);
  profiles[0].format = "nsys";
  Facts facts;
  facts.Give(StepRelation(), rows)
      .Give(StepLedgerRelation(), ledger)
      .Give(RunRelation(), runs)
      .Give(GpuRelation(), gpus)
      .Give(ProfileRelation(), profiles);
  return facts;
}

}  // namespace dladvisor::test
