// SPDX-License-Identifier: Apache-2.0
// Tables of rocprofv3 written here, one trap each.
#include "src/importers/rocprof_csv/rocprof_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"
#include "src/importers/importers.h"
#include "src/trace/check_trace.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr char kKernelColumns[] =
    R"("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",)"
    R"("Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size","Scratch_Size","VGPR_Count",)"
    R"("Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X","Workgroup_Size_Y","Workgroup_Size_Z",)"
    R"("Grid_Size_X","Grid_Size_Y","Grid_Size_Z")"
    "\n";
constexpr char kCopyColumns[] =
    R"("Kind","Direction","Stream_Id","Source_Agent_Id","Destination_Agent_Id","Correlation_Id",)"
    R"("Start_Timestamp","End_Timestamp")"
    "\n";
constexpr char kCallColumns[] =
    R"("Domain","Function","Process_Id","Thread_Id","Correlation_Id","Start_Timestamp","End_Timestamp")"
    "\n";
constexpr char kMemoryColumns[] =
    R"("Kind","Operation","Agent_Id","Allocation_Size","Address","Correlation_Id","Start_Timestamp",)"
    R"("End_Timestamp")"
    "\n";
constexpr char kAgents[] =
    R"("Node_Id","Logical_Node_Id","Agent_Type","Cu_Count","Max_Engine_Clk_Fcompute","Name","Product_Name")"
    "\n0,0,\"CPU\",64,0,\"AMD EPYC\",\"AMD EPYC\"\n1,1,\"GPU\",304,2100,\"gfx942\",\"AMD Instinct MI300X\"\n"
    "2,2,\"GPU\",304,2100,\"gfx942\",\"AMD Instinct MI300X\"\n";

class RocprofCsv : public testing::Test {
 protected:
  fs::path Write(const std::string& name, const std::string& text) {
    fs::create_directories((dir_.path() / name).parent_path());
    test::WriteFile(dir_.path() / name, text);
    return dir_.path() / name;
  }
  static Trace Read(const fs::path& file) {
    Trace trace = ReadProfile(file);
    EXPECT_THAT(CheckTrace(trace), testing::IsEmpty());
    return trace;
  }
  test::ScratchDir dir_;
};

TEST_F(RocprofCsv, TablesOfARunAreReadTogether) {
  const fs::path kernels =
      Write("77_kernel_trace.csv",
            std::string(kKernelColumns) +
                "\"KERNEL_DISPATCH\",\"Agent 2\",1,3,701,1,10,\"void add<float>(float*, int)\",12,1020,1090,"
                "512,0,48,0,16,64,2,1,250,6,1\n");
  const fs::path calls =
      Write("77_hip_api_trace.csv", std::string(kCallColumns) +
                                        "\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",700,701,12,1000,1010\n"
                                        "\"HSA_CORE_API\",\"hsa_init\",700,701,11,900,950\n");
  Write("77_memory_copy_trace.csv",
        std::string(kCopyColumns) +
            "\"MEMORY_COPY\",\"MEMORY_COPY_DEVICE_TO_HOST\",3,\"Agent 2\",\"Agent 0\",13,1030,1060\n"
            "\"MEMORY_COPY\",\"MEMORY_COPY_HOST_TO_HOST\",3,\"Agent 0\",\"Agent 0\",14,1030,1060\n");
  Write("77_marker_api_trace.csv",
        std::string(kCallColumns) +
            "\"MARKER_CORE_RANGE_API\",\"step 1, \"\"warm\"\"\",700,701,5,990,1100\n"
            "\"MARKER_CORE_RANGE_API\",\"here\",700,701,6,1000,1000\n"
            "\"MARKER_CORE_RANGE_API\",\"roctxMarkA\",700,701,7,1000,1000\n");
  Write("77_rccl_api_trace.csv",
        std::string(kCallColumns) + "\"RCCL_API\",\"ncclAllReduce\",700,701,8,1001,1002\n");
  Write("77_agent_info.csv", kAgents);
  Write("78_hip_api_trace.csv",
        std::string(kCallColumns) + "\"HIP_RUNTIME_API\",\"hipFree\",800,801,12,1000,1010\n");
  for (const fs::path& file : {kernels, calls}) {
    const Trace t = Read(file);
    EXPECT_EQ(t.format, "rocprofv3");
    ASSERT_EQ(t.kernels.size(), 1u);
    EXPECT_EQ(t.names.View(t.kernels.name[0]), "void add<float>(float*, int)");
    EXPECT_EQ(t.kernels.start[0], 30);  // from the marker on
    EXPECT_EQ(t.kernels.grid[0], 4 * 3);
    EXPECT_EQ(t.kernels.block[0], 128);
    EXPECT_EQ(t.kernels.stream[0], 3);
    EXPECT_EQ(t.kernels.registers[0], 48);
    const Device& device = t.devices.at(t.kernels.device[0]);
    EXPECT_EQ(device.ordinal, 1);  // the second GPU of three agents
    EXPECT_EQ(device.name, "AMD Instinct MI300X");
    EXPECT_EQ(device.sm_count, 304);
    ASSERT_EQ(t.api_calls.size(), 1u);
    EXPECT_EQ(t.kernels.correlation[0], t.api_calls.correlation[0]);
    EXPECT_EQ(t.kernels.process[0], t.threads.at(t.api_calls.thread[0]).process);
    EXPECT_EQ(t.processes.at(t.kernels.process[0]).pid, 700);
    ASSERT_EQ(t.copies.size(), 1u);
    EXPECT_EQ(t.copies.direction[0], CopyDirection::kDeviceToHost);
    EXPECT_EQ(t.copies.bytes[0], 0);  // not recorded
    ASSERT_EQ(t.ranges.size(), 3u);
    EXPECT_EQ(t.names.View(t.ranges.name[0]), "step 1, \"warm\"");
    EXPECT_EQ(t.ranges.kind[1], RangeKind::kMark);
    EXPECT_EQ(t.names.View(t.ranges.domain[2]), "NCCL");
  }
}

TEST_F(RocprofCsv, TablesOfAnotherTimeAreOfAnotherRun) {
  const fs::path kernels =
      Write("kernel_trace.csv", std::string(kKernelColumns) +
                                    "\"KERNEL_DISPATCH\",\"Agent 4\",1,3,701,1,10,\"add\",12,"
                                    "1020,1090,0,0,0,0,0,64,1,1,64,1,1\n");
  Write("hip_api_trace.csv",
        std::string(kCallColumns) + "\"HIP_RUNTIME_API\",\"hipLaunchKernel\",700,701,12,5000,5010\n");
  const Trace t = Read(kernels);
  EXPECT_EQ(t.api_calls.size(), 0u);
  EXPECT_THAT(t.health.notes, testing::Contains(HasSubstr("hip_api_trace.csv")));
  EXPECT_EQ(t.devices.at(0).ordinal, 4);  // what is known of it without a list of agents
}

// As rocprofv3 6.2 writes, and people who change the table.
TEST_F(RocprofCsv, OlderAndUnquotedTables) {
  const Trace t = Read(Write("out.csv",
                             "Kind,Agent_Id,Queue_Id,Kernel_Id,Kernel_Name,Correlation_Id,Start_Timestamp,"
                             "End_Timestamp,Private_Segment_Size,Group_Segment_Size,Workgroup_Size_X,"
                             "Workgroup_Size_Y,Workgroup_Size_Z,Grid_Size_X,Grid_Size_Y,Grid_Size_Z\r\n"
                             "KERNEL_DISPATCH,1,9,3,scale,4,100,150,0,256,64,1,1,640,1,1\r\n"));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.grid[0], 10);
  EXPECT_EQ(t.kernels.stream[0], 9);  // the queue, where streams are not recorded
  EXPECT_EQ(t.kernels.shared_bytes[0], 256);
}

TEST_F(RocprofCsv, FreedMemoryHasTheSizeOfItsAllocation) {
  Write("a_agent_info.csv", kAgents);
  const Trace t = Read(Write(
      "a_memory_allocation_trace.csv",
      std::string(kMemoryColumns) +
          "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent "
          "1\",1024,\"0x00007ffb26354000\",1,100,110\n"
          "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_ALLOCATE\",\"Agent "
          "0\",1024,\"0x00007ffb26355000\",1,100,110\n"
          "\"MEMORY_ALLOCATION\",\"MEMORY_ALLOCATION_FREE\",\"\",0,\"0x00007ffb26354000\",7,120,130\n"));
  ASSERT_EQ(t.memory_events.size(), 2u);
  EXPECT_EQ(t.memory_events.bytes[0], 1024);
  EXPECT_EQ(t.memory_events.bytes[1], -1024);
}

TEST_F(RocprofCsv, BadRowsAreCounted) {
  const Trace t =
      Read(Write("kernel_trace.csv",
                 std::string(kKernelColumns) +
                     "\"KERNEL_DISPATCH\",\"Agent 4\",1\n"
                     "\"KERNEL_DISPATCH\",\"Agent x\",1,3,701,1,10,\"a\",12,20,90,0,0,0,0,0,64,1,1,64,1,1\n"
                     "\"KERNEL_DISPATCH\",\"Agent 4\",1,3,701,1,10,\"a\",12,90,20,0,0,0,0,0,64,1,1,64,1,1\n"
                     "\"KERNEL_DISPATCH\",\"Agent 4\",1,3,701,1,10,\"\",-1,20,90,0,0,0,0,0,0,-1,,x,1,1\n"
                     "\"KERNEL_DISPATCH\",\"Agent 4\",1,3,701,1,10,\"a\",12,20,9"));
  ASSERT_EQ(t.kernels.size(), 1u);
  EXPECT_EQ(t.kernels.correlation[0], kNoCorrelation);
  EXPECT_EQ(t.health.rows_read.at("kernel_trace"), 5);
  EXPECT_EQ(t.health.rows_skipped.at("kernel_trace"), 4);
}

TEST_F(RocprofCsv, AListOfGpusIsNoProfile) {
  try {
    ReadProfile(Write("7_agent_info.csv", kAgents));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("kernel_trace.csv"));
  }
}

TEST(PartOfRun, IsToldByTheName) {
  EXPECT_EQ(PartOfRunOf("run/7_kernel_trace.csv")->run, "run/7");
  EXPECT_EQ(PartOfRunOf("run/7_hip_api_trace.csv")->run, "run/7");
  EXPECT_EQ(PartOfRunOf("run/host_hip_trace.csv")->run, "run/host");
  EXPECT_EQ(PartOfRunOf("run/kernel_trace.csv")->run, "run/");
  EXPECT_LT(PartOfRunOf("a_kernel_trace.csv")->place, PartOfRunOf("a_hip_api_trace.csv")->place);
  EXPECT_GT(PartOfRunOf("a_kernel_stats.csv")->place, PartOfRun::kLastTrace);
  EXPECT_FALSE(PartOfRunOf("run/trace.csv"));
  EXPECT_FALSE(PartOfRunOf("run/mykernel_trace.csv"));
  EXPECT_FALSE(PartOfRunOf("run/kernel_trace.json"));
}

}  // namespace
}  // namespace dladvisor
