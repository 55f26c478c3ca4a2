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
  RunRow run;
  run.ranks = run.gpus = 1;
  run.steps = static_cast<int64_t>(steps.size());
  if (!steps.empty()) run.step_source.emplace("ranges");
  GpuRow gpu;
  gpu.name = "NVIDIA A100-SXM4-80GB";
  ProfileRow profile;
  profile.format = "nsys";
  Facts facts;
  facts.Give(StepRelation(), rows)
      .Give(StepLedgerRelation(), ledger)
      .Give(RunRelation(), std::vector{run})
      .Give(GpuRelation(), std::vector{gpu})
      .Give(ProfileRelation(), std::vector{profile});
  return facts;
}

}  // namespace dladvisor::test
