// SPDX-License-Identifier: Apache-2.0
#include "src/importers/kineto/operator_totals.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dladvisor::kineto {
namespace {

struct Call {
  uint64_t track = 0;  // a thread, or a stream
  Ns start = 0, end = 0;
  NameId name = kNoName;
};

struct Times {
  int64_t calls = 0;
  double total_ns = 0, self_ns = 0;
};

// Sums by name; `calls` become sorted. Ends of what is measured on the GPU are rounded: of a call that
// outlasts what encloses it only the part within counts against that.
std::map<NameId, Times> Totals(std::vector<Call> calls) {
  std::ranges::sort(calls, [](const Call& a, const Call& b) {
    return std::tuple(a.track, a.start, b.end, a.name) < std::tuple(b.track, b.start, a.end, b.name);
  });
  std::map<NameId, Times> totals;
  std::vector<Call> open;
  for (const Call& call : calls) {
    const auto length = static_cast<double>(call.end - call.start);
    while (!open.empty() && (open.back().track != call.track || open.back().end <= call.start))
      open.pop_back();
    if (!open.empty())
      totals[open.back().name].self_ns -=
          static_cast<double>(std::min(call.end, open.back().end) - call.start);
    Times& times = totals[call.name];
    ++times.calls;
    times.total_ns += length;
    times.self_ns += length;
    open.push_back(call);
  }
  return totals;
}

}  // namespace

SummaryTable OperatorTotals(const Trace& trace, const Spans& on_gpu) {
  std::vector<Call> host, gpu;
  for (size_t i = 0; i < trace.ranges.size(); ++i)
    if (!trace.ranges.open[i])
      host.push_back(
          {trace.ranges.thread[i], trace.ranges.start[i], trace.ranges.end[i], trace.ranges.name[i]});
  for (const Span& span : on_gpu.all())
    gpu.push_back({uint64_t{span.pid} << 32 | span.tid, span.start, span.start + span.duration, span.name});

  std::map<std::string, SummaryRow> rows;
  SummaryTable table{.tool = "torch.profiler", .host_ns = 0, .device_ns = 0, .has_device = true};
  const auto row_of = [&](NameId name) -> SummaryRow& {
    std::string text(trace.names.View(name));
    SummaryRow& row = rows[text];
    row.kind = SummaryRowKind::kOperator;
    row.name = std::move(text);
    return row;
  };
  for (const auto& [name, times] : Totals(std::move(host))) {
    SummaryRow& row = row_of(name);
    row.calls = times.calls;
    row.total_ns = times.total_ns;
    row.self_ns = times.self_ns;
    *table.host_ns += times.self_ns;
  }
  for (const auto& [name, times] : Totals(std::move(gpu))) {
    SummaryRow& row = row_of(name);
    row.calls = std::max(row.calls, times.calls);
    row.device_ns = times.total_ns;
    row.device_self_ns = times.self_ns;
    *table.device_ns += times.self_ns;
  }
  for (auto& [name, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace dladvisor::kineto
