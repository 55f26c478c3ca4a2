// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/launches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "src/importers/kineto/batch.h"

namespace dladvisor::kineto {
namespace {

// Flows between nodes of a CUDA graph have ids from here on.
constexpr int64_t kFirstGraphFlow = int64_t{1} << 40;
constexpr int64_t kLargeId = int64_t{1} << 62;

bool Starts(Launches::Work work, std::string_view call) {
  const auto has = [&](std::string_view part) { return call.find(part) != std::string_view::npos; };
  switch (work) {
    case Launches::Work::kKernel:
      return has("Launch");
    case Launches::Work::kCopy:
      return has("Memcpy") || has("GraphLaunch");
    case Launches::Work::kSet:
      return has("Memset") || has("GraphLaunch");
  }
  return false;
}

// Its grid is in threads, where that of all other calls is in blocks.
bool HasGridInThreads(std::string_view call) { return call == "hipExtModuleLaunchKernel"; }

LaunchShape InBlocks(LaunchShape shape) {
  for (size_t i = 0; i < shape.grid.size(); ++i)
    if (shape.block[i] > 0) shape.grid[i] = (shape.grid[i] - 1) / shape.block[i] + 1;
  return shape;
}

}  // namespace

Launches::Place Launches::PlaceOf(const Event& event) {
  return {IdOf(event.pid), IdOf(event.tid), event.start};
}

GpuOperations& Launches::TableOf(Trace& trace, Work work) {
  switch (work) {
    case Work::kKernel:
      return trace.kernels;
    case Work::kCopy:
      return trace.copies;
    case Work::kSet:
      break;
  }
  return trace.sets;
}

void Launches::AddWork(Work work, size_t row, const Event& event) {
  if (has_correlations_) return;
  if (event.correlation == kUnknown || event.correlation == 0) {
    unlinked_.push_back({work, row, IdOf(event.external), PlaceOf(event)});
    return;
  }
  has_correlations_ = true;
  unlinked_.clear();
  calls_.clear();
  begins_.clear();
  ends_.clear();
}

void Launches::AddCall(size_t row, const Event& event) {
  const int64_t copied = event.requested == kUnknown ? event.bytes : event.requested;
  if (event.has_shape || copied > 0)
    arguments_.push_back({.call = row,
                          .shape = {event.grid, event.block},
                          .has_shape = event.has_shape,
                          .shared_bytes = std::clamp<int64_t>(event.shared_bytes, 0, gpu_rows::kMostPerBlock),
                          .copied_bytes = std::clamp<int64_t>(copied, 0, gpu_rows::kMostBytes)});
  if (!has_correlations_ && !event.external.empty()) calls_.push_back({IdOf(event.external), row});
}

void Launches::AddFlow(const Event& event) {
  if (has_correlations_ || event.start == kUnknown || event.flow.empty() || event.category == "fwdbwd")
    return;
  const int64_t id = IdOf(event.flow);
  if (id < 0 || id >= kFirstGraphFlow) return;
  (event.phase == 's' ? begins_ : ends_).push_back({id, PlaceOf(event)});
}

void Launches::Append(const Launches& chunk, const Trace& trace) {
  for (Arguments arguments : chunk.arguments_) {
    arguments.call += trace.api_calls.size();
    arguments_.push_back(arguments);
  }
  has_correlations_ |= chunk.has_correlations_;
  if (has_correlations_) {
    unlinked_.clear();
    calls_.clear();
    begins_.clear();
    ends_.clear();
    return;
  }
  for (Unlinked work : chunk.unlinked_) {
    work.row += work.work == Work::kKernel ? trace.kernels.size()
                : work.work == Work::kCopy ? trace.copies.size()
                                           : trace.sets.size();
    unlinked_.push_back(work);
  }
  for (const Linked& call : chunk.calls_)
    calls_.push_back({call.external, call.row + trace.api_calls.size()});
  begins_.insert(begins_.end(), chunk.begins_.begin(), chunk.begins_.end());
  ends_.insert(ends_.end(), chunk.ends_.begin(), chunk.ends_.end());
}

void Launches::Correlate(Trace& trace) const {
  if (unlinked_.empty() || trace.api_calls.size() == 0) return;
  ApiCalls& calls = trace.api_calls;
  int64_t last = 0;  // of the ids that leave room for more
  for (size_t i = 0; i < calls.size(); ++i)
    if (calls.correlation[i] < kLargeId) last = std::max(last, calls.correlation[i]);
  const auto link = [&](const Unlinked& work, size_t call) {
    if (calls.correlation[call] == kNoCorrelation) calls.correlation.Set(call, ++last);
    TableOf(trace, work.work).correlation.Set(work.row, calls.correlation[call]);
  };

  std::map<Place, size_t> call_at;
  for (size_t i = 0; i < calls.size(); ++i) {
    const Thread& thread = trace.threads[calls.thread[i]];
    call_at.try_emplace({trace.processes[thread.process].pid, thread.tid, calls.start[i]}, i);
  }
  std::map<int64_t, size_t> call_of_flow;
  for (const Flow& flow : begins_)
    if (const auto call = call_at.find(flow.place); call != call_at.end())
      call_of_flow.try_emplace(flow.id, call->second);
  std::map<Place, size_t> call_of_work;
  for (const Flow& flow : ends_)
    if (const auto call = call_of_flow.find(flow.id); call != call_of_flow.end())
      call_of_work.try_emplace(flow.place, call->second);

  std::map<std::pair<Work, int64_t>, std::vector<const Unlinked*>> left;  // by operator
  for (const Unlinked& work : unlinked_) {
    if (const auto call = call_of_work.find(work.place); call != call_of_work.end())
      link(work, call->second);
    else if (work.external >= 0)
      left[{work.work, work.external}].push_back(&work);
  }
  if (left.empty()) return;

  // What one operator launches runs in the order of its calls; where work is left over, the last call
  // launched a graph.
  std::map<int64_t, std::vector<size_t>> calls_of;
  for (const Linked& call : calls_) calls_of[call.external].push_back(call.row);
  for (auto& [external, rows] : calls_of)
    std::stable_sort(rows.begin(), rows.end(),
                     [&](size_t a, size_t b) { return calls.start[a] < calls.start[b]; });
  for (auto& [key, works] : left) {
    const auto rows = calls_of.find(key.second);
    if (rows == calls_of.end()) continue;
    std::vector<size_t> starting;
    for (const size_t row : rows->second)
      if (Starts(key.first, trace.names.View(calls.name[row]))) starting.push_back(row);
    if (starting.empty()) continue;
    std::stable_sort(works.begin(), works.end(),
                     [](const Unlinked* a, const Unlinked* b) { return a->place.start < b->place.start; });
    for (size_t i = 0; i < works.size(); ++i) link(*works[i], starting[std::min(i, starting.size() - 1)]);
  }
}

void Launches::Describe(Trace& trace, gpu_rows::Tables& tables) const {
  if (arguments_.empty()) return;
  const ApiCalls& calls = trace.api_calls;
  struct Described {
    int64_t correlation;
    uint32_t process;
    const Arguments* arguments;
  };
  std::vector<Described> known;
  known.reserve(arguments_.size());
  for (const Arguments& arguments : arguments_)
    if (const int64_t correlation = calls.correlation[arguments.call]; correlation != kNoCorrelation)
      known.push_back({correlation, trace.threads[calls.thread[arguments.call]].process, &arguments});
  const auto before = [](const Described& a, const Described& b) {
    return std::pair(a.correlation, a.process) < std::pair(b.correlation, b.process);
  };
  std::stable_sort(known.begin(), known.end(), before);
  const auto find = [&](const GpuOperations& ops, size_t row) -> const Arguments* {
    const Described wanted{ops.correlation[row], ops.process[row], nullptr};
    const auto found = std::lower_bound(known.begin(), known.end(), wanted, before);
    return found == known.end() || before(wanted, *found) ? nullptr : found->arguments;
  };

  Kernels& k = trace.kernels;
  for (size_t i = 0; i < k.size(); ++i) {
    const Arguments* arguments = find(k, i);
    if (!arguments || !arguments->has_shape) continue;
    const bool in_threads = HasGridInThreads(trace.names.View(calls.name[arguments->call]));
    if (k.grid[i] == 0)
      k.shared_bytes.Set(i, arguments->shared_bytes);
    else if (!in_threads)
      continue;
    const LaunchShape recorded =
        k.grid[i] == 0 ? arguments->shape : k.shapes[static_cast<size_t>(k.shape[i])];
    const LaunchShape shape = in_threads ? InBlocks(recorded) : recorded;
    k.grid.Set(i, gpu_rows::Product(shape.grid));
    k.block.Set(i, gpu_rows::Product(shape.block));
    k.shape.Set(i, tables.Shape(shape));
  }
  Copies& c = trace.copies;
  for (size_t i = 0; i < c.size(); ++i)
    if (const Arguments* arguments = c.bytes[i] == 0 ? find(c, i) : nullptr)
      c.bytes[i] = arguments->copied_bytes;
}

}  // namespace dladvisor::kineto
