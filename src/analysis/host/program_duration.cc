// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/host/program_duration.h"

#include <algorithm>

namespace dladvisor {
namespace {

void Cover(std::optional<Interval>& all, Interval time) {
  if (!all) all = time;
  all->start = std::min(all->start, time.start);
  all->end = std::max(all->end, time.end);
}

template <class Events>
void CoverAll(std::optional<Interval>& all, const Events& events) {
  for (size_t i = 0; i < events.size(); ++i) Cover(all, {events.start[i], events.end[i]});
}

template <class Events>
bool MarkProcesses(const Trace& trace, const Events& events, std::vector<uint8_t>& marked) {
  bool any = false;
  for (size_t i = 0; i < events.size(); ++i) {
    const uint32_t thread = events.thread[i];
    if (thread == kNoIndex || trace.threads[thread].process == kNoIndex) continue;
    marked[trace.threads[thread].process] = any = true;
  }
  return any;
}

void MarkMostSampled(const Trace& trace, std::vector<uint8_t>& marked) {
  std::vector<size_t> samples(trace.processes.size());
  for (const uint32_t thread : trace.cpu_samples.thread)
    if (thread != kNoIndex && trace.threads[thread].process != kNoIndex)
      ++samples[trace.threads[thread].process];
  const auto most = std::max_element(samples.begin(), samples.end());
  if (most != samples.end() && *most > 0) marked[static_cast<size_t>(most - samples.begin())] = true;
}

}  // namespace

std::vector<uint8_t> ProgramProcesses(const Trace& trace) {
  std::vector<uint8_t> marked(trace.processes.size());
  if (!MarkProcesses(trace, trace.api_calls, marked) && !MarkProcesses(trace, trace.os_calls, marked))
    MarkMostSampled(trace, marked);
  return marked;
}

std::optional<Interval> ProgramDuration(const Context& context) {
  const Trace& trace = context.trace;
  const std::vector<uint8_t> processes = ProgramProcesses(trace);
  const auto is_of_program = [&](uint32_t thread) {
    return thread != kNoIndex && trace.threads[thread].process != kNoIndex &&
           processes[trace.threads[thread].process];
  };
  std::optional<Interval> time;
  const auto add = [&](const auto& events) {
    for (size_t i = 0; i < events.size(); ++i)
      if (is_of_program(events.thread[i])) Cover(time, {events.start[i], events.end[i]});
  };
  add(trace.os_calls);
  add(trace.cpu_runs);
  const CpuSamples& samples = trace.cpu_samples;
  for (size_t i = 0; i < samples.size(); ++i)
    if (is_of_program(samples.thread[i])) Cover(time, {samples.time[i], samples.time[i]});
  if (time && context.activity.length() > 0) Cover(time, context.activity);
  return time && time->length() > 0 ? time : std::nullopt;
}

std::optional<Interval> GpuWorkSpan(const Trace& trace) {
  std::optional<Interval> span;
  CoverAll(span, trace.kernels);
  CoverAll(span, trace.copies);
  CoverAll(span, trace.sets);
  CoverAll(span, trace.graph_launches);
  return span;
}

std::optional<Interval> GpuSpan(const Trace& trace) {
  std::optional<Interval> span = GpuWorkSpan(trace);
  CoverAll(span, trace.api_calls);
  return span;
}

}  // namespace dladvisor
