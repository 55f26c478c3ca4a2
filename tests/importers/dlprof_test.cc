// SPDX-License-Identifier: Apache-2.0
// Small DLProf databases written here, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/importers/dlprof/dlprof_marker.h"
#include "src/importers/importers.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;

constexpr char kSchema[] =
    "CREATE TABLE dictionary (id INTEGER PRIMARY KEY, string TEXT);"
    "INSERT INTO dictionary VALUES (1, 'conv2d'), (2, 'float16'), (3, 'gemm'), (4, 'void "
    "gemm<float>(float*)'), "
    "(5, 'cudaMemcpyAsync_v3020'), (6, 'cudaEventQuery_v3020'), (7, 'cudaStreamSynchronize_v3020'), (8, "
    "'[[32,3],[6]]'), (9, 'cudaFree_v3020');"
    "CREATE TABLE read_only_ops (id, op_name, op_type_id, data_type_id, stack_trace);"
    "INSERT INTO read_only_ops VALUES (1, '/module/it''s/conv2d', 1, 2, 'a.py:1' || char(10) || 'b.py:2'), "
    "(2, "
    "'unassociated_cudaFree_v3020', 9, 0, NULL);"
    "CREATE TABLE read_only_op_instances (cpu_start, cpu_stop, read_only_ops_id, process_id, thread_id, "
    "input_shapes_id);"
    "CREATE TABLE read_only_grid_block (id, x, y, z);"
    "INSERT INTO read_only_grid_block VALUES (1, 4, 3, 2), (2, 32, 8, 1);"
    "CREATE TABLE read_only_kernels (api_start, api_stop, gpu_start, gpu_stop, device_id, process_id, "
    "thread_id, name_id, long_name_id, grid_id, block_id);"
    "CREATE TABLE read_only_memcpys (api_start, api_stop, gpu_start, gpu_stop, device_id, process_id, "
    "thread_id, name_id, num_bytes, copy_kind);"
    "CREATE TABLE read_only_cuda_syncs (api_start, api_stop, device_id, process_id, thread_id, name_id);"
    "CREATE TABLE read_only_cuda_calls (api_start, api_stop, process_id, thread_id, name_id);"
    "CREATE TABLE iteration_list (start_time, stop_time, iter_value);";

class DlprofImporter : public testing::Test {
 protected:
  Trace Read(const std::string& sql) {
    return ReadProfile(
        test::MakeDatabase(dir_.path() / (std::to_string(++files_) + ".sqlite"), kSchema + sql));
  }

  test::ScratchDir dir_;
  int files_ = 0;
};

TEST_F(DlprofImporter, ReadsKernelsWithTheirCalls) {
  const Trace t = Read(
      "INSERT INTO read_only_kernels VALUES (300, 310, 400, 450, 0, 42, 43, 3, 4, 1, 2), "
      "(100, 110, 200, 250, 0, 42, 43, 3, 4, 1, 2);");
  EXPECT_EQ(t.format, "dlprof");
  ASSERT_EQ(t.kernels.size(), 2u);
  EXPECT_THAT(t.kernels.start, ElementsAre(200, 400)) << "in order of start";
  EXPECT_EQ(t.names.View(t.kernels.short_name[0]), "gemm");
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "void gemm<float>(float*)");
  EXPECT_EQ(t.kernels.grid[0], 24);
  EXPECT_EQ(t.kernels.block[0], 256);
  ASSERT_EQ(t.kernels.shapes.size(), 1u);
  EXPECT_EQ(t.kernels.shapes[t.kernels.shape[1]], (LaunchShape{{4, 3, 2}, {32, 8, 1}}));
  EXPECT_THAT(t.api_calls.start, ElementsAre(100, 300));
  EXPECT_EQ(t.kernels.correlation[0], t.api_calls.correlation[0]);
  EXPECT_EQ(t.processes[t.kernels.process[0]].pid, 42);
  EXPECT_EQ(t.threads[t.api_calls.thread[0]].tid, 43);
  EXPECT_EQ(t.devices.at(0).ordinal, 0);
}

TEST_F(DlprofImporter, ReadsCopiesAndWaits) {
  const Trace t = Read(
      "INSERT INTO read_only_memcpys VALUES (1, 2, 3, 4, 0, 42, 42, 5, 1024, 1);"
      "INSERT INTO read_only_cuda_syncs VALUES (10, 20, 0, 42, 42, 7), (30, 31, 0, 42, 42, 6);"
      "INSERT INTO read_only_cuda_calls VALUES (40, 50, 42, 42, 9);");
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.source[0], MemoryKind::kUnknown)
      << "pageable or pinned: the database does not record it";
  EXPECT_EQ(t.copies.destination[0], MemoryKind::kDevice);
  EXPECT_EQ(t.copies.bytes[0], 1024);
  ASSERT_EQ(t.syncs.size(), 1u) << "cudaEventQuery waits for nothing";
  EXPECT_EQ(t.syncs.kind[0], SyncKind::kStream);
  EXPECT_EQ(t.api_calls.size(), 4u);
}

TEST_F(DlprofImporter, CallsOfOpsBecomeMarkers) {
  const Trace t =
      Read("INSERT INTO read_only_op_instances VALUES (5, 50, 1, 42, 42, 8), (60, 70, 2, 42, 42, 0);");
  ASSERT_EQ(t.ranges.size(), 2u) << "a call outside all ops is no range";
  EXPECT_EQ(t.names.View(t.ranges.name[0]),
            R"({'traceMarker': ['a.py:1', 'b.py:2'], 'funcStack': '/module/it\'s/conv2d'})");
  EXPECT_EQ(t.names.View(t.ranges.name[1]),
            "{'op': 'conv2d', 'args': [{'type': 'tensor', 'shape': (32, 3), 'dtype': 'float16'}, "
            "{'type': 'tensor', 'shape': (6,), 'dtype': 'float16'}]}");
  EXPECT_THAT(t.ranges.start, ElementsAre(5, 5));
  EXPECT_THAT(t.ranges.end, ElementsAre(50, 50));
}

TEST(DlprofMarker, LeavesOutWhatIsNoShape) {
  EXPECT_EQ(OpMarker("relu", "", ""), "{'op': 'relu', 'args': []}");
  EXPECT_EQ(OpMarker("relu", "null", "float32"),
            "{'op': 'relu', 'args': [{'type': 'tensor', 'dtype': 'float32'}]}");
  EXPECT_EQ(OpMarker("relu", "[[],[x],[3", ""), "{'op': 'relu', 'args': []}");
  EXPECT_EQ(PathMarker("it's.py:3\n\n", "a\\b"), R"({'traceMarker': ['its.py:3'], 'funcStack': 'a\\b'})");
}

TEST_F(DlprofImporter, SeveralIterationsBecomeRanges) {
  const std::string kernel = "INSERT INTO read_only_kernels VALUES (1, 2, 3, 4, 0, 42, 42, 3, 4, 1, 2);";
  EXPECT_EQ(Read(kernel + "INSERT INTO iteration_list VALUES (0, 100, 0);").ranges.size(), 0u)
      << "the whole profile";
  const Trace t = Read(kernel + "INSERT INTO iteration_list VALUES (0, 100, 7), (100, 200, 8);");
  ASSERT_EQ(t.ranges.size(), 2u);
  EXPECT_EQ(t.names.View(t.ranges.name[1]), "iteration 8");
  EXPECT_EQ(t.ranges.kind[1], RangeKind::kStartEnd);
}

TEST_F(DlprofImporter, CountsRowsThatCannotBeUsed) {
  const Trace t = Read(
      "INSERT INTO read_only_kernels VALUES (1, 2, 9, 3, 0, 42, 42, 3, 4, 1, 2), (1, 2, NULL, 4, 0, 42, 42, "
      "3, "
      "4, 1, 2), (1, 2, 3, 4, 'x', 42, 42, 3, 4, 1, 2), (1, 9223372036854775807, 3, 4, 0, 42, 42, 3, 4, 1, "
      "2), "
      "(1, 2, 3, 4, 0, 42, 42, 99, 99, 99, 99);"
      "INSERT INTO read_only_memcpys VALUES (1, 2, 3, 4, 0, 42, 42, 5, -1, 1), (1, 2, 3, 4, 0, 42, 42, 5, 1, "
      "99);"
      "INSERT INTO read_only_op_instances VALUES (1, 2, 77, 42, 42, 0), (1, 2, 1, NULL, 42, 0);"
      "INSERT INTO read_only_cuda_calls VALUES (1, 2, NULL, 42, 9);");
  EXPECT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "");
  EXPECT_EQ(t.health.rows_skipped.at("read_only_kernels"), 4);
  EXPECT_EQ(t.health.negative_durations, 1);
  EXPECT_EQ(t.copies.direction.at(0), CopyDirection::kUnknown);
  EXPECT_EQ(t.health.rows_skipped.at("read_only_memcpys"), 1);
  EXPECT_EQ(t.health.rows_skipped.at("read_only_op_instances"), 2);
  EXPECT_EQ(t.health.rows_skipped.at("read_only_cuda_calls"), 1);
  EXPECT_THAT(t.health.missing_tables, ElementsAre("read_only_memsets"));
}

TEST_F(DlprofImporter, IsKnownByItsTables) {
  const fs::path file = test::MakeDatabase(
      dir_.path() / "a.sqlite", "CREATE TABLE read_only_ops (id); CREATE TABLE read_only_op_instances (id);");
  EXPECT_EQ(ReadProfile(file).format, "dlprof");
}

}  // namespace
}  // namespace dladvisor
