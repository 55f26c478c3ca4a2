// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/work/element_type.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(ElementType, IsKnownFromTheNamesOfProfilers) {
  EXPECT_EQ(ParseElementType("c10::BFloat16")->name, "bf16");
  EXPECT_EQ(ParseElementType("c10::bfloat16")->bytes, 2);
  EXPECT_EQ(ParseElementType("torch.float16")->name, "fp16");
  EXPECT_EQ(ParseElementType("torch.cuda.HalfTensor")->name, "fp16");
  EXPECT_EQ(ParseElementType("long int")->bytes, 8);
  EXPECT_EQ(ParseElementType("c10::Float4_e2m1fn_x2")->elements, 2);
  EXPECT_EQ(ParseElementType("c10::complex<float>")->bytes, 8);
  EXPECT_FALSE(ParseElementType("Scalar"));
  EXPECT_FALSE(ParseElementType(""));
  EXPECT_EQ(ElementTypeOfNumber("15")->name, "bf16");
  EXPECT_FALSE(ElementTypeOfNumber("99"));
}

TEST(ElementType, OfTwoIsTheWiderFloat) {
  const auto promote = [](const char* a, const char* b) {
    return Promote(*ParseElementType(a), *ParseElementType(b)).name;
  };
  EXPECT_EQ(promote("float", "c10::Half"), "fp32");
  EXPECT_EQ(promote("c10::Half", "long int"), "fp16");
  EXPECT_EQ(promote("c10::Half", "c10::BFloat16"), "fp32");
  EXPECT_EQ(promote("bool", "int"), "int32");
  EXPECT_EQ(promote("bool", "bool"), "bool");
}

}  // namespace
}  // namespace dladvisor
