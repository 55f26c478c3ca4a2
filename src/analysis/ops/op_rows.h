// SPDX-License-Identifier: Apache-2.0
// The relations op, op_type and group_op; op.h computes their rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/store/relation.h"

namespace dladvisor {

struct OpRow {
  int64_t rank = 0;
  std::string op, op_type;
  std::optional<std::string> direction;
  int64_t calls = 0, kernels = 0, cpu_ns = 0, gpu_ns = 0, copy_ns = 0, set_ns = 0, busy_ns = 0;
  std::optional<int64_t> min_cpu_ns, max_cpu_ns, api_ns, overhead_ns;
  std::optional<bool> of_framework;
  bool tensor_core_eligible = false;
  std::optional<bool> uses_tensor_cores;
  int64_t tensor_core_ns = 0;
  std::optional<bool> half;
  std::optional<std::string> precision, data_type, shapes, stack;
  double inherited_share = 0;
};
const RelationOf<OpRow>& OpRelation();

struct OpTypeRow {
  int64_t rank = 0;
  std::string op_type;
  int64_t ops = 0, calls = 0, kernels = 0, cpu_ns = 0, gpu_ns = 0, busy_ns = 0;
  bool tensor_core_eligible = false;
  std::optional<bool> uses_tensor_cores;
  int64_t tensor_core_ns = 0;
};
const RelationOf<OpTypeRow>& OpTypeRelation();

struct GroupOpRow {
  int64_t rank = 0;
  std::string op_group;
  int64_t ops = 0, calls = 0, eligible_ops = 0, tensor_core_ops = 0, cpu_ns = 0, gpu_ns = 0, busy_ns = 0;
};
const RelationOf<GroupOpRow>& GroupOpRelation();

}  // namespace dladvisor
