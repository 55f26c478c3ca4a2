// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/context.h"

#include <memory>

#include "engine/base/freed_memory.h"
#include "src/analysis/context/analysed_window.h"
#include "src/analysis/context/attribution.h"
#include "src/analysis/context/launch_join.h"
#include "src/analysis/context/op_path.h"
#include "src/analysis/context/program_phase.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/context/rank_assignment.h"
#include "src/analysis/context/step_detection.h"
#include "src/analysis/context/tensor_core.h"
#include "src/trace/parallel.h"

namespace dladvisor {

Context MakeContext(const Trace& trace, const AnalysisOptions& options) {
  Context context{trace, options, FindActivity(trace), {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  ParallelFor(2, [&](size_t part) {
    if (part == 0) {
      context.launches = FindLaunches(trace);
    } else {
      context.ranks = FindRanks(trace, options);
      context.work = SplitWork(trace, context.ranks);
      context.texts = std::make_shared<RangeTexts>(trace);
    }
  });
  ParallelFor(2, [&](size_t part) {
    if (part == 0) {
      if (!options.whole)
        context.phases = FindPhases(trace, *context.texts, context.ranks, context.work, context.launches);
      context.steps = FindSteps(trace, *context.texts, context.ranks, context.work, context.launches,
                                context.phases, options);
    } else {
      context.attribution = Attribute(trace, context.launches);
      context.paths = std::make_shared<OpPaths>(trace, *context.texts, context.attribution.range_parent);
      context.kernels = ClassifyKernels(trace);
      context.api_kinds = ClassifyApis(trace);
    }
  });
  context.windows = FindWindows(trace, context.ranks, context.work, context.launches, context.phases,
                                context.steps, context.activity);
  GiveBackFreedMemory();
  return context;
}

}  // namespace dladvisor
