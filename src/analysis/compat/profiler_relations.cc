#include "src/analysis/compat/profiler_relations.h"

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "src/analysis/compat/execution_summary.h"
#include "src/analysis/compat/gpu_summary.h"
#include "src/analysis/compat/idle_breakdown.h"
#include "src/analysis/compat/kernel_breakdown.h"
#include "src/analysis/compat/memory_bandwidth.h"
#include "src/analysis/compat/memory_operator.h"
#include "src/analysis/compat/operator.h"
#include "src/analysis/compat/operator_sequence.h"
#include "src/analysis/compat/profiled_work.h"
#include "src/analysis/compat/queue_length.h"
#include "src/analysis/context/operator_tree.h"

namespace dladvisor {
namespace {

// A value that is computed when it is first asked for, by one thread.
template <class T>
class Lazy {
 public:
  explicit Lazy(std::function<T()> compute) : compute_(std::move(compute)) {}
  const T& Get() const {
    std::call_once(once_, [this] { value_.emplace(compute_()); });
    return *value_;
  }

 private:
  std::function<T()> compute_;
  mutable std::once_flag once_;
  mutable std::optional<T> value_;
};

class LazyRelation final : public Relation {
 public:
  LazyRelation(Schema schema, std::function<Table()> compute)
      : schema_(std::move(schema)), table_(std::move(compute)) {}

  const Schema& schema() const override { return schema_; }
  size_t rows() const override { return table_.Get().rows(); }
  CellView At(size_t row, size_t column) const override { return table_.Get().At(row, column); }

 private:
  Schema schema_;
  Lazy<Table> table_;
};

// What the relations are made of.
struct Source {
  Source(const Trace& trace, AnalysisOptions chosen)
      : options(std::move(chosen)),
        context([this, &trace] { return MakeContext(trace, options); }),
        work([this] { return FindProfiledWork(context.Get()); }),
        times([this] { return ComputeStepTimes(context.Get()); }),
        tree([this] { return BuildOperatorTree(context.Get()); }),
        operators([this] { return ComputeOperators(context.Get(), tree.Get()); }),
        breakdowns([this] { return ComputeBreakdowns(context.Get(), work.Get()); }) {}

  AnalysisOptions options;
  Lazy<Context> context;
  Lazy<std::vector<ProfiledWork>> work;
  Lazy<StepTimes> times;
  Lazy<OperatorTree> tree;
  Lazy<OperatorFamilies> operators;
  Lazy<Breakdowns> breakdowns;
};

}  // namespace

std::vector<std::unique_ptr<Relation>> ProfilerRelations(const Trace& trace, const AnalysisOptions& options) {
  const auto source = std::make_shared<const Source>(trace, options);
  std::vector<std::unique_ptr<Relation>> relations;
  const auto add = [&](const auto& relation, auto rows) {
    relations.push_back(std::make_unique<LazyRelation>(
        relation.schema(), [&relation, source, rows] { return relation.ToTable(rows(*source)); }));
  };
  add(
      ExecutionSummaryRelation(), [](const Source& s) -> const auto& { return s.times.Get().execution; });
  add(
      DistributedStepRelation(), [](const Source& s) -> const auto& { return s.times.Get().distributed; });
  add(GpuSummaryRelation(), [](const Source& s) { return ComputeGpuSummaries(s.context.Get()); });
  add(
      OperatorRelation(), [](const Source& s) -> const auto& { return s.operators.Get().by_name; });
  add(
      OperatorInputRelation(), [](const Source& s) -> const auto& { return s.operators.Get().by_input; });
  add(
      OperatorKernelRelation(), [](const Source& s) -> const auto& { return s.operators.Get().kernels; });
  add(MemoryOperatorRelation(),
      [](const Source& s) { return ComputeMemoryOperators(s.context.Get(), s.tree.Get()); });
  add(OperatorSequenceRelation(), [](const Source& s) { return ComputeOperatorSequences(s.context.Get()); });
  add(
      TemporalBreakdownRelation(),
      [](const Source& s) -> const auto& { return s.breakdowns.Get().temporal; });
  add(
      KernelBreakdownRelation(), [](const Source& s) -> const auto& { return s.breakdowns.Get().types; });
  add(
      CommunicationOverlapRelation(),
      [](const Source& s) -> const auto& { return s.breakdowns.Get().overlaps; });
  add(IdleBreakdownRelation(),
      [](const Source& s) { return ComputeIdleBreakdown(s.context.Get(), s.work.Get()); });
  add(QueueLengthRelation(),
      [](const Source& s) { return ComputeQueueLengths(s.context.Get(), s.work.Get()); });
  add(LaunchStatisticsRelation(),
      [](const Source& s) { return ComputeLaunchStatistics(s.context.Get(), s.work.Get()); });
  add(MemoryBandwidthRelation(),
      [](const Source& s) { return ComputeMemoryBandwidths(s.context.Get(), s.work.Get()); });
  return relations;
}

}  // namespace dladvisor
