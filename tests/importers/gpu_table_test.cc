// SPDX-License-Identifier: Apache-2.0
// Tables of single GPU operations, as nsys stats and nvprof write them, one trap each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class GpuTable : public testing::Test {
 protected:
  Trace Read(const std::string& text, const std::string& extension = ".csv") {
    const auto path = dir_.path() / (std::to_string(++files_) + extension);
    test::WriteFile(path, text);
    Trace trace = ReadProfile(path);
    EXPECT_THAT(CheckTrace(trace), IsEmpty());
    return trace;
  }
  test::ScratchDir dir_;
  int files_ = 0;
};

constexpr char kHeaderOfNsys[] =
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes "
    "(MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";

TEST_F(GpuTable, OfNsysStats) {
  const Trace t =
      Read(std::string("Processing [run.sqlite] with [cuda_gpu_trace.py]...\n") + kHeaderOfNsys +
           "1000,50,7,4,2,1,128,1,1,16,0.001,0.002,,,,,NVIDIA L20 (1),1,,7,\"void f<int, 4>(float *)\"\n"
           "1100,20,8,,,,,,,,,,0.602,11572.1,Pageable,Device,NVIDIA L20 (1),1,,9,[CUDA memcpy HtoD]\n"
           "1200,5,9,,,,,,,,,,0.004,80.0,Device,,NVIDIA L20 (1),1,,7,[CUDA memset]\n\n"
           "Time (%),Total Time (ns),Count\n100.0,50,1\n");
  EXPECT_EQ(t.format, "gpu table");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.end[0], 50);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "void f<int, 4>(float *)");
  EXPECT_EQ(t.names.View(t.kernels.short_name[0]), "f");
  EXPECT_EQ(t.kernels.grid[0], 8);
  EXPECT_EQ(t.kernels.block[0], 128);
  EXPECT_EQ(t.kernels.registers[0], 16);
  EXPECT_EQ(t.kernels.shared_bytes[0], 3000);
  EXPECT_EQ(t.devices.at(t.kernels.device[0]).name, "NVIDIA L20");
  EXPECT_EQ(t.devices.at(t.kernels.device[0]).ordinal, 1);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 602000);
  EXPECT_EQ(t.copies.direction[0], CopyDirection::kHostToDevice);
  EXPECT_EQ(t.copies.source[0], MemoryKind::kPageable);
  EXPECT_EQ(t.copies.stream[0], 9);
  EXPECT_EQ(t.sets.size(), 1u);
  EXPECT_THAT(t.health.rows_skipped, IsEmpty()) << "the table behind is another";
}

TEST_F(GpuTable, OfNsysStatsAsJson) {
  const Trace t = Read(
      "[\n  {\n    \"Start(sec)\": 3.945776,\n    \"Duration(nsec)\": 52031,\n    \"GrdX\": \"\", \"BlkX\": "
      "\"\","
      " \"Bytes\": 602112, \"SrcMemKd\": \"Pageable\", \"DstMemKd\": \"Device\", \"Device\": \"GeForce RTX "
      "2060 (0)\","
      " \"Strm\": 7, \"Name\": \"[CUDA memcpy HtoD]\"\n  },\n  {\"Start(sec)\": 3.945876, "
      "\"Duration(nsec)\": 700,"
      " \"GrdX\": 784, \"BlkX\": 256, \"Strm\": 7, \"Device\": \"GeForce RTX 2060 (0)\", \"Name\": "
      "\"gemm\"}\n]\n",
      ".json");
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 602112);
  EXPECT_EQ(t.copies.end[0], 52031);
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.start[0], 100000);
  EXPECT_EQ(t.kernels.grid[0], 784);
}

TEST_F(GpuTable, OfNvprof) {
  const Trace t = Read(
      "==12== NVPROF is profiling process 12, command: ./app\n==12== Profiling result:\n"
      "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block "
      "Z\",\"Registers Per "
      "Thread\",\"Static SMem\",\"Dynamic "
      "SMem\",\"Size\",\"Throughput\",\"SrcMemType\",\"DstMemType\",\"Device\","
      "\"Context\",\"Stream\",\"Name\"\n"
      "ms,us,,,,,,,,KB,B,MB,GB/s,,,,,,\n"
      "1.5,2.25,,,,,,,,,,1,9.1,\"Pageable\",\"Device\",\"TITAN Xp (0)\",\"1\",\"7\",\"[CUDA memcpy HtoD]\"\n"
      "1.6,3.5,10,1,1,64,1,1,32,2,0,,,,,\"TITAN Xp (0)\",\"1\",\"7\",\"gemm(float*) [112]\"\n");
  EXPECT_EQ(t.format, "nvprof");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.names.View(t.kernels.name[0]), "gemm(float*)");
  EXPECT_EQ(t.kernels.start[0], 100'000);
  EXPECT_EQ(t.kernels.end[0] - t.kernels.start[0], 3500);
  EXPECT_EQ(t.kernels.shared_bytes[0], 2048);
  ASSERT_EQ(t.copies.size(), 1u);
  EXPECT_EQ(t.copies.bytes[0], 1 << 20);
}

TEST_F(GpuTable, TotalsAsJsonAreThoseOfText) {
  const Trace t = Read(
      "[{\"Time (%)\": 75.0, \"Total Time (ns)\": 3000, \"Instances\": 3, \"Avg (ns)\": 1000.0, \"Med "
      "(ns)\": 1000.0,"
      " \"Min (ns)\": 900, \"Max (ns)\": 1100, \"StdDev (ns)\": 10.0, \"Name\": \"void gemm<int, 4>(float "
      "*)\"},"
      " {\"Time (%)\": 25.0, \"Total Time (ns)\": 1000, \"Instances\": 1, \"Avg (ns)\": 1000.0, \"Med "
      "(ns)\": 1000.0,"
      " \"Min (ns)\": 1000, \"Max (ns)\": 1000, \"StdDev (ns)\": 0.0, \"Name\": \"relu\"}]\n",
      ".json");
  EXPECT_EQ(t.format, "summary");
  ASSERT_EQ(t.summary_tables.size(), 1u);
  EXPECT_EQ(t.summary_tables[0].tool, "nsys stats");
  EXPECT_EQ(t.summary_tables[0].rows.size(), 2u);
}

TEST_F(GpuTable, HostileCells) {
  const Trace t = Read(std::string(kHeaderOfNsys) +
                       "-5,50,7,4,2,1,128,1,1,16,0,0,,,,,G (0),1,,7,a\n"
                       "1e300,50,7,4,2,1,128,1,1,16,0,0,,,,,G (0),1,,7,a\n"
                       "1000,9e18,7,4,2,1,128,1,1,16,0,0,,,,,G (0),1,,7,a\n"
                       "1000,50,7,4,2,1,128,1,1,16,0,0,,,,,G (0),1,,7,\n"
                       "nan,50,7,4,2,1,128,1,1,16,0,0,,,,,G (0),1,,7,a\n"
                       "1000,50,7,-4,1e99,x,128,1,1,1e99,-1,1e99,1e99,,,,G (9999999),1,,1e99,a\n");
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.health.rows_skipped.at("operations"), 5);
}

TEST_F(GpuTable, RefusesWhatHoldsNoRow) {
  const auto refusal = [&](const std::string& text, const std::string& extension) -> std::string {
    try {
      Read(text, extension);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(kHeaderOfNsys, ".csv"), HasSubstr("without a row"));
  EXPECT_THAT(refusal("[{\"Start(sec)\": 3.9, \"GrdX\": 1, \"BlkX\": 1", ".json"),
              HasSubstr("cut or not JSON"));
}

}  // namespace
}  // namespace dladvisor
