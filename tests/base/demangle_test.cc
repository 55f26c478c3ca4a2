// SPDX-License-Identifier: Apache-2.0
#include "engine/base/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace dladvisor {
namespace {

// Each part names the one before it twice, in this form.
std::string Doubling(std::string name, const std::string& before, const std::string& between,
                     const std::string& after) {
  constexpr size_t kParts = 30;
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (size_t i = 0; i < kParts; ++i) {
    const std::string part = std::string("S") + kDigits[i] + "_";
    name.append(before).append(part).append(between).append(part).append(after);
  }
  return name;
}

TEST(Demangle, WritesOutNamesOfKernels) {
  EXPECT_EQ(Demangled("_ZN2at6native13reduce_kernelILi512EfEEvT0_"),
            "void at::native::reduce_kernel<512, float>(float)");
  EXPECT_EQ(Demangled("_Z1fIJ1AIiES1_EEvDpT_"), "void f<A<int>, A<int> >(A<int>, A<int>)");
  EXPECT_EQ(Demangled("gemm"), "gemm");
  EXPECT_EQ(Demangled("_Znot_a_name"), "_Znot_a_name");
}

TEST(Demangle, LeavesNamesThatGrowWithoutEnd) {
  for (const std::string& name :
       {Doubling("_Z1f1AIiiE", "S_I", "", "E"), Doubling("_Z1fIJ1AIiiE", "S_I", "", "E") + "EEvv",
        Doubling("_Z1fN1b1AE", "Fv", "", "E"), Doubling("_Z1f1A1B", "M", "", ""),
        Doubling("_Z1f1A1BI1CE", "N", "1aI", "EE"), "_Z1fI" + std::string(100000, 'i') + "Evv"})
    EXPECT_EQ(Demangled(name), name);
}

}  // namespace
}  // namespace dladvisor
