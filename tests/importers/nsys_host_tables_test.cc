// SPDX-License-Identifier: Apache-2.0
// Tables of host activity that few captures hold: samples, context switches, MPI, page faults, adapters,
// streams. Small exports written here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "src/events/event_relations.h"
#include "src/importers/importers.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
using test::MakeDatabase;
using test::ScratchDir;
using testing::ElementsAre;

constexpr char kHostStrings[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'MPI_Allreduce'), (2, 'decode'), (3, 'load'), (4, 'read'), (5, "
    "'0x7eff'), "
    "(6, '/usr/lib64/libnvidia-ptxjitcompiler.so.515.65.01'), (7, '/usr/lib64/libc.so.6');";

class HostTables : public testing::Test {
 protected:
  Trace Read(const std::string& sql) {
    // An API call of process 900 makes it a process of the profile.
    return ReadProfile(MakeDatabase(
        dir_.path() / "export.sqlite",
        std::string(kHostStrings) +
            "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId, "
            "returnValue); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1, 2, " +
            test::Tid(900, 900) + ", 1, 1, 0);" + sql));
  }

  ScratchDir dir_;
};

TEST_F(HostTables, RunsArePairsOfSwitches) {
  const Trace t = Read(
      "CREATE TABLE SCHED_EVENTS (start, cpu, isSchedIn, globalTid);"
      "INSERT INTO SCHED_EVENTS VALUES (5, 1, 0, " +
      test::Tid(900, 900) + "), (10, 3, 1, " + test::Tid(900, 900) + "), (12, 4, 1, " + test::Tid(900, 901) +
      "), (20, 3, 0, " + test::Tid(900, 900) + "), (30, 4, 0, " + test::Tid(900, 901) + "), (40, 5, 1, " +
      test::Tid(900, 900) + "), (15, 2, 1, " + test::Tid(7, 7) + "), (16, 2, 0, " + test::Tid(7, 7) + ");");
  // The switch away at 5 and the run that goes on at 40 are cut off; process 7 is not the program's.
  EXPECT_THAT(t.cpu_runs.start, ElementsAre(10, 12));
  EXPECT_THAT(t.cpu_runs.end, ElementsAre(20, 30));
  EXPECT_THAT(t.cpu_runs.cpu, ElementsAre(3, 4));
}

TEST_F(HostTables, SamplesCarryTheirStack) {
  const Trace t = Read(
      "CREATE TABLE COMPOSITE_EVENTS (id, start, cpu, threadState, globalTid, cpuCycles);"
      "CREATE TABLE SAMPLING_CALLCHAINS (id, symbol, module, stackDepth);"
      "INSERT INTO COMPOSITE_EVENTS VALUES (1, 50, 0, 1, " +
      test::Tid(900, 900) + ", 9), (2, 40, 0, 1, " + test::Tid(900, 900) +
      ", 9); INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 3, 0, 1), (1, 2, 0, 0);");
  ASSERT_THAT(t.cpu_samples.time, ElementsAre(40, 50));
  EXPECT_EQ(t.cpu_samples.chains[t.cpu_samples.chain[0]].size(), 0u);
  for (const auto& relation : EventRelations(t))
    if (relation->schema().name == "cpu_sample") {
      EXPECT_EQ(relation->At(0, 3).kind, CellView::Kind::kNull);
      EXPECT_EQ(relation->At(1, 3).text, "decode");
      EXPECT_EQ(relation->At(1, 4).text, "load");
    }
}

TEST_F(HostTables, AddressesAreNamedByTheirLibrary) {
  const Trace t = Read(
      "CREATE TABLE COMPOSITE_EVENTS (id, start, cpu, threadState, globalTid, cpuCycles);"
      "CREATE TABLE SAMPLING_CALLCHAINS (id, symbol, module, stackDepth);"
      "INSERT INTO COMPOSITE_EVENTS VALUES (1, 50, 0, 1, " +
      test::Tid(900, 900) +
      ", 9); INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 5, 6, 0), (1, 5, 7, 1), (1, 2, 6, 2);");
  ASSERT_EQ(t.cpu_samples.size(), 1u);
  std::vector<std::string_view> frames;
  for (const NameId frame : t.cpu_samples.chains[t.cpu_samples.chain[0]])
    frames.push_back(t.names.View(frame));
  EXPECT_THAT(frames, ElementsAre("libnvidia-ptxjitcompiler", "[libc.so.6]", "decode"));
}

TEST_F(HostTables, MpiCallsOfAllTables) {
  const Trace t = Read(
      "CREATE TABLE MPI_COLLECTIVES_EVENTS (start, end, globalTid, textId, commHandle, rootRank, size);"
      "CREATE TABLE MPI_OTHER_EVENTS (start, end, globalTid, textId);"
      "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (50, 60, " +
      test::Tid(900, 900) +
      ", 1, 0, 0, 4096);"
      "INSERT INTO MPI_OTHER_EVENTS VALUES (10, 20, " +
      test::Tid(900, 900) + ", 1);");
  EXPECT_THAT(t.mpi_calls.start, ElementsAre(10, 50));
  EXPECT_THAT(t.mpi_calls.bytes, ElementsAre(-1, 4096));
  EXPECT_EQ(t.names.View(t.mpi_calls.name[1]), "MPI_Allreduce");
}

TEST_F(HostTables, PageFaultsOfBothSides) {
  const Trace t = Read(
      "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, end, globalPid, deviceId, address, "
      "numberOfPageFaults, faultAccessType);"
      "CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address);"
      "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (50, 60, " +
      test::Pid(900) +
      ", 0, 4096, 12, 1);"
      "INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS VALUES (10, " +
      test::Pid(900) + ", 4096);");
  EXPECT_THAT(t.page_faults.start, ElementsAre(10, 50));
  EXPECT_THAT(t.page_faults.end, ElementsAre(10, 60));
  EXPECT_THAT(t.page_faults.faults, ElementsAre(1, 12));
  EXPECT_EQ(t.page_faults.device[0], kNoIndex);
  EXPECT_EQ(t.page_faults.device[1], 0u);
}

TEST_F(HostTables, AdapterCountersByName) {
  const Trace t = Read(
      "CREATE TABLE TARGET_INFO_NIC_INFO (GUID, stateName, nicId, name);"
      "CREATE TABLE NIC_ID_MAP (nicId, globalId);"
      "CREATE TABLE TARGET_INFO_NETWORK_METRICS (metricsListId, metricsIdx, name, description, unit);"
      "CREATE TABLE NET_NIC_METRIC (start, end, globalId, portId, metricsListId, metricsIdx, value);"
      "INSERT INTO TARGET_INFO_NIC_INFO VALUES (1, 'Up', 3, 'mlx5_0'); INSERT INTO NIC_ID_MAP VALUES (3, 77);"
      "INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (1, 0, 'IB: Bytes sent', '', 'B/ms');"
      "INSERT INTO NET_NIC_METRIC VALUES (20, 30, 77, 1, 1, 0, 5000), (10, 20, 78, 1, 1, 0, 1), "
      "(30, 40, 77, 1, 1, 9, 1);");
  ASSERT_THAT(t.network_metrics.time, ElementsAre(10, 20));
  EXPECT_EQ(t.names.View(t.network_metrics.adapter[1]), "mlx5_0");
  EXPECT_EQ(t.network_metrics.adapter[0], kNoName);
  EXPECT_EQ(t.names.View(t.network_metrics.metric[1]), "IB: Bytes sent");
  EXPECT_EQ(t.health.rows_skipped.at("NET_NIC_METRIC"), 1);
}

TEST_F(HostTables, KindsOfStreams) {
  const Trace t = Read(
      "CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId, hwId, vmId, processId, contextId, priority, flag);"
      "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 0, 1, 900, 1, 0, 3), (13, 0, 1, 900, 1, 0, 2), "
      "(14, 0, 1, 900, 1, 0, 1), (15, 0, 1, 900, 1, 0, 99), (7, 0, 1, 5, 1, 0, 3);");
  EXPECT_THAT(t.streams.stream, ElementsAre(7, 13, 14));
  EXPECT_THAT(t.streams.kind,
              ElementsAre(StreamKind::kDefault, StreamKind::kNonBlocking, StreamKind::kBlocking));
}

TEST_F(HostTables, DevicesOfPageFaultsAreInTheOrderOfAllDevices) {
  const Trace t = Read(
      "CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS (start, end, globalPid, deviceId, numberOfPageFaults);"
      "INSERT INTO CUDA_UM_GPU_PAGE_FAULT_EVENTS VALUES (50, 60, " +
      test::Pid(900) + ", 1, 3), (70, 80, " + test::Pid(900) + ", 0, 4);");
  ASSERT_EQ(t.devices.size(), 2u);
  EXPECT_EQ(t.devices[t.page_faults.device.at(0)].ordinal, 1);
  EXPECT_EQ(t.devices[t.page_faults.device.at(1)].ordinal, 0);
}

TEST_F(HostTables, WhetherTheGpuWasTracedIsSaidByOptionsOrMessages) {
  int files = 0;
  const auto traced = [&](const std::string& options, const std::string& message) {
    const Trace t = ReadProfile(MakeDatabase(
        dir_.path() / (std::to_string(++files) + ".sqlite"),
        std::string(kHostStrings) +
            "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT); INSERT INTO META_DATA_CAPTURE VALUES " +
            options + "; CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);" +
            "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 2, '" + message + "');"));
    const auto option = t.capture_options.find("gpu_traced");
    return option == t.capture_options.end() ? "unknown" : option->second;
  };
  EXPECT_EQ(traced("('PROCESS_0:COLLECT_CUDA_TRACE', 'true')", ""), "yes");
  EXPECT_EQ(traced("('PROCESS_0:COLLECT_CUDA_TRACE', 'false'), ('PROCESS_1:COLLECT_CUDA_TRACE', 'true')", ""),
            "yes");
  EXPECT_EQ(traced("('PROCESS_0:COLLECT_CUDA_TRACE', 'false')", ""), "no");
  EXPECT_EQ(traced("('PROCESS_0:COLLECT_CUDA_TRACE', 'false')",
                   "No CUDA events collected. Does the process use CUDA?"),
            "yes");
  EXPECT_EQ(traced("('PROCESS_0:COLLECT_CUDA_TRACE', 'false'), ('CUDA_TRACE_SCOPE', 'ProcessTree')", ""),
            "unknown");
  EXPECT_EQ(traced("('SHOW_BACKTRACE', 'true')", "Profiling has started."), "unknown");
}

TEST_F(HostTables, TheErrorThatEndsAProgramIsReadFromWhatItPrinted) {
  const Trace t = Read(
      "CREATE TABLE ProcessStreams (globalPid, filenameId, contentId);"
      "INSERT INTO StringIds VALUES (901, 'pid_7_stdout.log'), (902, 'loading'), (903, 'pid_7_stderr.log'),"
      "(904, 'a.out: a.cu:19: int main(): Assertion `n > 0'' failed.' || char(10));"
      "INSERT INTO ProcessStreams VALUES (1, 901, 902), (1, 901, 999), (1, 903, 904), (1, 903, NULL);");
  EXPECT_EQ(t.program_error, "Assertion `n > 0' failed");
}

TEST_F(HostTables, AMachineWithoutADriverListsNoGpu) {
  int files = 0;
  const auto read = [&](const std::string& version) {
    return ReadProfile(MakeDatabase(
        dir_.path() / (std::to_string(++files) + "-driver.sqlite"),
        std::string(kHostStrings) +
            "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV "
            "VALUES ('NvDriverVersion', '" +
            version + "');"));
  };
  const Trace without = read("0"), with = read("575.51.03");
  EXPECT_EQ(without.facts.at("listed_gpus"), "0");
  EXPECT_FALSE(without.facts.contains("driver_version"));
  EXPECT_FALSE(with.facts.contains("listed_gpus"));
  EXPECT_EQ(with.facts.at("driver_version"), "575.51.03");
  EXPECT_EQ(read("51694").facts.at("driver_version"), "516.94") << "as Windows counts them";
}

// Exports of 2022 and 2023 have no options of the capture.
TEST_F(HostTables, WhetherTheGpuWasTracedIsSaidByTheProfilersOwnStart) {
  int files = 0;
  const auto traced = [&](const std::string& start) {
    const Trace t =
        ReadProfile(MakeDatabase(dir_.path() / (std::to_string(++files) + "-start.sqlite"),
                                 std::string(kHostStrings) + "INSERT INTO StringIds VALUES (900, '" + start +
                                     "'); CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, "
                                     "globalTid INTEGER, nameId INTEGER);"
                                     "INSERT INTO PROFILER_OVERHEAD VALUES (1, 2, " +
                                     test::Tid(7, 7) + ", 900);"));
    return t.capture_options.contains("gpu_traced");
  };
  EXPECT_TRUE(traced("CUDA profiling initialization"));
  EXPECT_FALSE(traced("NVTX profiling initialization"));
}

}  // namespace
}  // namespace dladvisor
