// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/communication/collective_track.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "src/analysis/communication/collective.h"
#include "src/analysis/context/varint.h"

namespace dladvisor {
namespace {

constexpr size_t kMostCalls = 1 << 17;

// Steady steps of a rank; the window as step 0 where none were found.
std::vector<Step> StepsOf(const Context& context, size_t gpu) {
  std::vector<Step> steady;
  for (const auto& [rank, steps] : context.steps.by_rank)
    if (rank == context.ranks.gpus[gpu].rank)
      for (const Step& step : steps)
        if (!step.warmup) steady.push_back(step);
  if (context.steps.by_rank.empty()) {
    Step& whole = steady.emplace_back();
    whole.time = context.windows[gpu];
  }
  return steady;
}

}  // namespace

std::vector<CollectiveTrack> ComputeCollectiveTracks(const Context& context,
                                                     const std::vector<GpuTimeline>& timelines) {
  const Trace& trace = context.trace;
  const Kernels& kernels = trace.kernels;
  std::vector<CollectiveTrack> tracks;
  for (size_t gpu = 0; gpu < context.work.size(); ++gpu) {
    const std::vector<Step> steps = StepsOf(context, gpu);
    const IntervalSet& exposed = timelines[gpu].exposed_communication;
    CollectiveTrack track;
    track.rank = context.ranks.gpus[gpu].rank;
    track.device = trace.devices[context.ranks.gpus[gpu].device].ordinal;
    CollectiveNames names(context);
    std::map<CollectiveTrack::Kind, uint32_t> kinds;
    std::map<int64_t, int64_t> streams;
    std::map<std::pair<uint32_t, int64_t>, int64_t> orders;  // by kind and step
    size_t at = 0, exposed_at = 0;
    for (const uint32_t k : context.work[gpu].kernels) {
      if (!context.kernels[kernels.name[k]].communication || track.calls.size() == kMostCalls) continue;
      while (at < steps.size() && kernels.start[k] >= steps[at].time.end) ++at;
      if (at == steps.size()) break;
      if (kernels.start[k] < steps[at].time.start) continue;
      CollectiveTrack::Kind kind;
      CollectiveTrack::Call call;
      kind.collective = names.Of(k);
      const auto of = kernels.collective.size() == 0 ? size_t{0} : static_cast<size_t>(kernels.collective[k]);
      if (of > 0) {
        const Collective& recorded = trace.collectives[of];
        if (recorded.group != kNoName) kind.group = trace.names.View(recorded.group);
        if (recorded.group_ranks != kNoName) kind.group_ranks = trace.names.View(recorded.group_ranks);
        call.bytes = BytesOf(trace, recorded).value_or(call.bytes);
      }
      if (kernels.collective_number.size() > 0) call.number = kernels.collective_number[k];
      kind.stream = streams.emplace(kernels.stream[k], static_cast<int64_t>(streams.size())).first->second;
      const auto [entry, is_new] = kinds.emplace(kind, static_cast<uint32_t>(kinds.size()));
      if (is_new) track.kinds.push_back(kind);
      call.kind = entry->second;
      call.step = steps[at].number;
      call.order = orders[{call.kind, call.step}]++;
      call.start = kernels.start[k];
      call.end = kernels.end[k];
      call.exposed_from = call.end;
      while (exposed_at < exposed.size() && exposed[exposed_at].end <= call.start) ++exposed_at;
      for (size_t e = exposed_at; e < exposed.size() && exposed[e].start < call.end; ++e) {
        const Ns from = std::max(exposed[e].start, call.start);
        if (call.exposed_ns == 0) call.exposed_from = from;
        call.exposed_ns += std::min(exposed[e].end, call.end) - from;
      }
      track.calls.push_back(call);
    }
    if (!track.calls.empty()) tracks.push_back(std::move(track));
  }
  return tracks;
}

// A negative count, -1 - n, says that the calls hold numbers.
std::string EncodeCalls(const std::vector<CollectiveTrack::Call>& calls) {
  std::string out;
  CollectiveTrack::Call before;
  const bool numbered =
      std::ranges::any_of(calls, [](const CollectiveTrack::Call& call) { return call.number != 0; });
  const auto count = static_cast<int64_t>(calls.size());
  PutVarint(out, numbered ? -1 - count : count);
  for (const CollectiveTrack::Call& call : calls) {
    PutVarint(out, call.kind);
    PutVarint(out, call.step - before.step);
    PutVarint(out, call.order);
    PutVarint(out, call.start - before.start);
    PutVarint(out, call.end - call.start);
    PutVarint(out, call.exposed_ns);
    PutVarint(out, call.end - call.exposed_from);
    PutVarint(out, call.bytes);
    if (numbered) PutVarint(out, call.number);
    before = call;
  }
  return out;
}

std::vector<CollectiveTrack::Call> DecodeCalls(const std::string& encoded, size_t kinds) {
  VarintReader reader(encoded, "collectives");
  const int64_t encoded_count = reader.Next();
  const bool numbered = encoded_count < 0;
  const int64_t count = numbered ? -(encoded_count + 1) : encoded_count;
  std::vector<CollectiveTrack::Call> calls;
  CollectiveTrack::Call before;
  for (int64_t i = 0; i < count; ++i) {
    CollectiveTrack::Call call;
    const int64_t kind = reader.Next();
    if (kind < 0 || static_cast<size_t>(kind) >= kinds)
      throw Error("collectives", "are damaged", "Write the digest again from the profile.");
    call.kind = static_cast<uint32_t>(kind);
    call.step = before.step + reader.Next();
    call.order = reader.Next();
    call.start = before.start + reader.Next();
    call.end = call.start + reader.Next();
    call.exposed_ns = reader.Next();
    call.exposed_from = call.end - reader.Next();
    call.bytes = reader.Next();
    if (numbered) call.number = reader.Next();
    calls.push_back(call);
    before = call;
  }
  return calls;
}

}  // namespace dladvisor
