// SPDX-License-Identifier: Apache-2.0
// Bandwidths that tools measure of a machine, and what trtexec saves.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadProgram;
using testing::DoubleNear;

constexpr double kNear = 1e-6;

// "name least most".
void ExpectBandwidth(const ProgramOutput& output, const std::string& name, double least, double most) {
  for (const ProgramFigure& figure : output.figures) {
    if (figure.name != name) continue;
    EXPECT_EQ(figure.unit, "GB/s") << name;
    EXPECT_THAT(figure.least, DoubleNear(least, kNear)) << name;
    EXPECT_THAT(figure.most, DoubleNear(most, kNear)) << name;
    return;
  }
  ADD_FAILURE() << "no " << name;
}

TEST(Bandwidths, OfNvbandwidthsMatrices) {
  const ProgramOutput output = ReadProgram(
      "nvbandwidth Version: v0.5\n\nDevice 0: NVIDIA H100 80GB HBM3\n\nRunning host_to_device_memcpy_ce.\n"
      "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0     55.25     12.50\n\n"
      "SUM host_to_device_memcpy_ce 67.75\n\nRunning device_to_device_memcpy_read_ce.\n"
      "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1\n 0       N/A    390.12\n"
      " 1    389.87       N/A\n\nSUM device_to_device_memcpy_read_ce 779.99\n\n"
      "Running device_to_device_latency_sm.\nDevice to Device Latency SM GPU(row) <-> GPU(column) (ns)\n"
      "           0         1\n 0       N/A    772.58\n");
  EXPECT_EQ(output.program, "nvbandwidth");
  ASSERT_EQ(output.figures.size(), 2u);
  ExpectBandwidth(output, "host_to_device_memcpy_ce", 12.5, 55.25);
  ExpectBandwidth(output, "device_to_device_memcpy_read_ce", 389.87, 390.12);
}

TEST(Bandwidths, OfNvbandwidthsJson) {
  const ProgramOutput output = ReadProgram(
      R"json({"nvbandwidth": {"testcases": [{"bandwidth_description": "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)",
 "bandwidth_matrix": [["55.25", "N/A"]], "name": "host_to_device_memcpy_ce", "status": "Passed"},
 {"name": "multinode_device_to_device_memcpy_read_ce", "status": "Waived"}]
}
})json");
  ASSERT_EQ(output.figures.size(), 1u);
  ExpectBandwidth(output, "host_to_device_memcpy_ce", 55.25, 55.25);
}

TEST(Bandwidths, OfTheSamplesByDirectionAndMemory) {
  const ProgramOutput output = ReadProgram(
      " Host to Device Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n"
      "   Transfer Size (Bytes)\tBandwidth(GB/s)\n   32000000\t\t\t25.2\n\n"
      " Host to Device Bandwidth, 1 Device(s)\n PAGEABLE Memory Transfers\n"
      "   Transfer Size (Bytes)\tBandwidth(MB/s)\n   32000000\t\t\t6100.0\n\n"
      " Device to Device Bandwidth, 1 Device(s)\n PINNED Memory Transfers\n"
      "   Transfer Size (Bytes)\tBandwidth(GB/s)\n   32000000\t\t\t1154.8\n\nResult = PASS\n");
  EXPECT_EQ(output.program, "bandwidthTest");
  ExpectBandwidth(output, "host to device (pinned)", 25.2, 25.2);
  ExpectBandwidth(output, "host to device (pageable)", 6.1, 6.1);
  ExpectBandwidth(output, "device to device", 1154.8, 1154.8);
}

TEST(Bandwidths, OfRocmByWhichDevicesAreGpus) {
  const ProgramOutput output = ReadProgram(
      "          RocmBandwidthTest Version: 2.6.0\n\n          Device: 0,  AMD EPYC 7763 64-Core Processor\n"
      "          Device: 1,  AMD Instinct MI250X,  GPU-12,  c1:0.0\n"
      "          Device: 2,  AMD Instinct MI250X,  GPU-22,  c6:0.0\n\n"
      "          Inter-Device Access\n\n          D/D       0         1         2\n\n"
      "          0         1         1         1\n\n"
      "          Unidirectional copy peak bandwidth GB/s\n\n          D/D       0           1           2\n\n"
      "          0         N/A         28.305      28.310\n\n"
      "          1         28.215      1321.222    151.005\n\n"
      "          2         28.201      151.112     1322.700\n\n");
  EXPECT_EQ(output.program, "rocm-bandwidth-test");
  ASSERT_EQ(output.figures.size(), 4u);
  ExpectBandwidth(output, "host to device", 28.305, 28.31);
  ExpectBandwidth(output, "device to host", 28.201, 28.215);
  ExpectBandwidth(output, "within a device", 1321.222, 1322.7);
  ExpectBandwidth(output, "device to device", 151.005, 151.112);
}

// What the start of BabelStream takes is none of it.
TEST(Bandwidths, OfMemoryByFunction) {
  const ProgramOutput stream = ReadProgram(
      "BabelStream\nVersion: 5.0\nImplementation: CUDA\nInit: 0.069521 s (=11583.617 MBytes/sec)\n"
      "Read: 0.000776 s (=1037800.123 MBytes/sec)\nFunction    MBytes/sec  Min (sec)   Max         Average   "
      "  \n"
      "Copy        1345621.5   0.00040     0.00041     0.00040     \n"
      "Triad       1369502.0   0.00059     0.00060     0.00059     \n");
  EXPECT_EQ(stream.program, "BabelStream");
  ASSERT_EQ(stream.figures.size(), 2u);
  ExpectBandwidth(stream, "Copy", 1345.6215, 1345.6215);
  const ProgramOutput old = ReadProgram(
      "STREAM version $Revision: 5.10 $\nFunction    Best Rate MB/s  Avg time     Min time     Max time\n"
      "Copy:          121030.0     0.010632     0.010576     0.010701\n");
  EXPECT_EQ(old.program, "STREAM");
  ExpectBandwidth(old, "Copy", 121.03, 121.03);
}

TEST(Bandwidths, OfNetworksAndDisks) {
  const ProgramOutput network = ReadProgram(
      "                    RDMA_Write BW Test\n #bytes     #iterations    BW peak[Gb/sec]    BW "
      "average[Gb/sec]   "
      "MsgRate[Mpps]\n 65536      5000             197.60             196.00 \t\t   0.373840\n");
  ExpectBandwidth(network, "RDMA_Write", 24.5, 24.5);
  const ProgramOutput disk = ReadProgram(
      "Run status group 0 (all jobs):\n   READ: bw=1192MiB/s (1250MB/s), 1192MiB/s-1192MiB/s "
      "(1250MB/s-1250MB/s), io=69.9GiB (75.0GB), run=60001-60001msec\n");
  EXPECT_EQ(disk.program, "fio");
  ExpectBandwidth(disk, "reading", 1.25, 1.25);
}

TEST(EngineExports, TimesOfInferencesAreMeans) {
  const ProgramOutput output = ReadProgram(
      R"([{ "startInMs" : 100.0, "endInMs" : 100.5, "startComputeMs" : 100.5, "endComputeMs" : 104.5, "startOutMs" : 104.5, "endOutMs" : 105.0, "inMs" : 0.5, "computeMs" : 4, "outMs" : 0.5, "latencyMs" : 5, "enqueueMs" : 0.6 }
, { "startInMs" : 105.0, "endInMs" : 105.5, "startComputeMs" : 105.5, "endComputeMs" : 111.5, "startOutMs" : 111.5, "endOutMs" : 120.0, "inMs" : 1.5, "computeMs" : 6, "outMs" : 0.5, "latencyMs" : 7, "enqueueMs" : 0.8 }
])");
  ASSERT_EQ(output.engines.size(), 1u);
  const EngineTest& test = output.engines[0];
  EXPECT_THAT(test.queries_per_s, DoubleNear(100, kNear));
  EXPECT_THAT(test.compute_ns.value_or(0), DoubleNear(5e6, kNear));
  EXPECT_THAT(test.upload_ns.value_or(0), DoubleNear(1e6, kNear));
  EXPECT_THAT(test.download_ns.value_or(0), DoubleNear(5e5, kNear));
  EXPECT_THAT(test.enqueue_ns.value_or(0), DoubleNear(7e5, kNear));
}

TEST(EngineExports, LayersByTheirTime) {
  const ProgramOutput output = ReadProgram(
      R"([{ "count" : 100 }
, { "name" : "conv1 + relu1", "timeMs" : 40, "averageMs" : 0.4, "percentage" : 33.3 }
, { "name" : "{ForeignNode[MatMul_1]}", "timeMs" : 80, "averageMs" : 0.8, "percentage" : 66.7 }
])");
  ASSERT_EQ(output.figures.size(), 2u);
  EXPECT_EQ(output.figures[0].name, "{ForeignNode[MatMul_1]}");
  EXPECT_EQ(output.figures[0].count, 100);
  EXPECT_DOUBLE_EQ(output.figures[0].sum, 80e6);
  EXPECT_DOUBLE_EQ(output.figures[0].most, 0.8e6);
}

}  // namespace
}  // namespace dladvisor
