// SPDX-License-Identifier: Apache-2.0
#include "src/fleet/earlier_run.h"

#include <utility>

namespace dladvisor {
namespace {

template <class Row>
RelationOf<Row> WithFigures(RelationOf<Row> relation) {
  const auto add = [&](const char* name, std::optional<double> RunFigures::*figure, Unit unit,
                       const char* doc) {
    relation.Column(name, static_cast<std::optional<double> Row::*>(figure), unit, doc);
  };
  add("step_ns", &RunFigures::step_ns, Unit::kNanoseconds,
      "Mean of the steady steps of the rank that sets the pace, or of a log's iterations.");
  add("gpu_utilization", &RunFigures::gpu_utilization, Unit::kRatio, "As in run.");
  add("tensor_core_efficiency", &RunFigures::tensor_core_efficiency, Unit::kRatio, "As in run.");
  add("mfu", &RunFigures::mfu, Unit::kRatio, "As in run.");
  add("kernel_efficiency", &RunFigures::kernel_efficiency, Unit::kRatio,
      "Least time of operators of known work on their GPUs by the time that they took.");
  add("peak_bytes", &RunFigures::peak_bytes, Unit::kBytes, "Peak memory of the GPU that holds most.");
  add("exposed_communication_ns", &RunFigures::exposed_communication_ns, Unit::kNanoseconds,
      "Exposed communication per step, mean over GPUs.");
  add("samples_per_second", &RunFigures::samples_per_second, Unit::kNone, "As in run.");
  return relation;
}

}  // namespace

RunFigures RunFigures::Of(const std::function<std::optional<double>(const std::string& metric)>& value) {
  return {value("step.time"),
          value("gpu.utilization"),
          value("tensor_core.efficiency"),
          value("run.mfu"),
          value("kernel.efficiency"),
          value("memory.peak"),
          value("communication.exposed"),
          value("throughput")};
}

const RelationOf<BaselineRow>& BaselineRelation() {
  static const RelationOf<BaselineRow> relation =
      WithFigures(RelationOf<BaselineRow>(
                      "baseline",
                      "The baseline of a gate: one row of means over its runs; rules that read it are "
                      "unknown elsewhere, and on the baseline itself.")
                      .Column("runs", &BaselineRow::runs, Unit::kCount, "Runs of the baseline."));
  return relation;
}

const RelationOf<HistoryRow>& HistoryRelation() {
  static const RelationOf<HistoryRow> relation = WithFigures(
      RelationOf<HistoryRow>("history",
                             "Runs of a gate's --history on as many of the same GPUs, the last first; rules "
                             "that read it are unknown elsewhere, and on the baseline.")
          .Key("age", &HistoryRow::age, Unit::kNone, "1 of the last run, 2 of the one before.")
          .Column("label", &HistoryRow::label, Unit::kText, "What --label called it."));
  return relation;
}

const std::vector<const Schema*>& EarlierRunSchemas() {
  static const std::vector<const Schema*> schemas = {&BaselineRelation().schema(),
                                                     &HistoryRelation().schema()};
  return schemas;
}

}  // namespace dladvisor
