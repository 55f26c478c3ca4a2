// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/pipeline/pipeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "src/analysis/family/family.h"
#include "src/analysis/pipeline/pipeline_schedule.h"
#include "src/trace/intervals.h"

namespace dladvisor {
namespace {

// A step of a worker: a rank's device.
struct WorkerStep {
  StageOrder order;
  int64_t forwards = 0, backwards = 0;
  int64_t forward_ns = 0, backward_ns = 0, weight_ns = 0, optimizer_ns = 0;
  Interval span{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  IntervalSet busy;
  int64_t first_forward = std::numeric_limits<int64_t>::max();   // start
  int64_t last_forward = std::numeric_limits<int64_t>::min();    // end
  int64_t first_backward = std::numeric_limits<int64_t>::max();  // start
};

struct Worker {
  int64_t rank = 0, device = 0;
  int64_t forwards = 0, chunks = 1;  // of most steps
  bool has_weights = false, has_optimizer = false;
  std::map<int64_t, WorkerStep> steps;  // complete ones
  double begin = 0;                     // of the first F, after the first of all workers; mean over steps
  int64_t first_forwards = 0;

  int64_t micro_batches() const { return forwards / chunks; }
};

WorkerStep ReadStep(const std::vector<const PipelineEventRow*>& events) {
  WorkerStep step;
  std::vector<Interval> busy;
  std::map<int64_t, int64_t> chunk_start;
  for (const PipelineEventRow* event : events) {
    const auto phase = PipelinePhaseOf(event->phase);
    if (!phase) continue;
    const int64_t duration = event->start_ns ? *event->end_ns - *event->start_ns : 0;
    if (*phase == PipelinePhase::kOptimizer) {
      step.optimizer_ns += duration;
      continue;
    }
    const int64_t chunk = event->chunk.value_or(0);
    step.order.passes.push_back({*phase, chunk, event->micro_batch.value_or(-1)});
    step.forwards += *phase == PipelinePhase::kForward;
    step.backwards += *phase == PipelinePhase::kBackward;
    if (!event->start_ns) continue;
    (*phase == PipelinePhase::kForward    ? step.forward_ns
     : *phase == PipelinePhase::kBackward ? step.backward_ns
                                          : step.weight_ns) += duration;
    busy.push_back({*event->start_ns, *event->end_ns});
    step.span = {std::min(step.span.start, *event->start_ns), std::max(step.span.end, *event->end_ns)};
    if (*phase == PipelinePhase::kForward) {
      step.first_forward = std::min(step.first_forward, *event->start_ns);
      step.last_forward = std::max(step.last_forward, *event->end_ns);
      const auto [start, is_new] = chunk_start.try_emplace(chunk, *event->start_ns);
      start->second = std::min(start->second, *event->start_ns);
    } else if (*phase == PipelinePhase::kBackward) {
      step.first_backward = std::min(step.first_backward, *event->start_ns);
    }
  }
  step.busy = Union(std::move(busy));
  for (const auto& [chunk, start] : chunk_start) step.order.chunk_start.push_back(start);
  return step;
}

// The value that most have; of several the largest.
template <class Values>
auto MostCommon(const Values& values) {
  std::map<typename Values::value_type, size_t> counts;
  for (const auto& value : values) ++counts[value];
  auto best = counts.begin();
  for (auto it = counts.begin(); it != counts.end(); ++it)
    if (it->second >= best->second) best = it;
  return best->first;
}

std::vector<Worker> ReadWorkers(std::span<const PipelineEventRow> events) {
  using Key = std::pair<int64_t, int64_t>;
  std::map<Key, std::map<int64_t, std::vector<const PipelineEventRow*>>> by_worker;
  for (const PipelineEventRow& event : events)
    if (event.step && !event.warmup) by_worker[{event.rank, event.device}][*event.step].push_back(&event);
  std::vector<Worker> workers;
  for (const auto& [key, by_step] : by_worker) {
    Worker worker;
    std::tie(worker.rank, worker.device) = key;
    std::vector<std::pair<int64_t, int64_t>> counts;
    for (const auto& [number, rows] : by_step) {
      WorkerStep step = ReadStep(rows);
      if (step.forwards == 0 || step.first_forward > step.last_forward) continue;
      counts.emplace_back(step.forwards, step.backwards);
      worker.steps.emplace(number, std::move(step));
    }
    if (counts.empty()) continue;
    const auto usual = MostCommon(counts);
    std::erase_if(worker.steps, [&](const auto& step) {
      return std::pair(step.second.forwards, step.second.backwards) != usual;
    });
    const WorkerStep& first = worker.steps.begin()->second;
    worker.forwards = usual.first;
    worker.chunks = std::max<int64_t>(1, static_cast<int64_t>(first.order.chunk_start.size()));
    worker.first_forwards = ForwardsFirst(first.order);
    for (const auto& [number, step] : worker.steps) {
      worker.has_weights = worker.has_weights || step.weight_ns > 0;
      worker.has_optimizer = worker.has_optimizer || step.optimizer_ns > 0;
    }
    workers.push_back(std::move(worker));
  }
  return workers;
}

std::vector<int64_t> CommonSteps(const std::vector<const Worker*>& workers) {
  std::vector<int64_t> common;
  for (const auto& [number, step] : workers[0]->steps)
    if (std::ranges::all_of(workers,
                            [&number = number](const Worker* w) { return w->steps.contains(number); }))
      common.push_back(number);
  return common;
}

using Stage = std::vector<const Worker*>;  // one for each pipeline

bool SameSize(const std::vector<Stage>& stages) {
  return std::ranges::all_of(stages, [&](const Stage& s) { return s.size() == stages[0].size(); });
}

double BeginOf(const Stage& stage) {
  double sum = 0;
  for (const Worker* worker : stage) sum += worker->begin;
  return sum / static_cast<double>(stage.size());
}

// Sets the begin of each worker, and returns whether clocks agree.
bool SetBegins(std::vector<Worker>& workers) {
  std::vector<const Worker*> all;
  for (const Worker& worker : workers) all.push_back(&worker);
  const std::vector<int64_t> steps = CommonSteps(all);
  if (steps.empty()) return false;
  bool agree = true;
  for (const int64_t number : steps) {
    int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min(), cost = 0;
    for (const Worker& worker : workers) {
      const WorkerStep& step = worker.steps.at(number);
      first = std::min(first, step.span.start);
      last = std::max(last, step.span.end);
      cost = std::max(cost, step.span.length());
    }
    agree = agree && static_cast<double>(last - first) <= 1.5 * static_cast<double>(cost);
    for (Worker& worker : workers)
      worker.begin += static_cast<double>(worker.steps.at(number).first_forward - first) /
                      static_cast<double>(steps.size());
  }
  return agree;
}

// By the number of F before the first B, or by the time of the first F.
std::vector<Stage> FindStages(std::vector<Worker>& workers) {
  const bool clocks_agree = SetBegins(workers);
  std::map<int64_t, Stage, std::greater<>> by_number;
  for (const Worker& worker : workers) by_number[worker.first_forwards].push_back(&worker);
  std::vector<Stage> stages;
  for (auto& [number, stage] : by_number) stages.push_back(std::move(stage));
  if (stages.size() < 2 || !SameSize(stages)) {
    Stage all;
    double forward = std::numeric_limits<double>::max();
    for (const Worker& worker : workers) {
      all.push_back(&worker);
      const WorkerStep& step = worker.steps.begin()->second;
      forward = std::min(forward, static_cast<double>(step.forward_ns) / static_cast<double>(step.forwards));
    }
    if (clocks_agree) std::ranges::stable_sort(all, {}, &Worker::begin);
    stages.clear();
    for (const Worker* worker : all)
      if (clocks_agree && !stages.empty() && worker->begin - stages.back().back()->begin < forward / 2)
        stages.back().push_back(worker);
      else
        stages.push_back({worker});
    if (!SameSize(stages)) {
      stages.clear();
      for (const Worker* worker : all) stages.push_back({worker});
    }
  }
  if (clocks_agree) std::ranges::stable_sort(stages, {}, BeginOf);
  for (Stage& stage : stages)
    std::ranges::sort(stage, {}, [](const Worker* w) { return std::pair(w->rank, w->device); });
  return stages;
}

int64_t Idle(const IntervalSet& busy, int64_t from, int64_t to) {
  return to <= from ? 0 : to - from - Length(Clip(busy, {from, to}));
}

double Mean(double sum, size_t count) { return sum / static_cast<double>(count); }

// One pipeline: a worker for each stage.
class Pipeline {
 public:
  Pipeline(int64_t number, std::vector<const Worker*> workers)
      : number_(number), workers_(std::move(workers)), steps_(CommonSteps(workers_)) {}

  void AddTo(Pipelines& out) const {
    if (steps_.empty()) return;
    std::vector<PipelineStageRow> stages = Stages();
    out.bubbles.push_back(Bubble(stages));
    std::ranges::move(stages, std::back_inserter(out.stages));
  }

 private:
  const WorkerStep& At(size_t stage, int64_t step) const { return workers_[stage]->steps.at(step); }

  int64_t Cost(int64_t step) const {
    int64_t cost = 0;
    for (size_t s = 0; s < workers_.size(); ++s) cost = std::max(cost, At(s, step).span.length());
    return cost;
  }

  // From the first start, as long as the cost; nothing where the clocks of stages do not agree.
  std::optional<Interval> Window(int64_t step) const {
    int64_t first = std::numeric_limits<int64_t>::max(), last = std::numeric_limits<int64_t>::min();
    for (size_t s = 0; s < workers_.size(); ++s) {
      first = std::min(first, At(s, step).span.start);
      last = std::max(last, At(s, step).span.end);
    }
    const int64_t cost = Cost(step);
    if (static_cast<double>(last - first) > 1.5 * static_cast<double>(cost)) return std::nullopt;
    return Interval{first, std::max(last, first + cost)};
  }

  std::vector<PipelineStageRow> Stages() const {
    std::vector<PipelineStageRow> rows;
    for (size_t s = 0; s < workers_.size(); ++s) rows.push_back(StageRow(s));
    return rows;
  }

  PipelineStageRow StageRow(size_t s) const {
    const Worker& worker = *workers_[s];
    PipelineStageRow row;
    row.pipeline = number_;
    row.stage = static_cast<int64_t>(s);
    row.rank = worker.rank;
    row.device = worker.device;
    row.micro_batches = worker.micro_batches();
    row.chunks = worker.chunks;
    row.first_forwards = worker.first_forwards;
    double forward = 0, backward = 0, weight = 0, span = 0, busy = 0, cost = 0, optimizer = 0;
    double warmup = 0, steady = 0, cooldown = 0;
    bool clocks_agree = true;
    for (const int64_t number : steps_) {
      const WorkerStep& step = At(s, number);
      forward += static_cast<double>(step.forward_ns);
      backward += static_cast<double>(step.backward_ns);
      weight += static_cast<double>(step.weight_ns);
      optimizer += static_cast<double>(step.optimizer_ns);
      span += static_cast<double>(step.span.length());
      busy += static_cast<double>(Length(step.busy));
      cost += static_cast<double>(Cost(number));
      const auto window = Window(number);
      clocks_agree = clocks_agree && window;
      if (!window) continue;
      // Without a backward pass all is warm-up until the last F.
      const int64_t first = std::min(step.first_backward, step.span.end);
      const int64_t last = std::max(first, step.last_forward);
      warmup += static_cast<double>(Idle(step.busy, window->start, first));
      steady += static_cast<double>(Idle(step.busy, first, last));
      cooldown += static_cast<double>(Idle(step.busy, last, window->end));
    }
    const size_t n = steps_.size();
    const double per_batch = static_cast<double>(row.micro_batches) * static_cast<double>(n);
    row.forward_ns = forward / per_batch;
    row.backward_ns = backward / per_batch;
    if (worker.has_weights) row.weight_ns = weight / per_batch;
    row.work_ns = (forward + backward + weight) / per_batch;
    row.span_ns = Mean(span, n);
    row.busy_ns = Mean(busy, n);
    row.bubble_ns = Mean(cost - busy, n);
    if (cost > 0) row.bubble_share = (cost - busy) / cost;
    if (worker.has_optimizer) row.optimizer_ns = Mean(optimizer, n);
    if (clocks_agree) {
      row.warmup_bubble_ns = Mean(warmup, n);
      row.steady_bubble_ns = Mean(steady, n);
      row.cooldown_bubble_ns = Mean(cooldown, n);
    }
    return row;
  }

  PipelineBubbleRow Bubble(const std::vector<PipelineStageRow>& stages) const {
    PipelineBubbleRow row;
    const double p = static_cast<double>(stages.size());
    row.pipeline = number_;
    row.stages = static_cast<int64_t>(stages.size());
    row.micro_batches = stages[0].micro_batches;
    row.chunks = stages[0].chunks;
    row.steps = static_cast<int64_t>(steps_.size());
    row.typical_step = TypicalStep();
    std::vector<StageOrder> orders;
    for (size_t s = 0; s < stages.size(); ++s) orders.push_back(At(s, row.typical_step).order);
    const ScheduleFound found = FindSchedule(orders);
    if (const char* name = PipelineScheduleName(found.schedule)) row.schedule = name;
    row.missing_stages = found.missing;

    double weight = 0, warmup = 0, steady = 0, cooldown = 0;
    bool clocks_agree = true;
    for (const PipelineStageRow& stage : stages) {
      row.forward_ns += stage.forward_ns / p;
      row.backward_ns += stage.backward_ns / p;
      weight += stage.weight_ns.value_or(0) / p;
      if (stage.weight_ns) row.weight_ns = weight;
      row.mean_work_ns += stage.work_ns / p;
      clocks_agree = clocks_agree && stage.warmup_bubble_ns;
      warmup += stage.warmup_bubble_ns.value_or(0) / p;
      steady += stage.steady_bubble_ns.value_or(0) / p;
      cooldown += stage.cooldown_bubble_ns.value_or(0) / p;
    }
    if (clocks_agree) {
      row.warmup_bubble_ns = warmup;
      row.steady_bubble_ns = steady;
      row.cooldown_bubble_ns = cooldown;
    }
    for (const int64_t step : steps_) row.cost_ns += Mean(static_cast<double>(Cost(step)), steps_.size());
    const auto m = static_cast<double>(row.micro_batches);
    row.bubble_ns = row.cost_ns - m * row.mean_work_ns;
    const auto slowest = std::ranges::max_element(stages, {}, &PipelineStageRow::work_ns);
    row.slowest_stage = slowest->stage;
    row.slowest_rank = slowest->rank;
    row.slowest_work_ns = slowest->work_ns;
    row.fastest_stage = std::ranges::min_element(stages, {}, &PipelineStageRow::work_ns)->stage;
    row.imbalance_ns = (m - 1 / static_cast<double>(row.chunks)) * (row.slowest_work_ns - row.mean_work_ns);
    if (row.mean_work_ns > 0) row.imbalance = row.slowest_work_ns / row.mean_work_ns - 1;
    if (row.cost_ns <= 0) return row;
    row.bubble_ratio = row.bubble_ns / row.cost_ns;
    row.ideal_ratio = stages.size() < 2
                          ? std::nullopt
                          : IdealBubble(found.schedule, row.stages + row.missing_stages, row.micro_batches,
                                        row.chunks, row.forward_ns, row.backward_ns, weight);
    if (!row.ideal_ratio) return row;
    // The ideal's own cost is that of its work and its bubble.
    row.ideal_ns = m * row.mean_work_ns * *row.ideal_ratio / (1 - *row.ideal_ratio);
    const double above = std::max(0.0, row.bubble_ns - *row.ideal_ns);
    row.imbalance_ns = std::min(row.imbalance_ns, above);
    row.late_ns = above - row.imbalance_ns;
    return row;
  }

  // That whose cost is the median.
  int64_t TypicalStep() const {
    std::vector<std::pair<int64_t, int64_t>> costs;
    for (const int64_t step : steps_) costs.emplace_back(Cost(step), step);
    std::ranges::sort(costs);
    return costs[(costs.size() - 1) / 2].second;
  }

  int64_t number_;
  std::vector<const Worker*> workers_;
  std::vector<int64_t> steps_;
};

}  // namespace

Pipelines FindPipelines(std::span<const PipelineEventRow> events) {
  Pipelines out;
  std::vector<Worker> workers = ReadWorkers(events);
  if (workers.empty()) return out;
  const std::vector<Stage> stages = FindStages(workers);
  for (size_t k = 0; k < stages[0].size(); ++k) {
    std::vector<const Worker*> of_pipeline;
    for (const Stage& stage : stages) of_pipeline.push_back(stage[k]);
    Pipeline(static_cast<int64_t>(k), std::move(of_pipeline)).AddTo(out);
  }
  return out;
}

Pipelines PipelinesOfFleet(const RowsOfFleet<PipelineEventRelation>& events) {
  return FindPipelines(events.rows);
}

const Family& PipelineStageFamily() {
  static const Family family = FamilyOf(PipelineStageRelation(), &Pipelines::stages);
  return family;
}

const Family& PipelineBubbleFamily() {
  static const Family family = FamilyOf(PipelineBubbleRelation(), &Pipelines::bubbles);
  return family;
}

}  // namespace dladvisor
