// SPDX-License-Identifier: Apache-2.0
#include "src/timeline/trace_events.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "engine/base/text.h"
#include "engine/base/value.h"
#include "src/trace/kinds.h"

namespace dladvisor {
namespace {

// Tracks of a GPU; its streams come after them, in order of appearance.
enum GpuTrack : int64_t { kStepTrack, kIdleTrack, kWaitingTrack, kFirstStream };

std::string JsonText(std::string_view text) { return nlohmann::ordered_json(ValidUtf8(text)).dump(); }

bool Overlaps(Ns start, Ns end, Interval time) { return start < time.end && end > time.start; }

}  // namespace

std::string TraceEvents::Begin() { return events_.empty() ? "\n" : ",\n"; }

void TraceEvents::NameProcess(int64_t process, const std::string& name) {
  events_ += Begin() + fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})",
                                   process, JsonText(name));
  events_ += Begin() +
             fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{0},"args":{{"sort_index":{0}}}}})",
                         process);
}

void TraceEvents::NameThread(int64_t process, int64_t thread, const std::string& name) {
  events_ +=
      Begin() + fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                            process, thread, JsonText(name));
}

void TraceEvents::Slice(int64_t process, int64_t thread, Interval time, const std::string& name,
                        const char* category, const std::string& arguments) {
  covered_ = covered_.length() == 0
                 ? time
                 : Interval{std::min(covered_.start, time.start), std::max(covered_.end, time.end)};
  events_ += Begin();
  fmt::format_to(std::back_inserter(events_),
                 R"({{"ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"name":{},"cat":"{}")", process,
                 thread, static_cast<double>(time.start - origin_) / 1e3,
                 static_cast<double>(time.length()) / 1e3, name, category);
  if (!arguments.empty()) events_ += ",\"args\":{" + arguments + "}";
  events_ += "}";
}

void TraceEvents::Add(const Context& context, const std::vector<GpuTimeline>& timelines,
                      const StepsByRank& steps, int64_t first_rank, const std::map<int64_t, Ns>& shift) {
  static const std::map<Ns, int64_t> none;
  std::map<uint32_t, int64_t> hosts;  // of processes that have been written
  for (size_t gpu = 0; gpu < context.ranks.gpus.size(); ++gpu) {
    const auto& of_gpu = context.ranks.gpus[gpu];
    const int64_t rank = first_rank + of_gpu.rank - context.ranks.gpus[0].rank;
    const auto known = shift.find(rank);
    const Ns moved = known == shift.end() ? 0 : known->second;
    const auto of_rank = steps.find(rank);
    const std::map<Ns, int64_t>& chosen = of_rank == steps.end() ? none : of_rank->second;
    Interval time = timelines[gpu].window;
    if (!steps.empty()) {
      time = {0, 0};
      for (const StepLedger& step : timelines[gpu].steps)
        if (chosen.contains(step.time.start))
          time = time.length() == 0 ? step.time : Interval{time.start, step.time.end};
    }
    if (time.length() <= 0) continue;
    auto host = hosts.find(of_gpu.process);
    if (host == hosts.end()) {
      host = hosts.emplace(of_gpu.process, processes_++).first;
      NameProcess(host->second, fmt::format("Rank {}, host", rank));
      AddHost(context, of_gpu.process, time, host->second, moved);
    }
    const int64_t process = processes_++;
    NameProcess(process, fmt::format("Rank {}, GPU {}", rank, context.trace.devices[of_gpu.device].ordinal));
    AddGpu(context, timelines[gpu], gpu, time, chosen, process, host->second, moved);
  }
}

void TraceEvents::AddGpu(const Context& context, const GpuTimeline& timeline, size_t gpu, Interval time,
                         const std::map<Ns, int64_t>& steps, int64_t process, int64_t host, Ns shift) {
  const Trace& trace = context.trace;
  const GpuWork& work = context.work[gpu];
  std::map<int64_t, int64_t> streams;     // their tracks
  std::vector<std::pair<Ns, int>> queue;  // launched, begun
  GpuCollectives collectives{process, {}};
  const auto each = [&](const std::vector<uint32_t>& rows, const GpuOperations& operations,
                        const std::vector<uint32_t>& launches, const auto& add) {
    for (const uint32_t row : rows) {
      if (!Overlaps(operations.start[row], operations.end[row], time)) continue;
      const auto [track, is_new] = streams.emplace(operations.stream[row], kFirstStream + streams.size());
      const int64_t stream = track->second;
      if (is_new) NameThread(process, stream, fmt::format("stream {}", operations.stream[row]));
      const Interval at{operations.start[row] + shift, operations.end[row] + shift};
      add(row, stream, at);
      const uint32_t call = launches[row];
      if (call == kNoIndex) continue;
      const Ns launched = trace.api_calls.start[call] + shift;
      queue.emplace_back(std::max(launched, time.start + shift), 1);
      queue.emplace_back(std::max(at.start, time.start + shift), -1);
      if (!Overlaps(trace.api_calls.start[call], trace.api_calls.end[call], time)) continue;
      const uint32_t thread = trace.api_calls.thread[call];
      if (thread == kNoIndex) continue;
      AddArrow({host, HostTrack(trace, host, thread), launched}, {process, stream, at.start});
    }
  };
  each(work.kernels, trace.kernels, context.launches.kernel, [&](uint32_t row, int64_t stream, Interval at) {
    const NameId name = trace.kernels.name[row];
    Slice(process, stream, at, JsonText(trace.names.View(name)), "kernel",
          fmt::format(R"("grid":{},"block":{})", trace.kernels.grid[row], trace.kernels.block[row]));
    if (context.kernels[name].communication && trace.kernels.start[row] >= time.start)
      collectives.collectives.push_back({at.start, at.end});
  });
  each(work.copies, trace.copies, context.launches.copy, [&](uint32_t row, int64_t stream, Interval at) {
    Slice(process, stream, at,
          JsonText(fmt::format("copy {}", CopyDirectionName(trace.copies.direction[row]))), "copy",
          fmt::format(R"("bytes":{})", trace.copies.bytes[row]));
  });
  each(work.sets, trace.sets, context.launches.set,
       [&](uint32_t, int64_t stream, Interval at) { Slice(process, stream, at, R"("memset")", "memset"); });
  each(work.graphs, trace.graph_launches, context.launches.graph, [&](uint32_t, int64_t stream, Interval at) {
    Slice(process, stream, at, R"("CUDA graph")", "graph");
  });
  AddIdle(timeline, time, process, shift);
  AddSteps(timeline, time, steps, process, shift);
  AddQueue(std::move(queue), process);
  std::ranges::sort(collectives.collectives, {}, &Collective::start);
  gpus_.push_back(std::move(collectives));
}

void TraceEvents::AddArrow(const Point& from, const Point& to) {
  ++ids_;
  const auto add = [&](const char* phase, const Point& at) {
    events_ += Begin() +
               fmt::format(R"({{{},"id":{},"pid":{},"tid":{},"ts":{:.3f},"name":"launch","cat":"launch"}})",
                           phase, ids_, at.process, at.thread, static_cast<double>(at.time - origin_) / 1e3);
  };
  add(R"("ph":"s")", from);
  add(R"("ph":"f","bp":"e")", to);
}

void TraceEvents::AddIdle(const GpuTimeline& timeline, Interval time, int64_t process, Ns shift) {
  NameThread(process, kIdleTrack, "idle, by cause");
  for (const Interval& idle : timeline.idle) {
    if (!Overlaps(idle.start, idle.end, time)) continue;
    // The cause is kept of the longest ones.
    const auto gap = std::ranges::upper_bound(timeline.gaps, idle.start, {},
                                              [](const IdleGap& g) { return g.time.start; });
    const bool known = gap != timeline.gaps.begin() && std::prev(gap)->time.end > idle.start;
    Slice(process, kIdleTrack, {idle.start + shift, idle.end + shift},
          JsonText(known ? BucketName(std::prev(gap)->Cause()) : "short gap"), "idle");
  }
}

void TraceEvents::AddSteps(const GpuTimeline& timeline, Interval time, const std::map<Ns, int64_t>& steps,
                           int64_t process, Ns shift) {
  NameThread(process, kStepTrack, "steps");
  for (const StepLedger& step : timeline.steps) {
    if (!Overlaps(step.time.start, step.time.end, time)) continue;
    std::string ledger;
    for (size_t b = 0; b < kBuckets; ++b)
      if (step.ledger[b] > 0)
        ledger += fmt::format(R"({}"{}":"{}")", ledger.empty() ? "" : ",", BucketName(static_cast<Bucket>(b)),
                              FormatValue(step.ledger[b], Unit::kNanoseconds));
    const auto number = steps.find(step.time.start);
    Slice(process, kStepTrack, {step.time.start + shift, step.time.end + shift},
          JsonText(fmt::format("step {}", number == steps.end() ? step.number : number->second)), "step",
          ledger);
  }
}

void TraceEvents::AddQueue(std::vector<std::pair<Ns, int>> changes, int64_t process) {
  std::ranges::sort(changes);
  int64_t length = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    length += changes[i].second;
    if (i + 1 < changes.size() && changes[i + 1].first == changes[i].first) continue;
    events_ +=
        Begin() +
        fmt::format(R"({{"ph":"C","pid":{},"ts":{:.3f},"name":"queue length","args":{{"operations":{}}}}})",
                    process, static_cast<double>(changes[i].first - origin_) / 1e3, length);
  }
}

void TraceEvents::AddHost(const Context& context, uint32_t of_process, Interval time, int64_t process,
                          Ns shift) {
  const Trace& trace = context.trace;
  // Cut to the time shown: a range of the whole program would make the file as long as that.
  const auto shown = [&](Ns start, Ns end) {
    return Interval{std::max(start, time.start) + shift, std::min(end, time.end) + shift};
  };
  const auto is_ours = [&](uint32_t thread) {
    return thread != kNoIndex && trace.threads[thread].process == of_process;
  };
  const Ranges& ranges = trace.ranges;
  for (size_t row = 0; row < ranges.size() && ranges.start[row] < time.end; ++row) {
    if (!is_ours(ranges.thread[row]) || !Overlaps(ranges.start[row], ranges.end[row], time)) continue;
    const int64_t track = HostTrack(trace, process, ranges.thread[row]);
    const Interval at = shown(ranges.start[row], ranges.end[row]);
    const std::string name = JsonText(trace.names.View(ranges.name[row]));
    if (ranges.kind[row] == RangeKind::kPushPop)
      Slice(process, track, at, name, "range");
    else
      Loose(process, track, at, name);
  }
  const ApiCalls& calls = trace.api_calls;
  for (size_t row = 0; row < calls.size() && calls.start[row] < time.end; ++row)
    if (is_ours(calls.thread[row]) && Overlaps(calls.start[row], calls.end[row], time))
      Slice(process, HostTrack(trace, process, calls.thread[row]), shown(calls.start[row], calls.end[row]),
            JsonText(trace.names.View(calls.name[row])), "cuda");
}

int64_t TraceEvents::HostTrack(const Trace& trace, int64_t process, uint32_t thread) {
  const auto [track, is_new] =
      host_tracks_.emplace(std::pair(process, thread), static_cast<int64_t>(host_tracks_.size()) + 1);
  if (is_new) {
    const Thread& of = trace.threads[thread];
    NameThread(process, track->second, of.name.empty() ? fmt::format("thread {}", of.tid) : of.name);
  }
  return track->second;
}

// Ranges that need not nest.
void TraceEvents::Loose(int64_t process, int64_t thread, Interval time, const std::string& name) {
  ++ids_;
  for (const auto& [phase, when] : {std::pair{'b', time.start}, std::pair{'e', time.end}})
    events_ += Begin() +
               fmt::format(R"({{"ph":"{}","id":{},"pid":{},"tid":{},"ts":{:.3f},"name":{},"cat":"range"}})",
                           phase, ids_, process, thread, static_cast<double>(when - origin_) / 1e3, name);
}

void TraceEvents::AddWaiting() {
  if (gpus_.size() < 2 || !one_group_) return;
  const size_t count = gpus_[0].collectives.size();
  for (const GpuCollectives& gpu : gpus_)
    if (gpu.collectives.size() != count) return;
  for (const GpuCollectives& gpu : gpus_)
    if (count > 0) NameThread(gpu.process, kWaitingTrack, "waits for the last rank");
  for (size_t i = 0; i < count; ++i) {
    Ns last = gpus_[0].collectives[i].start;
    for (const GpuCollectives& gpu : gpus_) last = std::max(last, gpu.collectives[i].start);
    for (const GpuCollectives& gpu : gpus_)
      if (const Collective& own = gpu.collectives[i]; std::min(last, own.end) > own.start)
        Slice(gpu.process, kWaitingTrack, {own.start, std::min(last, own.end)}, R"("waiting")", "waiting");
  }
}

void TraceEvents::AddFindings(const Advice& advice) {
  const std::vector<size_t> roots = advice.Roots();
  if (roots.empty() || covered_.length() == 0) return;
  const int64_t process = processes_++;
  NameProcess(process, "Findings");
  const Interval time = covered_;
  std::map<std::string, size_t> subjects;  // by rule: of many ranks the first stands for all
  for (const size_t root : roots) ++subjects[advice.findings[root].rule];
  int64_t track = 0;
  for (const size_t root : roots) {
    const Finding& finding = advice.findings[root];
    const auto of_rule = subjects.extract(finding.rule);
    if (of_rule.empty()) continue;
    NameThread(process, ++track, finding.rule);
    std::string arguments = fmt::format(R"("problem":{})", JsonText(finding.problem.text));
    if (!finding.recommendation.empty())
      arguments += fmt::format(R"(,"recommendation":{})", JsonText(finding.recommendation[0].text));
    if (finding.saves) arguments += fmt::format(R"(,"bucket":{})", JsonText(finding.saves->bucket));
    if (of_rule.mapped() > 1) arguments += fmt::format(R"(,"found":{})", of_rule.mapped());
    Slice(process, track, time, JsonText(finding.title), "finding", arguments);
  }
}

std::string TraceEvents::Finish() {
  AddWaiting();
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + events_ + "\n]}\n";
}

std::string Gzip(const std::string& text) {
  std::string packed;
  std::array<uint8_t, 1 << 16> buffer;
  std::vector<uint8_t> level(ISAL_DEF_LVL1_DEFAULT);
  isal_zstream stream;
  isal_deflate_init(&stream);
  stream.gzip_flag = IGZIP_GZIP;
  stream.level = 1;
  stream.level_buf = level.data();
  stream.level_buf_size = static_cast<uint32_t>(level.size());
  constexpr size_t kPiece = size_t{1} << 30;
  for (size_t at = 0; at < text.size() || stream.internal_state.state != ZSTATE_END;) {
    const size_t size = std::min(kPiece, text.size() - at);
    std::vector<uint8_t> piece(text.begin() + static_cast<std::ptrdiff_t>(at),
                               text.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
    stream.next_in = piece.data();
    stream.avail_in = static_cast<uint32_t>(size);
    stream.end_of_stream = at == text.size();
    do {
      stream.next_out = buffer.data();
      stream.avail_out = static_cast<uint32_t>(buffer.size());
      if (isal_deflate(&stream) != COMP_OK) throw std::runtime_error("the output cannot be compressed");
      packed.append(buffer.begin(), buffer.end() - stream.avail_out);
    } while (stream.avail_out == 0);
  }
  return packed;
}

}  // namespace dladvisor
