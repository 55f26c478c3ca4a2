// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/ops/op_rows.h"

#include "src/analysis/family/numbering.h"
#include "src/capture/capability.h"

namespace dladvisor {

const RelationOf<OpRow>& OpRelation() {
  static const auto relation =
      RelationOf<OpRow>(
          "op", "One row per op: a path of program ranges that launches GPU work, in the analysed window.")
          .Key("rank", &OpRow::rank, kRankNumber, "Rank.")
          .Key("op", &OpRow::op, Unit::kText,
               "Path of the enclosing ranges, e.g. /train_step/forward/linear.")
          .Column("op_type", &OpRow::op_type, Unit::kText, "Kind of op, e.g. linear.")
          .Column("direction", &OpRow::direction, Unit::kText, "fprop or bprop.",
                  capability::kRangesOfGpuWork)
          .Column("calls", &OpRow::calls, Unit::kCount,
                  "Times the op ran; for kernels outside all ranges, executions.")
          .Column("kernels", &OpRow::kernels, Unit::kCount, "Kernel executions.")
          .Column("cpu_ns", &OpRow::cpu_ns, Unit::kNanoseconds, "Host time inside the op's ranges.")
          .Column("min_cpu_ns", &OpRow::min_cpu_ns, Unit::kNanoseconds,
                  "Host time of its shortest call; unknown outside all ranges.", capability::kRangesOfGpuWork)
          .Column("max_cpu_ns", &OpRow::max_cpu_ns, Unit::kNanoseconds,
                  "Host time of its longest call; unknown outside all ranges.", capability::kRangesOfGpuWork)
          .Column(
              "api_ns", &OpRow::api_ns, Unit::kNanoseconds,
              "Host time inside the CUDA calls that its ranges make themselves; unknown outside all ranges.",
              capability::kRangesOfGpuWork)
          .Column(
              "overhead_ns", &OpRow::overhead_ns, Unit::kNanoseconds,
              "Host time outside those calls: what DLProf calls CPU overhead; unknown outside all ranges.",
              capability::kRangesOfGpuWork)
          .Column("gpu_ns", &OpRow::gpu_ns, Unit::kNanoseconds, "Sum of its kernels' durations.")
          .Column("copy_ns", &OpRow::copy_ns, Unit::kNanoseconds, "Sum of its copies' durations.")
          .Column("set_ns", &OpRow::set_ns, Unit::kNanoseconds, "Sum of its memory sets' durations.")
          .Column("busy_ns", &OpRow::busy_ns, Unit::kNanoseconds,
                  "Time in which any of its kernels, copies and sets ran: what DLProf calls GPU time.")
          .Column("of_framework", &OpRow::of_framework, Unit::kNone,
                  "1 for an operator of the framework, or a graph that it has compiled, 0 for another range; "
                  "unknown where no operators were "
                  "recorded, and for kernels outside all ranges.")
          .Column("tensor_core_eligible", &OpRow::tensor_core_eligible, Unit::kNone,
                  "1 where it is matrix work by type or kernels, and so could use tensor cores.")
          .Column("uses_tensor_cores", &OpRow::uses_tensor_cores, Unit::kNone,
                  "1 where one of its kernels does; unknown where a kernel's name does not show it.")
          .Column("tensor_core_ns", &OpRow::tensor_core_ns, Unit::kNanoseconds,
                  "Time of its kernels on tensor cores.")
          .Column("half", &OpRow::half, Unit::kNone,
                  "1 where it works on FP16, BF16, FP8 or INT8; unknown without kernels.")
          .Column("precision", &OpRow::precision, Unit::kText,
                  "Precision of most of its kernel time, as far as names show it.")
          .Column("data_type", &OpRow::data_type, Unit::kText,
                  "Element type of its first tensor, from DLProf markers.")
          .Column("shapes", &OpRow::shapes, Unit::kText,
                  "Shapes of its tensors in the first call, from DLProf markers.")
          .Column("stack", &OpRow::stack, Unit::kText, "Source lines of its first call, from DLProf markers.")
          .Column("inherited_share", &OpRow::inherited_share, Unit::kRatio,
                  "Share of its kernels launched by a thread without ranges, whose op is that of the waiting "
                  "thread.");
  return relation;
}

const RelationOf<OpTypeRow>& OpTypeRelation() {
  static const auto relation =
      RelationOf<OpTypeRow>("op_type", "Ops summed by type.")
          .Key("rank", &OpTypeRow::rank, kRankNumber, "Rank.")
          .Key("op_type", &OpTypeRow::op_type, Unit::kText, "Kind of op.")
          .Column("ops", &OpTypeRow::ops, Unit::kCount, "Ops of this type.")
          .Column("calls", &OpTypeRow::calls, Unit::kCount, "Calls of those ops.")
          .Column("kernels", &OpTypeRow::kernels, Unit::kCount, "Kernel executions.")
          .Column("cpu_ns", &OpTypeRow::cpu_ns, Unit::kNanoseconds, "Host time inside those ops.")
          .Column("gpu_ns", &OpTypeRow::gpu_ns, Unit::kNanoseconds, "Sum of their kernels' durations.")
          .Column("tensor_core_eligible", &OpTypeRow::tensor_core_eligible, Unit::kNone,
                  "1 where one of them is eligible.")
          .Column("uses_tensor_cores", &OpTypeRow::uses_tensor_cores, Unit::kNone,
                  "1 where one of them uses tensor cores.")
          .Column("busy_ns", &OpTypeRow::busy_ns, Unit::kNanoseconds, "Sum of the ops' busy times.")
          .Column("tensor_core_ns", &OpTypeRow::tensor_core_ns, Unit::kNanoseconds,
                  "Time of their kernels on tensor cores.");
  return relation;
}

const RelationOf<GroupOpRow>& GroupOpRelation() {
  static const auto relation =
      RelationOf<GroupOpRow>("group_op", "Ops summed by every prefix of their path.")
          .Key("rank", &GroupOpRow::rank, kRankNumber, "Rank.")
          .Key("op_group", &GroupOpRow::op_group, Unit::kText, "Prefix of op paths, e.g. /train_step/.")
          .Column("ops", &GroupOpRow::ops, Unit::kCount, "Ops below the prefix.")
          .Column("calls", &GroupOpRow::calls, Unit::kCount, "Calls of those ops.")
          .Column("eligible_ops", &GroupOpRow::eligible_ops, Unit::kCount, "Ops that could use tensor cores.")
          .Column("tensor_core_ops", &GroupOpRow::tensor_core_ops, Unit::kCount, "Ops that use tensor cores.")
          .Column("cpu_ns", &GroupOpRow::cpu_ns, Unit::kNanoseconds, "Host time inside those ops.")
          .Column("gpu_ns", &GroupOpRow::gpu_ns, Unit::kNanoseconds, "Sum of their kernels' durations.")
          .Column("busy_ns", &GroupOpRow::busy_ns, Unit::kNanoseconds, "Sum of the ops' busy times.");
  return relation;
}

}  // namespace dladvisor
