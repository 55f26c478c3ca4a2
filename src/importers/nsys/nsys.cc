// SPDX-License-Identifier: Apache-2.0
#include "src/importers/nsys/nsys.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/base/error.h"
#include "src/importers/nsys/cpu.h"
#include "src/importers/nsys/gpu_events.h"
#include "src/importers/nsys/host_events.h"
#include "src/importers/nsys/import_context.h"
#include "src/importers/nsys/measurements.h"
#include "src/importers/nsys/network.h"
#include "src/importers/nsys/nvtx.h"
#include "src/importers/nsys/parts.h"
#include "src/importers/nsys/target_info.h"
#include "src/importers/nsys/ties.h"
#include "src/importers/sqlite/damaged.h"

namespace dladvisor {

namespace {

// Tables of activity: what may be missing because it was not captured or did not happen.
constexpr std::array kActivityTables = {
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "NVTX_EVENTS",
    "OSRT_API",
    "PROFILER_OVERHEAD",
    "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "GPU_METRICS",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
    "COMPOSITE_EVENTS",
    "SCHED_EVENTS",
    "MPI_P2P_EVENTS",
    "MPI_COLLECTIVES_EVENTS",
    "NET_NIC_METRIC",
};
// Tables that any export has, whatever was captured.
constexpr std::array kFrameTables = {"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA",
                                     "TARGET_INFO_SYSTEM_ENV"};

bool HasExportTables(const sqlite::Database& db) {
  const auto has = [&](const char* table) { return db.Has(table); };
  return std::any_of(kFrameTables.begin(), kFrameTables.end(), has) ||
         std::any_of(kActivityTables.begin(), kActivityTables.end(), has);
}

[[noreturn]] void RefuseStrangeDatabase(const sqlite::Database& db) {
  const std::string& where = db.path();
  if (db.Has("expert_systems_feedback") || db.Has("read_only_kernels"))
    throw Error(where, "a DLProf database without its tables of ops (read_only_ops, read_only_op_instances)",
                "give the nsys_profile.sqlite that DLProf wrote beside it");
  std::string found;
  size_t listed = 0;
  for (const auto& [name, page] : db.tables()) {
    if (listed++ == 5) {
      found += ", ...";
      break;
    }
    found += (found.empty() ? "" : ", ") + name;
  }
  throw WrongKind(where,
                  "a SQLite database without Nsight Systems tables (looked for StringIds, META_DATA_EXPORT, "
                  "CUPTI_ACTIVITY_KIND_KERNEL, NVTX_EVENTS, OSRT_API and others; found " +
                      (found.empty() ? std::string("no table") : found) + ")",
                  "export the report with: nsys export --type sqlite REPORT.nsys-rep");
}

Trace ReadDatabase(const sqlite::Database& db) {
  try {
    return ReadNsysExport(db);
  } catch (const sqlite::Damaged& e) {
    throw Error(e.where(), e.reason(),
                "copy the file again, or export it again: nsys export --type sqlite --force-overwrite true "
                "REPORT.nsys-rep");
  }
}

}  // namespace

Trace ReadNsysExport(const sqlite::Database& db) {
  if (!HasExportTables(db)) RefuseStrangeDatabase(db);

  Trace trace;
  trace.path = db.path();
  trace.format = "nsys";
  for (const char* table : kActivityTables)
    if (!db.Has(table)) trace.health.missing_tables.push_back(table);

  const nsys::Strings strings(db);
  nsys::Parts parts(strings);
  nsys::PlanGpuEvents(db, parts);
  nsys::PlanHostEvents(db, parts);
  nsys::PlanNvtx(db, parts);
  nsys::Names names(strings, trace.names);
  nsys::Hosts hosts(db, names, trace);
  nsys::Devices devices(db, trace);
  nsys::Domains domains;
  LaunchShapes shapes(trace.kernels.shapes);
  nsys::Context context{db, trace, names, hosts, devices, domains, shapes, &parts};
  parts.ReadAhead([&] {
    nsys::ReadSystem(context);
    nsys::ReadGpuEvents(context);
    nsys::ReadHostEvents(context);
    nsys::ReadNvtx(context);
    nsys::ReadMeasurements(context);
    nsys::ReadCpu(context);
    nsys::ReadNetwork(context);
    nsys::ReadStreams(context);
    nsys::ReadProgramError(context);
  });
  // Not while parts are read: the threads that read them wait where they are far ahead.
  SortByStart(trace.kernels);
  SortByStart(trace.api_calls);
  SortByStartLongestFirst(trace.ranges);
  SortDevices(trace);
  nsys::OrderRowsThatStartTogether(trace);
  return trace;
}

constinit const Importer kNsysImporter = {
    .in_list = "Nsight Systems export (.sqlite or .nsys-rep)",
    .extensions = ".sqlite",
    .more_extensions = ".db",
    .fits =
        [](const Input& input) {
          return input.database() ? Importer::Fit::kUnlessAnother : Importer::Fit::kNo;
        },
    .read = [](Input& input) { return std::optional(ReadDatabase(*input.database())); },
};

}  // namespace dladvisor
