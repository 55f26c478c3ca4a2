// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/timeline/stack_function.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(StackFunction, HasNeitherTypeNorArguments) {
  EXPECT_EQ(OwnFunction("CLUEAlgo<TilesConstants, 100>::verboseResults(std::string const&, int) const"),
            "CLUEAlgo::verboseResults");
  EXPECT_EQ(OwnFunction("void fill<float>(std::vector<float>&)"), "fill");
  EXPECT_EQ(OwnFunction("(anonymous namespace)::parse(char const*)"), "parse");
  EXPECT_EQ(OwnFunction("vfprintf"), "vfprintf");
}

TEST(StackFunction, LeavesOutWhatIsNotTheProgramsOwn) {
  for (const char* frame : {"main", "0x7fede5a6fa1e", "[Max depth]", "", "__GI___printf_fp_l", "_IO_vfprintf",
                            "void std::_Destroy<std::vector<int> >(std::vector<int>*)",
                            "operator new(unsigned long)", "libcudart_static_141dba", "cudaStreamSynchronize",
                            "cuLaunchKernel", "NSYS_OSRT_read", "NSYS_OSRT_pthread_join"})
    EXPECT_EQ(OwnFunction(frame), "") << frame;
}

}  // namespace
}  // namespace dladvisor
