// SPDX-License-Identifier: Apache-2.0
// Small databases of rocprofv3 written here, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

// The tables of a process, whose names end in its id. `@` stands for that.
constexpr char kRocpdTables[] =
    "CREATE TABLE rocpd_metadata@ (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);"
    "CREATE TABLE rocpd_string@ (id INTEGER PRIMARY KEY AUTOINCREMENT, guid TEXT, string TEXT);"
    "CREATE TABLE rocpd_info_node@ (id INTEGER PRIMARY KEY, machine_id TEXT, system_name TEXT, hostname TEXT,"
    " release TEXT);"
    "CREATE TABLE rocpd_info_process@ (id INTEGER PRIMARY KEY, nid INTEGER, pid INTEGER, command TEXT,"
    " environment TEXT);"
    "CREATE TABLE rocpd_info_thread@ (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER);"
    "CREATE TABLE rocpd_info_agent@ (id INTEGER PRIMARY KEY, type TEXT, type_index INTEGER, name TEXT,"
    " product_name TEXT, extdata TEXT);"
    "CREATE TABLE rocpd_info_kernel_symbol@ (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT,"
    " arch_vgpr_count INTEGER);"
    "CREATE TABLE rocpd_track@ (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, name_id INTEGER);"
    "CREATE TABLE rocpd_event@ (id INTEGER PRIMARY KEY, category_id INTEGER, stack_id INTEGER,"
    " parent_stack_id INTEGER, correlation_id INTEGER, extdata TEXT);"
    "CREATE TABLE rocpd_region@ (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT,"
    " name_id INTEGER, event_id INTEGER);"
    "CREATE TABLE rocpd_sample@ (id INTEGER PRIMARY KEY, track_id INTEGER, timestamp BIGINT, event_id "
    "INTEGER);"
    "CREATE TABLE rocpd_kernel_dispatch@ (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER,"
    " kernel_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, end BIGINT,"
    " group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER, workgroup_size_z "
    "INTEGER,"
    " grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, event_id INTEGER);"
    "CREATE TABLE rocpd_memory_copy@ (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, start BIGINT, end "
    "BIGINT,"
    " name_id INTEGER, dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER, stream_id INTEGER,"
    " event_id INTEGER);"
    "CREATE TABLE rocpd_memory_allocate@ (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER,"
    " type TEXT, level TEXT, start BIGINT, end BIGINT, address INTEGER, size INTEGER);"
    "INSERT INTO rocpd_metadata@ VALUES (1, 'schema_version', '3');"
    "INSERT INTO rocpd_string@ (id, string) VALUES (1, 'HIP_RUNTIME_API_EXT'), (2, 'hipLaunchKernel'),"
    " (3, 'KERNEL_DISPATCH'), (4, 'MEMORY_COPY'), (5, 'MEMORY_COPY_HOST_TO_DEVICE'), (6, "
    "'MARKER_CORE_RANGE_API'),"
    " (7, 'roctxThreadRangeA'), (8, 'HSA_CORE_API'), (9, 'hsa_signal_store_screlease'), (10, 'RCCL_API'),"
    " (11, 'ncclAllReduce'), (12, 'MEMORY_COPY_DEVICE_TO_DEVICE'), (13, 'roctxMarkA'), (14, "
    "'roctxProcessRangeA');"
    "INSERT INTO rocpd_info_node@ VALUES (7, 'machine', 'Linux', 'node1', '5.15');"
    "INSERT INTO rocpd_info_process@ VALUES (500, 7, 500, 'python train.py', '{\"RANK\": \"3\"}');"
    "INSERT INTO rocpd_info_thread@ VALUES (1, 500, 501);"
    "INSERT INTO rocpd_info_agent@ VALUES (0, 'CPU', 0, 'AMD EPYC', '', '{}'),"
    " (4, 'GPU', 0, 'gfx942', 'AMD Instinct MI300X', '{\"cu_count\": 304, \"max_engine_clk_fcompute\": 2100,"
    " \"mem_banks\": [{\"size_in_bytes\": 206141652992}]}'), (5, 'GPU', 1, 'gfx942', '', '{}');"
    "INSERT INTO rocpd_info_kernel_symbol@ VALUES (10, 'gemm.kd', 'gemm(float*)', 48);";

std::string RocpdOf(const std::string& sql, const std::string& id = "_0000ab") {
  std::string result;
  for (const char c : std::string(kRocpdTables) + sql)
    if (c == '@')
      result += id;
    else
      result += c;
  return result;
}

class Rocpd : public testing::Test {
 protected:
  Trace Read(const std::string& sql) {
    Trace trace = ReadProfile(test::MakeDatabase(dir_.path() / (std::to_string(++files_) + ".db"), sql));
    EXPECT_THAT(CheckTrace(trace), testing::IsEmpty());
    return trace;
  }
  std::string ErrorOf(const std::string& sql) {
    try {
      Read(sql);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(Rocpd, KernelIsOfTheCallThatLaunchesIt) {
  const Trace t = Read(
      RocpdOf("INSERT INTO rocpd_event@ VALUES (1, 1, 33, 0, 0, '{}'), (2, 3, 33, 33, 0, '{}');"
              "INSERT INTO rocpd_region@ VALUES (33, 500, 1, 1000, 1010, 2, 1);"
              "INSERT INTO rocpd_kernel_dispatch@ VALUES (1, 500, 1, 5, 10, 2, 6, 1020, 1090, 512, 64, 2, 1, "
              "250, 6, 1, 2);"));
  EXPECT_EQ(t.format, "rocprofv3");
  EXPECT_EQ(t.schema_version, "3");
  EXPECT_EQ(t.facts.at("host"), "node1");
  EXPECT_EQ(t.command, std::vector<std::string>{"python train.py"});
  EXPECT_EQ(t.environment.at("RANK"), "3");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0], 20);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "gemm(float*)");
  EXPECT_EQ(t.kernels.registers[0], 48);
  EXPECT_EQ(t.kernels.shared_bytes[0], 512);
  EXPECT_EQ(t.kernels.grid[0], 4 * 3);  // of 250 by 6 work-items
  EXPECT_EQ(t.kernels.block[0], 128);
  EXPECT_EQ(t.kernels.stream[0], 6);
  const Device& device = t.devices.at(t.kernels.device[0]);
  EXPECT_EQ(device.ordinal, 1);  // of the GPUs, where agents count processors, too
  EXPECT_EQ(device.name, "AMD gfx942");
  EXPECT_EQ(t.facts.at("listed_gpus"), "2");
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], t.api_calls.correlation[0]);
  EXPECT_EQ(t.threads.at(t.api_calls.thread[0]).tid, 501);
  EXPECT_EQ(t.processes.at(t.kernels.process[0]).pid, 500);
}

TEST_F(Rocpd, DescribesTheGpu) {
  const Trace t = Read(
      RocpdOf("INSERT INTO rocpd_kernel_dispatch@ VALUES (1, 500, 1, 4, 10, 2, 6, 1020, 1090, 0, 64, 1, 1, "
              "64, 1, 1, 2);"));
  const Device& device = t.devices.at(t.kernels.device[0]);
  EXPECT_EQ(device.name, "AMD Instinct MI300X");
  EXPECT_EQ(device.sm_count, 304);
  EXPECT_EQ(device.memory_bytes, 206141652992);
  EXPECT_EQ(device.clock_hz, 2'100'000'000);
}

TEST_F(Rocpd, AGraphLaunchesManyKernels) {
  const Trace t =
      Read(RocpdOf("UPDATE rocpd_string@ SET string = 'hipGraphLaunch' WHERE id = 2;"
                   "INSERT INTO rocpd_event@ VALUES (1, 1, 33, 0, 0, '{}'), (2, 3, 33, 33, 0, '{}');"
                   "INSERT INTO rocpd_region@ VALUES (33, 500, 1, 1000, 1010, 2, 1);"
                   "INSERT INTO rocpd_kernel_dispatch@ VALUES (1, 500, 1, 4, 10, 2, 6, 1020, 1090, 0, 64, 1, "
                   "1, 64, 1, 1, 2),"
                   " (2, 500, 1, 4, 10, 2, 6, 1090, 1100, 0, 64, 1, 1, 64, 1, 1, 2);"));
  ASSERT_EQ(t.kernels.size(), 2u);
  EXPECT_EQ(t.kernels.graph_node[0], 1);
  EXPECT_EQ(t.kernels.graph_node[1], 2);
}

// With HSA traced as well, what a call launches is matched by the call of HSA within it.
TEST_F(Rocpd, FollowsCallsWithinCalls) {
  const Trace t = Read(RocpdOf(
      "INSERT INTO rocpd_event@ VALUES (1, 1, 33, 0, 0, '{}'), (2, 8, 34, 33, 0, '{}'), (3, 3, 34, 34, 0, "
      "'{}');"
      "INSERT INTO rocpd_region@ VALUES (33, 500, 1, 1000, 1010, 2, 1), (34, 500, 1, 1002, 1004, 9, 2);"
      "INSERT INTO rocpd_kernel_dispatch@ VALUES (1, 500, 1, 4, 10, 2, 6, 1020, 1090, 0, 64, 1, 1, 64, 1, "
      "1, 3);"));
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], 33);
  EXPECT_EQ(t.api_calls.correlation[0], 33);
}

TEST_F(Rocpd, Copies) {
  const Trace t = Read(RocpdOf(
      "INSERT INTO rocpd_event@ VALUES (1, 4, 8, 8, 0, '{}');"
      "INSERT INTO rocpd_memory_copy@ VALUES (1, 500, 1, 1000, 1100, 5, 5, 0, 4096, 2, 1),"
      " (2, 500, 1, 1200, 1300, 12, 5, 4, 1024, 2, NULL), (3, 500, 1, 1300, 1400, 5, 0, 0, 1, 2, NULL);"));
  ASSERT_EQ(t.copies.size(), 2u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.bytes[0], 4096);
  EXPECT_EQ(t.copies.correlation[0], 8);
  EXPECT_EQ(t.devices.at(t.copies.device[0]).ordinal, 1);
  EXPECT_EQ(t.copies.direction[1], CopyDirection::kPeerToPeer);
  EXPECT_EQ(t.devices.at(t.copies.device[1]).ordinal, 0);
  EXPECT_EQ(t.health.rows_skipped.at("rocpd_memory_copy"), 1);
}

// The runtime copies and sets memory by kernels of its own.
TEST_F(Rocpd, KernelsOfTheRuntimeAreCopiesAndSets) {
  const auto dispatch = [](int id, int symbol) {
    return "INSERT INTO rocpd_kernel_dispatch@ VALUES (" + std::to_string(id) + ", 500, 1, 4, " +
           std::to_string(symbol) + ", 2, 6, 1020, 1090, 0, 64, 1, 1, 64, 1, 1, 2);";
  };
  const Trace t = Read(
      RocpdOf("INSERT INTO rocpd_info_kernel_symbol@ VALUES (11, '', '__amd_rocclr_fillBufferAligned', 48),"
              " (12, '__amd_rocclr_copyBuffer.kd', '', 48), (13, '', '__amd_rocclr_gwsInit', 48);" +
              dispatch(1, 11) + dispatch(2, 12) + dispatch(3, 13)));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "__amd_rocclr_gwsInit");
  ASSERT_EQ(t.sets.size(), 1u);
  EXPECT_EQ(t.sets.bytes[0], 0);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 0);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kUnknown);
}

TEST_F(Rocpd, MarkersAndCollectivesAreRanges) {
  const Trace t = Read(RocpdOf(
      "INSERT INTO rocpd_event@ VALUES (1, 6, 1, 0, 0, '{\"message\": \"step 1\"}'), (2, 10, 2, 0, 0, '{}'),"
      " (3, 6, 3, 0, 0, '{\"message\": \"here\"}'), (4, 6, 4, 0, 0, '{}'), (5, 6, 5, 0, 0, '{\"message\": "
      "\"all\"}');"
      "INSERT INTO rocpd_track@ VALUES (1, 500, 1, 6);"
      "INSERT INTO rocpd_region@ VALUES (1, 500, 1, 1000, 1100, 7, 1), (2, 500, 1, 1010, 1020, 11, 2),"
      " (4, 500, 1, 1001, 1002, 7, 4), (5, 500, 1, 1000, 1200, 14, 5);"
      "INSERT INTO rocpd_sample@ VALUES (3, 1, 1050, 3);"));
  ASSERT_EQ(t.ranges.size(), 4u);
  EXPECT_EQ(t.names.View(t.ranges.name[0]), "all");
  EXPECT_EQ(t.ranges.kind[0], RangeKind::kStartEnd);
  EXPECT_EQ(t.names.View(t.ranges.name[1]), "step 1");
  EXPECT_EQ(t.ranges.kind[1], RangeKind::kPushPop);
  EXPECT_EQ(t.names.View(t.ranges.name[2]), "ncclAllReduce");
  EXPECT_EQ(t.names.View(t.ranges.domain[2]), "NCCL");
  EXPECT_EQ(t.names.View(t.ranges.name[3]), "here");
  EXPECT_EQ(t.ranges.kind[3], RangeKind::kMark);
  EXPECT_EQ(t.api_calls.size(), 0u);
}

TEST_F(Rocpd, FreedMemoryHasTheSizeOfItsAllocation) {
  const Trace t = Read(RocpdOf(
      "INSERT INTO rocpd_memory_allocate@ VALUES (1, 500, 1, 4, 'ALLOC', 'REAL', 1000, 1010, 4096, 100),"
      " (2, 500, 1, 0, 'ALLOC', 'REAL', 1000, 1011, 8192, 50), (3, 500, 1, NULL, 'FREE', 'REAL', 1020, "
      "1030, 4096, 0),"
      " (4, 500, 1, NULL, 'FREE', 'REAL', 1040, 1050, 4096, 0), (5, 500, 1, 4, 'ALLOC', 'SCRATCH', 1, 2, "
      "1, 100);"));
  ASSERT_EQ(t.memory_events.size(), 2u);
  EXPECT_EQ(t.memory_events.bytes[0], 100);
  EXPECT_EQ(t.memory_events.bytes[1], -100);
}

TEST_F(Rocpd, ReadsTheTablesOfSeveralProcesses) {
  const std::string kernel =
      "INSERT INTO rocpd_event@ VALUES (2, 3, 33, 33, 0, '{}');"
      "INSERT INTO rocpd_kernel_dispatch@ VALUES (1, 500, 1, 4, 10, 2, 6, 1020, 1090, 0, 64, 1, 1, 64, 1, 1, "
      "2);";
  std::string other = RocpdOf(kernel, "_cd");
  for (size_t at = other.find("500,"); at != std::string::npos; at = other.find("500,", at))
    other.replace(at, 4, "600,");
  const Trace t = Read(RocpdOf(kernel) + other);
  ASSERT_EQ(t.kernels.size(), 2u);
  EXPECT_NE(t.processes.at(t.kernels.process[0]).pid, t.processes.at(t.kernels.process[1]).pid);
  EXPECT_EQ(t.devices.size(), 1u);
}

TEST_F(Rocpd, RefusesWhatItCannotRead) {
  std::string other = RocpdOf("", "_cd");
  other.replace(other.find("'machine'"), 9, "'another'");
  EXPECT_THAT(ErrorOf(RocpdOf("") + other), testing::HasSubstr("holds several hosts"));
  EXPECT_THAT(ErrorOf("CREATE TABLE rocpd_info_process_1 (id INTEGER PRIMARY KEY, pid);"
                      "CREATE TABLE rocpd_region_1 (id INTEGER PRIMARY KEY, track_id, start_id, end_id)"),
              testing::HasSubstr("of a version that dladvisor does not read"));
}

// Schema 4: rows refer to tracks, and categories have a table.
TEST_F(Rocpd, OfSchemaFour) {
  const Trace t = Read(
      "CREATE TABLE rocpd_string_1 (id INTEGER PRIMARY KEY, string TEXT);"
      "CREATE TABLE rocpd_info_category_1 (id INTEGER PRIMARY KEY, name TEXT);"
      "CREATE TABLE rocpd_info_process_1 (id INTEGER PRIMARY KEY, pid);"
      "CREATE TABLE rocpd_info_thread_1 (id INTEGER PRIMARY KEY, tid);"
      "CREATE TABLE rocpd_info_agent_1 (id INTEGER PRIMARY KEY, type, type_index);"
      "CREATE TABLE rocpd_info_kernel_symbol_1 (id INTEGER PRIMARY KEY, display_name);"
      "CREATE TABLE rocpd_event_1 (id INTEGER PRIMARY KEY, category_id, stack_id, parent_stack_id);"
      "CREATE TABLE rocpd_track_1 (id INTEGER PRIMARY KEY, pid, tid, agent_id, queue_id, stream_id);"
      "CREATE TABLE rocpd_region_1 (id INTEGER PRIMARY KEY, track_id, name_id, start, end, event_id);"
      "CREATE TABLE rocpd_kernel_dispatch_1 (id INTEGER PRIMARY KEY, track_id, kernel_id, start, end, "
      "event_id);"
      "INSERT INTO rocpd_string_1 VALUES (1, 'hipLaunchKernel');"
      "INSERT INTO rocpd_info_category_1 VALUES (1, 'HIP_RUNTIME_API');"
      "INSERT INTO rocpd_info_process_1 VALUES (1, 4242); INSERT INTO rocpd_info_thread_1 VALUES (1, 4243);"
      "INSERT INTO rocpd_info_agent_1 VALUES (3, 'GPU', 0);"
      "INSERT INTO rocpd_info_kernel_symbol_1 VALUES (1, 'scale');"
      "INSERT INTO rocpd_event_1 VALUES (1, 1, 5, 0), (2, 9, 5, 5);"
      "INSERT INTO rocpd_track_1 VALUES (1, 1, 1, NULL, NULL, NULL), (2, 1, 1, 3, 1, 8);"
      "INSERT INTO rocpd_region_1 VALUES (1, 1, 1, 100, 110, 1);"
      "INSERT INTO rocpd_kernel_dispatch_1 VALUES (1, 2, 1, 120, 150, 2);");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.stream[0], 8);
  EXPECT_EQ(t.kernels.correlation[0], 5);
  EXPECT_EQ(t.kernels.grid[0], 0);
  EXPECT_EQ(t.processes.at(t.kernels.process[0]).pid, 4242);
  ASSERT_EQ(t.api_calls.size(), 1u);
  EXPECT_EQ(t.threads.at(t.api_calls.thread[0]).tid, 4243);
}

TEST_F(Rocpd, HostileCells) {
  const Trace t = Read(
      RocpdOf("INSERT INTO rocpd_event@ VALUES (1, 6, 1, 0, 0, '{\"message\": 5}'), (2, 6, 2, 0, 0, "
              "'{\"message\": '),"
              " (3, 1, -5, 0, 0, NULL), (4, 8, 40, 41, 0, '{}'), (5, 8, 41, 40, 0, '{}');"
              "INSERT INTO rocpd_region@ VALUES (1, 500, 1, 1000, 1100, 7, 1), (2, 500, 1, 1000, 1100, 7, 2),"
              " (3, 77, 88, 1000, 1100, 2, 3), (4, 500, 1, 2, 1, 2, 3), (5, 500, 1, 2, 3, 9, 4), (6, 500, 1, "
              "2, 3, 9, 5),"
              " (7, 500, 1, 5, 9, 2, NULL);"
              "UPDATE rocpd_info_agent@ SET extdata = '[1]', type_index = 9999999 WHERE id = 4;"
              "UPDATE rocpd_info_process@ SET environment = '{\"a\": {}}';"
              "INSERT INTO rocpd_kernel_dispatch@ VALUES (1, 'x', 1, 4, 10, 2, 6, 1020, 1090, 0, 0, -1, 1, "
              "64, 1, 1, 2),"
              " (2, 500, 1, 5, 99, 2, 6, 1020, 1090, 0, 0, -1, NULL, -64, 9223372036854775807, 1, 4),"
              " (3, 500, 1, 0, 10, 2, 6, 1020, 1090, 0, 64, 1, 1, 64, 1, 1, 2);"));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "[unnamed]");
  EXPECT_EQ(t.health.rows_skipped.at("rocpd_kernel_dispatch"), 2);
  EXPECT_EQ(t.ranges.size(), 0u);
  EXPECT_EQ(t.api_calls.size(), 1u);
}

}  // namespace
}  // namespace dladvisor
