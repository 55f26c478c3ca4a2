// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/step_ledger.h"

#include "src/analysis/family/family.h"

namespace dladvisor {

const RelationOf<StepLedgerRow>& StepLedgerRelation() {
  static const auto relation =
      RelationOf<StepLedgerRow>(
          "step_ledger",
          "Wall time of each steady step in exclusive buckets, which sum to it; buckets "
          "without time are left out.")
          .Key("rank", &StepLedgerRow::rank, kRankNumber, "Rank.")
          .Key("device", &StepLedgerRow::device, Unit::kNone, "CUDA device ordinal.")
          .Key("step", &StepLedgerRow::step, kStepNumber, "Number of the step.")
          .Key("bucket", &StepLedgerRow::bucket, Unit::kText, "Bucket, as in time_ledger.")
          .Column("ns", &StepLedgerRow::ns, Unit::kNanoseconds, "Time in the bucket.")
          .Column("share", &StepLedgerRow::share, Unit::kRatio, "Of the step.");
  return relation;
}

std::vector<StepLedgerRow> ComputeStepLedger(const Context& context,
                                             const std::vector<GpuTimeline>& timelines) {
  std::vector<StepLedgerRow> rows;
  for (size_t gpu = 0; gpu < timelines.size(); ++gpu)
    for (const StepLedger& step : timelines[gpu].steps)
      for (size_t b = 0; b < kBuckets; ++b) {
        if (step.ledger[b] == 0) continue;
        StepLedgerRow& row = rows.emplace_back();
        row.rank = context.ranks.gpus[gpu].rank;
        row.device = context.trace.devices[context.ranks.gpus[gpu].device].ordinal;
        row.step = step.number;
        row.bucket = BucketName(static_cast<Bucket>(b));
        row.ns = step.ledger[b];
        row.share = static_cast<double>(row.ns) / static_cast<double>(step.time.length());
      }
  return rows;
}

const Family& StepLedgerFamily() {
  static const Family family = FamilyOf(StepLedgerRelation(), ComputeStepLedger).Detail();
  return family;
}

}  // namespace dladvisor
