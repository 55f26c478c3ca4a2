// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/pipeline/pipeline_event.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/base/error.h"
#include "src/analysis/context/range_text.h"
#include "src/analysis/family/family.h"
#include "src/analysis/pipeline/pipeline_name.h"

namespace dladvisor {
namespace {

constexpr size_t kPhases = 4;

// What the name of each range means, and for every range the nearest one around it, or itself, with a
// meaning.
struct NamedRanges {
  std::vector<std::optional<PipelineName>> of_text;  // by index of its text
  std::vector<uint32_t> nearest;                     // by range
};

bool Nests(const Ranges& ranges, uint32_t i) {
  return ranges.kind[i] == RangeKind::kPushPop && ranges.thread[i] != kNoIndex;
}

NamedRanges FindNamedRanges(const Context& context, bool may_send) {
  const Ranges& ranges = context.trace.ranges;
  const std::string& pattern = context.options.pipeline;
  const PipelineNames names(pattern);
  NamedRanges out;
  const RangeTexts& texts = *context.texts;
  out.of_text.resize(texts.size());
  std::vector<uint8_t> is_parsed(texts.size(), 0);
  bool any = false;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    const uint32_t text = texts.IndexOf(ranges.name[i]);
    if (!Nests(ranges, i) || is_parsed[text]) continue;
    is_parsed[text] = 1;
    out.of_text[text] = names.Parse(texts.TextAt(text));
    any = any || out.of_text[text];
  }
  if (!pattern.empty() && !any)
    throw Error("--pipeline " + pattern, "matches no range",
                "`dladvisor query PROFILE \"SELECT name FROM range_name\"` shows their names.");
  if (!any) return out;
  // Passes of the most certain names alone: those of the framework may lie inside.
  PipelineNaming best = PipelineNaming::kFramework;
  const auto is_pass = [](const auto& name) { return name && name->phase != PipelinePhase::kOptimizer; };
  for (const auto& name : out.of_text)
    if (is_pass(name)) best = std::min(best, name->naming);
  for (auto& name : out.of_text)
    if (is_pass(name) && name->naming != best) name.reset();
  // Names of the framework alone are of a pipeline only where something is sent.
  if (best == PipelineNaming::kFramework && !may_send) return out;
  constexpr uint32_t kNotYet = kNoIndex - 1;
  out.nearest.assign(ranges.size(), kNotYet);
  std::vector<uint32_t> path;
  for (uint32_t i = 0; i < ranges.size(); ++i) {
    uint32_t at = i, found = kNoIndex;
    for (path.clear(); at != kNoIndex; at = context.attribution.range_parent[at]) {
      if (out.nearest[at] != kNotYet) {
        found = out.nearest[at];
        break;
      }
      path.push_back(at);
      if (Nests(ranges, at) && out.of_text[texts.IndexOf(ranges.name[at])]) {
        found = at;
        break;
      }
    }
    for (const uint32_t range : path) out.nearest[range] = found;
  }
  return out;
}

// Kernels of collectives by name id: whether they send to or receive from one peer.
std::vector<uint8_t> FindSends(const Context& context) {
  std::vector<uint8_t> sends(context.kernels.size(), 0);
  for (size_t name = 0; name < sends.size(); ++name)
    if (context.kernels[name].communication) {
      const std::string_view text = context.trace.names.View(static_cast<NameId>(name));
      sends[name] = text.find("SendRecv") != std::string_view::npos;
    }
  return sends;
}

// The events of one rank.
class RankEvents {
 public:
  RankEvents(const Context& context, const NamedRanges& named, const std::vector<uint8_t>& sends,
             int64_t rank)
      : context_(context), named_(named), sends_(sends) {
    capture_.rank = rank;
  }

  // Ranges of the rank with a phase, in order of start.
  void AddRange(uint32_t range) { ranges_.push_back(range); }

  void AddGpu(size_t gpu) {
    const int64_t device = context_.trace.devices[context_.ranks.gpus[gpu].device].ordinal;
    if (devices_.empty()) first_device_ = device;
    devices_.push_back(device);
    std::map<uint32_t, size_t> rows;  // by range
    uint32_t last_range = kNoIndex;
    PipelineEventRow* last = nullptr;
    const auto row_of = [&](uint32_t innermost) -> PipelineEventRow* {
      const uint32_t range = innermost == kNoIndex ? kNoIndex : named_.nearest[innermost];
      if (range == kNoIndex) return nullptr;
      if (range == last_range) return last;
      const auto [entry, is_new] = rows.try_emplace(range, found_.size());
      if (is_new) found_.push_back({range, {}});
      last_range = range;
      last = &found_[entry->second].second;
      last->device = device;
      return last;
    };
    const Kernels& kernels = context_.trace.kernels;
    for (const uint32_t k : context_.work[gpu].kernels) {
      const bool communicates = context_.kernels[kernels.name[k]].communication;
      capture_.sends += sends_[kernels.name[k]];
      PipelineEventRow* row = row_of(context_.attribution.kernel_range[k]);
      if (communicates) {
        if (row == nullptr) continue;
        ++row->communications;
        row->communication_ns += kernels.end[k] - kernels.start[k];
      } else if (row != nullptr) {
        Add(*row, kernels.start[k], kernels.end[k]);
      } else {
        outside_.push_back(k);
      }
    }
    const GraphLaunches& graphs = context_.trace.graph_launches;
    for (const uint32_t g : context_.work[gpu].graphs) {
      const uint32_t call = context_.launches.graph[g];
      if (PipelineEventRow* row = row_of(call == kNoIndex ? kNoIndex : context_.attribution.api_range[call]))
        Add(*row, graphs.start[g], graphs.end[g]);
    }
  }

  // Moves the rows to `out`, where the names can be trusted.
  void Finish(PipelineEvents& out) {
    Complete();
    if (!IsPipeline()) found_.clear();
    Sort();
    AssignSteps();
    NumberMicroBatches();
    CountCapture();
    out.captures.push_back(capture_);
    for (auto& [range, row] : found_) out.events.push_back(std::move(row));
  }

 private:
  const PipelineName& NameOf(uint32_t range) const {
    return *named_.of_text[context_.texts->IndexOf(context_.trace.ranges.name[range])];
  }

  static void Add(PipelineEventRow& row, Ns start, Ns end) {
    row.start_ns = std::min(row.start_ns.value_or(start), start);
    row.end_ns = std::max(row.end_ns.value_or(end), end);
    ++row.kernels;
    row.kernel_ns += end - start;
  }

  // Adds ranges without kernels, and what the names mean.
  void Complete() {
    std::vector<uint32_t> with_work;
    for (const auto& [range, row] : found_) with_work.push_back(range);
    std::ranges::sort(with_work);
    for (const uint32_t range : ranges_)
      if (!std::ranges::binary_search(with_work, range)) {
        found_.push_back({range, {}});
        found_.back().second.device = first_device_;
      }
    const Ranges& ranges = context_.trace.ranges;
    for (auto& [range, row] : found_) {
      const PipelineName& name = NameOf(range);
      row.rank = capture_.rank;
      row.phase = PipelinePhaseName(name.phase);
      row.chunk = name.chunk;
      row.micro_batch = name.micro_batch;
      row.slice = name.slice;
      row.host_start_ns = ranges.start[range];
      row.host_end_ns = ranges.end[range];
    }
  }

  bool IsPipeline() const {
    bool own = false, has_passes = false, has_optimizer = false;
    for (const auto& [range, row] : found_) {
      const PipelineName& name = NameOf(range);
      const bool is_optimizer = name.phase == PipelinePhase::kOptimizer;
      has_passes = has_passes || !is_optimizer;
      own = own || (!is_optimizer && name.naming != PipelineNaming::kFramework);
      has_optimizer = has_optimizer || (is_optimizer && name.naming != PipelineNaming::kFramework);
    }
    return own || (capture_.sends > 0 && (has_passes || has_optimizer));
  }

  void Sort() {
    std::ranges::stable_sort(found_, [](const auto& a, const auto& b) {
      return std::tuple(a.second.host_start_ns, -a.second.host_end_ns, a.second.device) <
             std::tuple(b.second.host_start_ns, -b.second.host_end_ns, b.second.device);
    });
    for (size_t i = 0; i < found_.size(); ++i) found_[i].second.event = static_cast<int64_t>(i);
  }

  const std::vector<Step>* StepsOfRanges() const {
    if (context_.steps.source != "ranges") return nullptr;
    for (const auto& [rank, steps] : context_.steps.by_rank)
      if (rank == capture_.rank) return &steps;
    return nullptr;
  }

  void AssignSteps() {
    if (const std::vector<Step>* steps = StepsOfRanges()) {
      const Step* last = nullptr;
      for (auto& [range, row] : found_) {
        if (row.start_ns) {
          const Ns middle = *row.start_ns + (*row.end_ns - *row.start_ns) / 2;
          const auto after = std::upper_bound(steps->begin(), steps->end(), middle,
                                              [](Ns t, const Step& s) { return t < s.time.start; });
          last =
              after != steps->begin() && middle < std::prev(after)->time.end ? &*std::prev(after) : nullptr;
        }
        if (last == nullptr) continue;
        row.step = last->number;
        row.warmup = last->warmup;
      }
      return;
    }
    using MicroBatch = std::tuple<int64_t, int64_t, int64_t, int64_t>;
    std::set<MicroBatch> seen;
    bool optimized = false;
    int64_t step = 0;
    for (auto& [range, row] : found_) {
      if (row.phase == PipelinePhaseName(PipelinePhase::kForward)) {
        const MicroBatch id{row.device, row.micro_batch.value_or(-1), row.chunk.value_or(-1),
                            row.slice.value_or(-1)};
        if (optimized || (row.micro_batch && seen.contains(id))) {
          ++step;
          seen.clear();
        }
        optimized = false;
        seen.insert(id);
      }
      optimized = optimized || row.phase == PipelinePhaseName(PipelinePhase::kOptimizer);
      row.step = step;
    }
  }

  void NumberMicroBatches() {
    std::map<std::tuple<std::optional<int64_t>, std::string, int64_t>, int64_t> next;
    for (auto& [range, row] : found_)
      if (const PipelineName& name = NameOf(range); name.phase != PipelinePhase::kOptimizer && !name.chunk)
        if (!name.micro_batch) row.micro_batch = next[{row.step, row.phase, row.device}]++;
  }

  void CountCapture() {
    const std::array<int64_t*, kPhases> counts = {&capture_.forwards, &capture_.backwards, &capture_.weights,
                                                  &capture_.optimizers};
    std::optional<Interval> span;
    for (const auto& [range, row] : found_) {
      const PipelinePhase phase = NameOf(range).phase;
      ++*counts[static_cast<size_t>(phase)];
      // Stages without parameters of their own have nothing to do in some passes of the others.
      if (row.kernels == 0 && (phase == PipelinePhase::kForward || phase == PipelinePhase::kBackward))
        ++capture_.empty_passes;
      capture_.kernels += row.kernels;
      capture_.kernel_ns += row.kernel_ns;
      if (!row.start_ns || phase == PipelinePhase::kOptimizer) continue;
      if (!span) span = Interval{*row.start_ns, *row.end_ns};
      span->start = std::min(span->start, *row.start_ns);
      span->end = std::max(span->end, *row.end_ns);
    }
    const Kernels& kernels = context_.trace.kernels;
    std::map<NameId, Ns> by_name;
    for (const uint32_t k : outside_) {
      if (span && (kernels.start[k] < span->start || kernels.start[k] >= span->end)) continue;
      const Ns duration = kernels.end[k] - kernels.start[k];
      ++capture_.kernels;
      ++capture_.outside_kernels;
      capture_.kernel_ns += duration;
      capture_.outside_ns += duration;
      by_name[kernels.short_name[k]] += duration;
    }
    const auto longest = std::ranges::max_element(by_name, {}, [](const auto& e) { return e.second; });
    if (longest != by_name.end()) capture_.outside_kernel = context_.trace.names.View(longest->first);
  }

  const Context& context_;
  const NamedRanges& named_;
  const std::vector<uint8_t>& sends_;
  PipelineCaptureRow capture_;
  std::vector<uint32_t> ranges_, outside_;  // outside: computing kernels in no range with a phase
  std::vector<int64_t> devices_;
  int64_t first_device_ = 0;
  std::vector<std::pair<uint32_t, PipelineEventRow>> found_;  // with its range
};

}  // namespace

const RelationOf<PipelineEventRow>& PipelineEventRelation() {
  using Row = PipelineEventRow;
  static const auto relation =
      RelationOf<Row>("pipeline_event",
                      "Forward, backward, weight-gradient and optimizer passes of pipeline parallelism, by "
                      "the ranges around their launches; none where no range is named as one.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Key("event", &Row::event, Unit::kNone, "Number, in order of start on the host.")
          .Column("device", &Row::device, Unit::kNone, "CUDA device ordinal.")
          .Column("step", &Row::step, kStepNumber,
                  "Step, as its range is numbered, or iteration of the schedule counted from 0 where no "
                  "ranges are steps; unknown outside of steps.")
          .Column("warmup", &Row::warmup, Unit::kNone, "1 where the step is excluded as warm-up.")
          .Column("phase", &Row::phase, Unit::kText,
                  "F forward, B backward (of the input alone where there are W), W gradients of weights, "
                  "Optimizer.")
          .Column("chunk", &Row::chunk, Unit::kNone,
                  "Chunk of the model, as the name numbers it; unknown where it does not.")
          .Column("micro_batch", &Row::micro_batch, Unit::kNone,
                  "Micro-batch, as the name numbers it, else in order in the step; unknown for passes over "
                  "several.")
          .Column("slice", &Row::slice, Unit::kNone, "Slice of the sequence; unknown without slices.")
          .Column("host_start_ns", &Row::host_start_ns, Unit::kNanoseconds, "Start of the range.")
          .Column("host_end_ns", &Row::host_end_ns, Unit::kNanoseconds, "End of the range.")
          .Column("start_ns", &Row::start_ns, Unit::kNanoseconds,
                  "Start of its first kernel that computes; unknown without kernels.")
          .Column("end_ns", &Row::end_ns, Unit::kNanoseconds,
                  "End of its last kernel that computes; unknown without kernels.")
          .Column("kernels", &Row::kernels, Unit::kCount, "Kernels and graphs that compute.")
          .Column("kernel_ns", &Row::kernel_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("communications", &Row::communications, Unit::kCount,
                  "Kernels of collectives, sends and receives: they wait for others, and are in no interval.")
          .Column("communication_ns", &Row::communication_ns, Unit::kNanoseconds, "Sum of their durations.");
  return relation;
}

const RelationOf<PipelineCaptureRow>& PipelineCaptureRelation() {
  using Row = PipelineCaptureRow;
  static const auto relation =
      RelationOf<Row>(
          "pipeline_capture",
          "How far ranges show the pipeline's schedule, by rank; none where no rank has such ranges.")
          .Key("rank", &Row::rank, kRankNumber, "Rank.")
          .Column("forwards", &Row::forwards, Unit::kCount, "Events of phase F.")
          .Column("backwards", &Row::backwards, Unit::kCount, "Of phase B.")
          .Column("weights", &Row::weights, Unit::kCount, "Of phase W.")
          .Column("optimizers", &Row::optimizers, Unit::kCount, "Of phase Optimizer.")
          .Column("empty_passes", &Row::empty_passes, Unit::kCount,
                  "Events of phase F or B without a kernel that computes.")
          .Column("kernels", &Row::kernels, Unit::kCount,
                  "Kernels that compute, from the first pass's start to the last one's end; of the whole "
                  "profile where no pass has any.")
          .Column("kernel_ns", &Row::kernel_ns, Unit::kNanoseconds, "Sum of their durations.")
          .Column("outside_kernels", &Row::outside_kernels, Unit::kCount, "Of these, in no event.")
          .Column("outside_ns", &Row::outside_ns, Unit::kNanoseconds, "Sum of the durations of those.")
          .Column("outside_kernel", &Row::outside_kernel, Unit::kText,
                  "The kernel with the most time among them; unknown where there are none.")
          .Column("sends", &Row::sends, Unit::kCount,
                  "Kernels that send to or receive from a peer, in the whole profile.");
  return relation;
}

PipelineEvents ComputePipelineEvents(const Context& context) {
  const std::vector<uint8_t> sends = FindSends(context);
  const NamedRanges named = FindNamedRanges(context, std::ranges::find(sends, uint8_t{1}) != sends.end());
  PipelineEvents out;
  if (named.nearest.empty()) return out;
  std::map<int64_t, RankEvents> ranks;
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    const int64_t rank = context.ranks.gpus[gpu].rank;
    ranks.try_emplace(rank, context, named, sends, rank).first->second.AddGpu(gpu);
  }
  for (uint32_t i = 0; i < context.trace.ranges.size(); ++i)
    if (named.nearest[i] == i)
      if (const auto rank = ranks.find(context.RankOfThread(context.trace.ranges.thread[i]));
          rank != ranks.end())
        rank->second.AddRange(i);
  for (auto& [rank, events] : ranks) events.Finish(out);
  if (out.events.empty()) out.captures.clear();
  return out;
}

const Family& PipelineEventFamily() {
  static const Family family = FamilyOf(PipelineEventRelation(), &PipelineEvents::events);
  return family;
}

const Family& PipelineCaptureFamily() {
  static const Family family = FamilyOf(PipelineCaptureRelation(), &PipelineEvents::captures);
  return family;
}

}  // namespace dladvisor
