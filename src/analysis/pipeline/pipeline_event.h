// SPDX-License-Identifier: Apache-2.0
// Forward, backward, weight-gradient and optimizer passes of pipeline parallelism on each rank: from the
// program's ranges to the kernels launched in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"
#include "src/analysis/family/values.h"

namespace dladvisor {

struct PipelineEventRow {
  int64_t rank = 0, event = 0, device = 0;
  std::optional<int64_t> step;
  bool warmup = false;
  std::string phase;
  std::optional<int64_t> chunk, micro_batch, slice;
  int64_t host_start_ns = 0, host_end_ns = 0;
  std::optional<int64_t> start_ns, end_ns;
  int64_t kernels = 0, kernel_ns = 0, communications = 0, communication_ns = 0;
};
const RelationOf<PipelineEventRow>& PipelineEventRelation();

struct PipelineCaptureRow {
  int64_t rank = 0, forwards = 0, backwards = 0, weights = 0, optimizers = 0, empty_passes = 0;
  int64_t kernels = 0, kernel_ns = 0, outside_kernels = 0, outside_ns = 0;
  std::optional<std::string> outside_kernel;
  int64_t sends = 0;
};
const RelationOf<PipelineCaptureRow>& PipelineCaptureRelation();

struct PipelineEvents {
  std::vector<PipelineEventRow> events;      // by rank, then start on the host
  std::vector<PipelineCaptureRow> captures;  // of every rank, where any has events
};

// A kernel belongs to the nearest range around its launching call whose name contains a phase
// (pipeline_name.h). An event is such a range on one device: a range without kernels is one of the rank's
// first device. A rank has events where its names are ours alone, or where it also sends and receives; an
// optimizer alone makes no pipeline, unless it is named as ours and the rank sends and receives.
//
// The interval of an event is that of its computing kernels and graphs. Communication is counted apart: a
// receive runs from when it is launched until its sender has sent, so that the interval would hold the very
// bubble that one looks for.
//
// Steps are those of step_detection.h where they come from ranges. Others may be micro-batches, so that
// iterations are counted from 0 instead: a new one begins with the first forward pass after an optimizer, or
// of a micro-batch that the last has had. Names without numbers are numbered in order in each step.
//
// Throws Error where options.pipeline matches no range.
PipelineEvents ComputePipelineEvents(const Context& context);

template <>
inline constexpr Computed kValue<PipelineEvents>{"pipeline events", ComputePipelineEvents};

}  // namespace dladvisor
