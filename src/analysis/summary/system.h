// SPDX-License-Identifier: Apache-2.0
// The system that was profiled: DLProf's System Configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct SystemRow {
  int64_t profile = 0;
  std::optional<std::string> host, cpu_model;
  std::optional<int64_t> cpu_cores, gpu_count, gpus_listed, world_size;
  std::optional<std::string> distributed_backend, gpu_names, driver_version, cuda_version, cudnn_version,
      framework, framework_name, vendor, os, profiler, command;
};
const RelationOf<SystemRow>& SystemRelation();
SystemRow ComputeSystem(const Context& context);

}  // namespace dladvisor
