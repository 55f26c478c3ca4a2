// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/network.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "src/importers/gpu_rows/gpu_work.h"
#include "src/importers/nsys/import_context.h"

namespace dladvisor::nsys {

namespace {

// Every table of calls has these columns, some of them.
void ReadCalls(Context& in, std::string_view table) {
  enum : size_t { kThread = 2, kText, kName, kSize };
  Activity activity(in, table, {"start", "end", "globalTid", "textId", "nameId", "size"});
  const Rows& rows = activity.rows();
  MpiCalls& m = in.trace.mpi_calls;
  while (activity.Next()) {
    const auto thread = rows.Integer(kThread);
    if (!thread) {
      activity.Skip();
      continue;
    }
    const NameId text = in.names.Of(rows, kText);
    const int64_t bytes = rows.Integer(kSize, -1);
    m.start.push_back(activity.start());
    m.end.push_back(activity.end());
    m.thread.push_back(in.hosts.Thread(*thread));
    m.name.push_back(text != kNoName ? text : in.names.Of(rows, kName));
    m.bytes.push_back(bytes >= 0 && bytes <= gpu_rows::kMostBytes ? bytes : -1);
  }
}

void ReadNetworkMetrics(Context& in) {
  std::map<int64_t, NameId> adapters;  // nicId, later replaced by globalId where there is a map
  Rows nics(in.db, "TARGET_INFO_NIC_INFO", {"nicId", "name", "globalId", "GUID"});
  std::map<int64_t, NameId> by_global;
  while (nics.Next()) {
    const NameId name = in.names.Of(nics, 1);
    if (const auto id = nics.Integer(0)) adapters[*id] = name;
    for (const size_t column : {size_t{2}, size_t{3}})
      if (const auto id = nics.Integer(column)) by_global[*id] = name;
  }
  Rows map(in.db, "NIC_ID_MAP", {"nicId", "globalId"});
  while (map.Next()) {
    const auto nic = map.Integer(0), global = map.Integer(1);
    if (nic && global && adapters.contains(*nic)) by_global[*global] = adapters[*nic];
  }
  std::map<std::pair<int64_t, int64_t>, NameId> metrics;
  Rows info(in.db, "TARGET_INFO_NETWORK_METRICS", {"metricsListId", "metricsIdx", "name"});
  while (info.Next()) {
    const auto list = info.Integer(0), index = info.Integer(1);
    if (list && index) metrics[{*list, *index}] = in.names.Of(info, 2);
  }
  enum : size_t { kAdapter = 1, kList, kIndex, kValue };
  Activity activity(in, "NET_NIC_METRIC", {"start", "globalId", "metricsListId", "metricsIdx", "value"},
                    Activity::End::kNone);
  const Rows& rows = activity.rows();
  NetworkMetrics& n = in.trace.network_metrics;
  while (activity.Next()) {
    const auto list = rows.Integer(kList), index = rows.Integer(kIndex), adapter = rows.Integer(kAdapter);
    const auto value = rows.Real(kValue);
    const auto metric = list && index ? metrics.find({*list, *index}) : metrics.end();
    if (metric == metrics.end() || !value) {
      activity.Skip();
      continue;
    }
    const auto name = adapter ? by_global.find(*adapter) : by_global.end();
    n.time.push_back(activity.start());
    n.adapter.push_back(name != by_global.end() ? name->second : kNoName);
    n.metric.push_back(metric->second);
    n.value.push_back(*value);
  }
  SortByStart(n);
}

}  // namespace

void ReadNetwork(Context& context) {
  for (const std::string_view table :
       {"MPI_P2P_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_OTHER_EVENTS", "UCP_EVENTS",
        "UCP_SUBMIT_EVENTS", "UCP_PROGRESS_EVENTS", "OPENSHMEM_EVENTS"})
    ReadCalls(context, table);
  SortByStart(context.trace.mpi_calls);
  ReadNetworkMetrics(context);
}

}  // namespace dladvisor::nsys
