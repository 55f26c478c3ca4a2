// SPDX-License-Identifier: Apache-2.0
// The arguments of a training as its log prints them, and what follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct TrainingSettingRow {
  int64_t profile = 0;
  std::string name, value;
};
const RelationOf<TrainingSettingRow>& TrainingSettingRelation();

std::vector<TrainingSettingRow> ComputeTrainingSettings(const Context& context);

// The names differ between programs; what is not recorded is derived from the rest where possible.
struct TrainingSizes {
  std::optional<int64_t> world_size, tensor_parallel, pipeline_parallel, data_parallel, virtual_stages,
      micro_batch, global_batch, micro_batches, seq_length;
  std::optional<std::string> precision, recompute;
};
TrainingSizes SizesOf(const Trace& trace);

}  // namespace dladvisor
