// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/host_events.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include "src/importers/nsys/chains.h"
#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/parts.h"

namespace dladvisor::nsys {

namespace {

constexpr std::string_view kApiTable = "CUPTI_ACTIVITY_KIND_RUNTIME";

void ReadApiRows(Context& in) {
  enum : size_t { kThread = 2, kCorrelation, kName, kResult };
  Activity activity(in, kApiTable, {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"});
  const Rows& rows = activity.rows();
  ApiCalls& a = in.trace.api_calls;
  if (a.size() == 0) Reserve(a, rows.SizeHint());
  activity.ForEach([&] {
    const auto thread = rows.Integer(kThread);
    if (!thread) return activity.Skip();
    a.start.push_back(activity.start());
    a.end.push_back(activity.end());
    a.thread.push_back(in.hosts.Thread(*thread));
    a.correlation.push_back(rows.Integer(kCorrelation, kNoCorrelation));
    a.name.push_back(in.names.Of(rows, kName));
    a.result.push_back(rows.Integer(kResult, 0));
  });
}

void ReadApiCalls(Context& in) {
  ApiCalls& a = in.trace.api_calls;
  Reserve(a, static_cast<size_t>(in.db.LastRow(kApiTable)));
  in.parts->Read(in, kApiTable, ReadApiRows);
}

void ReadOsCalls(Context& in) {
  enum : size_t { kThread = 2, kName, kChain };
  Chains chains(in, "OSRT_CALLCHAINS");
  {
    Activity activity(in, "OSRT_API", {"start", "end", "globalTid", "nameId", "callchainId"});
    const Rows& rows = activity.rows();
    OsCalls& o = in.trace.os_calls;
    while (activity.Next()) {
      const auto thread = rows.Integer(kThread);
      if (!thread) {
        activity.Skip();
        continue;
      }
      o.start.push_back(activity.start());
      o.end.push_back(activity.end());
      o.thread.push_back(in.hosts.Thread(*thread));
      o.name.push_back(in.names.Of(rows, kName));
      o.chain.push_back(chains.Index(rows.Integer(kChain)));
    }
    SortByStart(o);
  }
  in.trace.os_calls.chains = chains.Read();
}

// `is_profiler` says whether a row is work of the profiler itself.
template <typename IsProfiler>
void ReadOverheadTable(Context& in, std::string_view table, IsProfiler is_profiler) {
  enum : size_t { kThread = 2, kName, kType };
  Activity activity(in, table, {"start", "end", "globalTid", "nameId", "overheadType"});
  const Rows& rows = activity.rows();
  Overheads& o = in.trace.overheads;
  while (activity.Next()) {
    const auto thread = rows.Integer(kThread);
    if (!thread) {
      activity.Skip();
      continue;
    }
    if (!is_profiler(rows.Integer(kType, 0))) continue;
    o.start.push_back(activity.start());
    o.end.push_back(activity.end());
    o.thread.push_back(in.hosts.Thread(*thread));
    o.name.push_back(in.names.Of(rows, kName));
  }
}

void ReadOverheads(Context& in) {
  ReadOverheadTable(in, "PROFILER_OVERHEAD", [](int64_t) { return true; });
  // ENUM_CUPTI_OVERHEAD_TYPE: 3 buffer flush, 4 instrumentation, 5 resource. The others (module loading,
  // compilation, a full command buffer) are the driver's and happen without a profiler, too.
  ReadOverheadTable(in, "CUPTI_ACTIVITY_KIND_OVERHEAD", [](int64_t type) { return type >= 3 && type <= 5; });
  SortByStart(in.trace.overheads);
  // Files without options of the capture have this row where CUDA was traced, whatever the program did.
  const Trace& trace = in.trace;
  if (std::ranges::any_of(trace.overheads.name, [&](NameId name) {
        return trace.names.View(name) == "CUDA profiling initialization";
      }))
    in.trace.capture_options.try_emplace("gpu_traced", "yes");
}

}  // namespace

void PlanHostEvents(const Database& db, Parts& parts) { parts.Plan(db, kApiTable, ReadApiRows); }

void ReadHostEvents(Context& context) {
  ReadApiCalls(context);
  ReadOsCalls(context);
  ReadOverheads(context);
}

}  // namespace dladvisor::nsys
