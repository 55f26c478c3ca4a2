// SPDX-License-Identifier: Apache-2.0
// How the tensors of operators lie in memory, by their strides.
#include <gtest/gtest.h>

#include <string>

#include "src/analysis/work/work.h"

namespace dladvisor {
namespace {

TEST(Layout, OfMatricesFollowsFromTheirStrides) {
  const auto layout = [](const char* op, const char* shapes, const char* strides) {
    return std::string(
        FormulaOf(op)({Arguments(shapes, R"(["float", "float"])", strides, "")}).work.value().layout);
  };
  EXPECT_EQ(layout("aten::mm", "[[4, 5], [5, 6]]", "[[5, 1], [6, 1]]"), "nn");
  EXPECT_EQ(layout("aten::mm", "[[4, 5], [5, 6]]", "[[5, 1], [1, 5]]"), "nt");
  EXPECT_EQ(layout("aten::mm", "[[4, 5], [5, 6]]", "[[1, 4], [6, 1]]"), "tn");
  EXPECT_EQ(layout("aten::mm", "[[4, 5], [5, 6]]", "[[1, 4], [1, 5]]"), "tt");
  EXPECT_EQ(layout("aten::mm", "[[4, 5], [5, 6]]", "[[10, 2], [6, 1]]"), "strided");
  EXPECT_EQ(layout("aten::bmm", "[[2, 4, 5], [2, 5, 6]]", "[[20, 5, 1], [30, 6, 1]]"), "nn");
  EXPECT_EQ(layout("aten::linear", "[[4, 5], [6, 5]]", "[[5, 1], [5, 1]]"), "nt")
      << "its weight is transposed";
  EXPECT_EQ(layout("aten::mm", "[[4, 5], [5, 6]]", ""), "");
}

TEST(Layout, OfConvolutionsIsWhereTheirChannelsLie) {
  const auto layout = [](const char* strides) {
    return std::string(
        FormulaOf("aten::conv2d")({Arguments("[[2, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]",
                                             R"(["float", "float", "", "", "", "", ""])", strides,
                                             R"(["", "", "", "1", "0", "1", "1"])")})
            .work.value()
            .layout);
  };
  EXPECT_EQ(layout("[[192, 1, 24, 3], [27, 9, 3, 1], [], [], [], [], []]"), "channels last");
  EXPECT_EQ(layout("[[192, 64, 8, 1], [27, 9, 3, 1], [], [], [], [], []]"), "channels first");
  EXPECT_EQ(layout(""), "");
}

TEST(Layout, OfBatchNormalisationsIsThatOfWhatTheyNormalise) {
  const auto layout = [](const char* op, const char* strides) {
    return std::string(FormulaOf(op)({Arguments("[[2, 3, 8, 8], [2, 3, 8, 8], [3]]",
                                                R"(["float", "float", "float"])", strides, "")})
                           .work.value()
                           .layout);
  };
  const char* first = "[[192, 64, 8, 1], [192, 1, 24, 3], [1]]";
  EXPECT_EQ(layout("aten::native_batch_norm", first), "channels first");
  EXPECT_EQ(layout("aten::native_batch_norm_backward", first), "channels last");
  EXPECT_EQ(layout("aten::native_batch_norm", ""), "");
  EXPECT_EQ(layout("aten::native_group_norm", first), "") << "its kernels have one layout";
}

}  // namespace
}  // namespace dladvisor
