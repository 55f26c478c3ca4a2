// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/context/context.h"

#include <tbb/parallel_invoke.h>

#include <memory>

#include "src/analysis/context/attribution.h"
#include "src/analysis/context/launch_join.h"
#include "src/analysis/context/op_path.h"
#include "src/analysis/context/rank_assignment.h"
#include "src/analysis/context/step_detection.h"
#include "src/analysis/context/tensor_core.h"

namespace dladvisor {

Context MakeContext(const Trace& trace, const AnalysisOptions& options) {
  Context context{trace, options, FindActivity(trace), {}, {}, {}, {}, {}, {}, {}, {}};
  tbb::parallel_invoke([&] { context.launches = FindLaunches(trace); },
                       [&] {
                         context.ranks = FindRanks(trace, options);
                         context.work = SplitWork(trace, context.ranks);
                       });
  tbb::parallel_invoke(
      [&] { context.steps = FindSteps(trace, context.ranks, context.work, context.launches, options); },
      [&] {
        context.attribution = Attribute(trace, context.launches);
        context.paths = std::make_shared<OpPaths>(trace, context.attribution.range_parent);
        context.kernels = ClassifyKernels(trace);
      });
  context.windows = FindWindows(trace, context.ranks, context.work, context.steps);
  return context;
}

}  // namespace dladvisor
