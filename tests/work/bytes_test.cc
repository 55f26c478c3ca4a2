// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/analysis/work/work.h"

namespace dladvisor {
namespace {

struct BytesCase {
  std::string name, shapes, types, values;
  int64_t bytes;
  std::string kind, data_type;
};

// Each input once, each output once.
TEST(Bytes, AreCompulsoryTraffic) {
  const std::vector<BytesCase> cases = {
      {"aten::mm", "[[4, 5], [5, 6]]", R"(["c10::Half", "c10::Half"])", "", 2 * (20 + 30 + 24), "matrix",
       "fp16"},
      {"aten::addmm", "[[6], [4, 5], [5, 6]]", R"(["float", "float", "float"])", "", 4 * (6 + 20 + 30 + 24),
       "matrix", "fp32"},
      {"aten::_scaled_mm", "[[16, 32], [32, 8], [], [], [], [], [], []]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "15", "True"])", 16 * 32 + 32 * 8 + 2 * 16 * 8, "matrix", "fp8"},
      {"aten::bmm", "[[3, 4, 5], [3, 5, 6]]", R"(["c10::Half", "c10::Half"])", "", 2 * 3 * (20 + 30 + 24),
       "matrix", "fp16"},
      {"aten::baddbmm", "[[3, 4, 6], [3, 4, 5], [3, 5, 6]]", R"(["c10::Half", "c10::Half", "c10::Half"])", "",
       2 * 3 * (24 + 20 + 30 + 24), "matrix", "fp16"},
      {"aten::linear", "[[2, 4, 9], [10, 9], [10]]", R"(["c10::Half", "c10::Half", "c10::Half"])", "",
       2 * (72 + 90 + 10 + 80), "matrix", "fp16"},
      {"aten::matmul", "[[2, 1, 5, 6], [4, 6, 7]]", R"(["c10::Half", "c10::Half"])", "",
       2 * (60 + 168 + 2 * 4 * 5 * 7), "matrix", "fp16"},
      {"aten::_grouped_mm", "[[1024, 512], [8, 512, 2048], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "", ""])", "",
       2LL * (1024 * 512 + 8 * 512 * 2048 + 1024 * 2048), "matrix", "bf16"},
      {"my_lib::triton_matmul", "[[64, 512], [512, 256]]", R"(["c10::BFloat16", "c10::BFloat16"])", "",
       2 * (64 * 512 + 512 * 256 + 64 * 256), "matrix", "bf16"},
      {"aten::_int_mm", "[[16, 32], [32, 8]]", R"(["signed char", "signed char"])", "",
       16 * 32 + 32 * 8 + 4 * 16 * 8, "matrix", "int8"},
      {"aiter::gemm_a8w8", "[[64, 512], [256, 512], [64, 1], [1, 256], [64, 256]]",
       R"(["c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", "float", "float", "c10::BFloat16"])", "",
       64 * 512 + 256 * 512 + 2 * 64 * 256, "matrix", "fp8"},
      {"aten::convolution", "[[2, 3, 6, 6], [6, 3, 4, 4], [6], [], [], [], [], [], []]",
       R"(["float", "float", "float", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])",
       4 * (2 * 3 * 36 + 6 * 3 * 16 + 6 + 2 * 6 * 25), "convolution", "fp32"},
      {"aten::convolution_backward",
       "[[2, 6, 5, 5], [2, 3, 6, 6], [6, 3, 4, 4], [], [], [], [], [], [], [], []]",
       R"(["float", "float", "float", "", "", "", "", "", "", "", ""])",
       R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"])",
       4 * (2 * 6 * 25 + 2 * (2 * 3 * 36) + 2 * (6 * 3 * 16)), "convolution", "fp32"},
      {"aten::_scaled_dot_product_flash_attention",
       "[[2, 8, 16, 4], [2, 2, 32, 4], [2, 2, 32, 4], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "False", "False", "0.125"])", 2 * (2 * 2 * 8 * 16 * 4 + 2 * 2 * 2 * 32 * 4),
       "attention", "bf16"},
      {"aten::_scaled_dot_product_flash_attention_backward",
       "[[2, 8, 16, 4], [2, 8, 16, 4], [2, 8, 32, 4], [2, 8, 32, 4], [2, 8, 16, 4], [2, 8, 16], "
       "[], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "long int", "long int", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "16", "32", "0.", "False", "", "", "0.125"])",
       2 * (2 * 1024 + 2 * (1024 + 2 * 2048)), "attention", "bf16"},  // and the gradients of the three
      {"flash_attn::_flash_attn_forward",
       "[[2, 16, 8, 4], [2, 32, 2, 4], [2, 32, 2, 4], [], [], [], [], [], [], [], []]",
       R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "", "Scalar"])",
       R"(["", "", "", "0.", "0.125", "True", "-1", "-1", "0.", "", "False"])", 2 * (2 * 1024 + 2 * 512),
       "attention", "fp16"},
      {"xformers::efficient_attention_forward_cutlass",
       "[[2, 16, 8, 4], [2, 32, 8, 4], [2, 32, 8, 4], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::Half", "c10::Half", "c10::Half", "", "", "", "", "", "Scalar", "Scalar", "Scalar", "", "", ""])",
       R"(["", "", "", "", "", "", "", "", "0.", "0", "True", "", "", ""])", 2 * (2 * 1024 + 2 * 2048),
       "attention", "fp16"},
      {"aiter::fmha_v3_fwd", "[[2, 16, 8, 4], [2, 32, 8, 4], [2, 32, 8, 4], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "0.125", "False", "-1", "-1", "True", "False"])", 2 * (2 * 1024 + 2 * 2048),
       "attention", "bf16"},
      {"aten::add", "[[8, 16], [8, 1], []]", R"(["float", "float", "Scalar"])", R"(["", "", "1"])",
       4 * (128 + 8 + 128), "element-wise", "fp32"},
      {"aten::add_", "[[8, 16], [8, 16], []]", R"(["c10::BFloat16", "c10::BFloat16", "Scalar"])",
       R"(["", "", "1"])", 2 * 3 * 128, "element-wise", "bf16"},
      {"aten::mul", "[[8, 16], [8, 16]]", R"(["c10::BFloat16", "float"])", "", 128 * (2 + 4 + 4),
       "element-wise", "fp32"},
      {"aten::mul", "[[8, 16], []]", R"(["c10::BFloat16", "double"])", "", 128 * (2 + 2) + 8, "element-wise",
       "bf16"},
      {"aten::mul", "[[8, 16], [], [8, 16]]", R"(["float", "double", "float"])", "", 128 * (4 + 4) + 8,
       "element-wise", "fp32"},  // the third is the result
      {"aten::where", "[[8, 16], [8, 16], []]", R"(["bool", "float", "float"])", "", 128 * (1 + 4 + 4) + 4,
       "element-wise", "fp32"},
      {"aten::gt", "[[8, 16], []]", R"(["float", "Scalar"])", R"(["", "0"])", 128 * (4 + 1), "element-wise",
       "fp32"},
      {"aten::fill_", "[[8, 16], []]", R"(["float", "Scalar"])", R"(["", "0"])", 128 * 4, "element-wise",
       "fp32"},
      {"aten::copy_", "[[8, 16], [8, 16], []]", R"(["c10::BFloat16", "float", "Scalar"])",
       R"(["", "", "False"])", 128 * 6, "copy", "bf16"},
      {"aten::native_dropout", "[[8, 16], [], []]", R"(["float", "Scalar", "Scalar"])",
       R"(["", "0.1", "True"])", 128 * (4 + 4 + 1), "element-wise", "fp32"},
      {"aten::native_layer_norm", "[[8, 16], [], [16], [16], []]",
       R"(["float", "ScalarList", "float", "float", "Scalar"])", R"(["", "[16]", "", "", "1e-5"])",
       4 * (128 + 16 + 16 + 128), "normalization", "fp32"},
      {"aten::native_batch_norm_backward", "[[2, 3, 4], [2, 3, 4], [3], [], [], [3], [3], [], [], []]",
       R"(["float", "float", "float", "", "", "float", "float", "Scalar", "Scalar", "ScalarList"])",
       R"(["", "", "", "", "", "", "", "True", "1e-5", "[True, True, True]"])", 4 * (24 + 24 + 9 + 24),
       "normalization", "fp32"},
      {"aten::native_group_norm", "[[2, 6, 4], [6], [6], [], [], [], [], []]",
       R"(["float", "float", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])", "",
       4 * (48 + 6 + 6 + 48), "normalization", "fp32"},
      {"aten::native_layer_norm_backward", "[[8, 16], [8, 16], [], [8, 1], [8, 1], [16], [16], []]",
       R"(["float", "float", "ScalarList", "float", "float", "float", "float", "ScalarList"])",
       R"(["", "", "[16]", "", "", "", "", "[True, True, True]"])", 4 * (128 + 128 + 8 + 8 + 16 + 16 + 128),
       "normalization", "fp32"},
      {"aten::_softmax_backward_data", "[[8, 16], [8, 16], [], []]",
       R"(["c10::Half", "c10::Half", "Scalar", "Scalar"])", "", 2 * 3 * 128, "softmax", "fp16"},
      {"aten::_softmax", "[[8, 16], [], []]", R"(["c10::Half", "Scalar", "Scalar"])",
       R"(["", "-1", "False"])", 2 * 256, "softmax", "fp16"},
      {"aten::sum", "[[8, 16], [], [], []]", R"(["float", "ScalarList", "Scalar", ""])",
       R"(["", "[0]", "True", ""])", 4 * (128 + 16), "reduction", "fp32"},
      {"aten::sum", "[[8, 16], []]", R"(["float", ""])", R"(["", ""])", 4 * (128 + 1), "reduction", "fp32"},
      {"aten::argmax", "[[8, 16], [], []]", R"(["float", "Scalar", "Scalar"])", R"(["", "-1", "False"])",
       4 * 128 + 8 * 8, "reduction", "fp32"},
      {"aten::embedding", "[[1000, 16], [4, 8], [], [], []]",
       R"(["float", "long int", "Scalar", "Scalar", "Scalar"])", R"(["", "", "-1", "False", "False"])",
       32 * 8 + 2 * 32 * 16 * 4, "embedding", "fp32"},
      {"aten::embedding_dense_backward", "[[4, 8, 16], [4, 8], [], [], []]",
       R"(["float", "long int", "Scalar", "Scalar", "Scalar"])", R"(["", "", "1000", "-1", "False"])",
       32 * 16 * 4 + 32 * 8 + 1000 * 16 * 4, "embedding", "fp32"},
      {"aten::max_pool2d_with_indices", "[[2, 3, 8, 8], [], [], [], [], []]",
       R"(["float", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar"])",
       R"(["", "[3, 3]", "[2, 2]", "[1, 1]", "[1, 1]", "False"])", 2 * 3 * 64 * 4 + 2 * 3 * 16 * 12,
       "pooling", "fp32"},
      {"sgl_kernel::rotary_embedding", "[[32], [32, 4096], [32, 1024], [], [41216, 128], []]",
       R"(["long int", "c10::BFloat16", "c10::BFloat16", "Scalar", "c10::BFloat16", "Scalar"])",
       R"(["", "", "", "128", "", "True"])", 32 * 8 + 2 * (2 * 32 * 5120 + 32 * 128), "element-wise", "bf16"},
      {"sglang::store_cache", "[[32, 1024], [32, 1024], [835874, 1024], [835874, 1024], [32], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "long int", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "2048", "0"])", 2 * 4 * 32 * 1024 + 32 * 8, "copy", "bf16"},
      {"_C::fused_add_rms_norm", "[[16, 64], [16, 64], [64], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar"])", "", 2 * (4 * 1024 + 64),
       "normalization", "bf16"},
      {"aiter::rms_norm", "[[16, 64], [64], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])", "", 2 * (2 * 1024 + 64), "normalization",
       "bf16"},
      {"aten::upsample_nearest2d", "[[1, 3, 8, 8], [], [], []]", R"(["float", "ScalarList", "", ""])",
       R"(["", "[16, 32]", "", ""])", 4 * 3 * (64 + 512), "element-wise", "fp32"},
      {"aten::replication_pad3d", "[[1, 3, 4, 8, 8], []]", R"(["float", "ScalarList"])",
       R"(["", "[1, 1, 2, 2, 2, 0]"])", 4 * 3 * (4 * 64 + 6 * 12 * 10), "element-wise", "fp32"},
      {"triton_poi_fused_add_0", "[[1000, 16], [4, 16], []]", R"(["float", "c10::BFloat16", "Scalar"])",
       R"(["", "", "64"])", 64 * 6, "element-wise", "fp32"},
  };
  for (const BytesCase& of : cases) {
    const Formula formula = FormulaOf(of.name);
    ASSERT_TRUE(formula) << of.name;
    const WorkResult result = formula({Arguments(of.shapes, of.types, "", of.values)});
    ASSERT_TRUE(result.work) << of.name << " " << of.shapes << ": " << std::string_view(result.unknown);
    EXPECT_EQ(result.work->bytes, of.bytes) << of.name << " " << of.shapes;
    EXPECT_EQ(NameOf(result.work->kind), of.kind) << of.name;
    EXPECT_EQ(result.work->data_type, of.data_type) << of.name;
    EXPECT_EQ(result.work->flops.has_value(), HasFlops(result.work->kind)) << of.name;
  }
}

// Of an expanded tensor memory holds each element once.
TEST(Bytes, OfRepeatedDimensionsCountOnce) {
  const WorkResult result = FormulaOf("aten::mul")(
      {Arguments("[[8, 16], [8, 16]]", R"(["float", "float"])", "[[16, 1], [0, 1]]", "")});
  ASSERT_TRUE(result.work);
  EXPECT_EQ(result.work->bytes, 4 * (128 + 16 + 128));
}

// Profilers record the sizes of tensors in lists, not their type.
TEST(Bytes, OfListsLackTheirTypeOnly) {
  const WorkResult adam = FormulaOf("aten::_fused_adamw_")({Arguments(
      "[[[10, 10], [5]], [[10, 10], [5]], [[10, 10], [5]], [[10, 10], [5]], [], [[], []]]",
      R"(["TensorList", "TensorList", "TensorList", "TensorList", "TensorList", "TensorList"])", "", "")});
  ASSERT_TRUE(adam.work);
  EXPECT_EQ(adam.work->untyped_elements, (4 + 3) * 105);  // there are no maxima
  EXPECT_EQ(FormulaOf("aten::cat")({Arguments("[[], []]", R"(["TensorList", "Scalar"])", "", "")}).unknown,
            why::kNoShapes);
  const WorkResult add = FormulaOf("aten::_foreach_add_")(
      {Arguments("[[[10, 10], [5]], [[10, 10], [5]], []]", R"(["TensorList", "TensorList", "Scalar"])", "",
                 R"(["", "", "-0.001"])")});
  ASSERT_TRUE(add.work);
  EXPECT_FALSE(add.work->bytes);
  EXPECT_EQ(add.work->untyped_elements, 3 * 105);
}

// Of exports, which record no types: masks are bools whatever the others are.
TEST(Bytes, WithoutTypesAreCountedInElements) {
  const auto elements = [](const char* op, const char* shapes) {
    Arguments arguments(shapes, "", "", "");
    return WorkWithoutTypes(FormulaOf(op), arguments).work->untyped_elements;
  };
  EXPECT_EQ(elements("aten::mul", "[[8, 16], [8, 1]]"), 128 + 8 + 128);
  EXPECT_EQ(elements("aten::mm", "[[4, 5], [5, 6]]"), 20 + 30 + 24);
  EXPECT_EQ(elements("aten::cat", "[[8, 16], [8, 4], []]"), 2 * (128 + 32))
      << "the list's tensors, one by one";
  EXPECT_FALSE(elements("aten::gt", "[[8, 16], [8, 16]]"));
  EXPECT_FALSE(elements("aten::where", "[[8, 16], [8, 16], [8, 16]]"));
  EXPECT_FALSE(elements("aten::masked_fill", "[[8, 16], [8, 16]]"));
}

TEST(Bytes, OfExpertsDependOnTheirChoice) {
  const WorkResult result = FormulaOf("vllm::rocm_aiter_fused_moe")(
      {Arguments("[[16, 64], [8, 256, 64], [8, 64, 128], [16, 2]]",
                 R"(["BFloat16", "BFloat16", "BFloat16", "Float"])", "", "")});
  ASSERT_TRUE(result.work);
  EXPECT_FALSE(result.work->bytes);
  EXPECT_EQ(result.work->bytes_unknown, why::kRouting);
  EXPECT_EQ(result.work->expert_rows, 4) << "16 tokens pass 2 of 8 experts each";
}

TEST(Arguments, OfListsHaveAShapePerTensor) {
  const auto arguments = ParseShapesOfArguments("[[4096], [], [[2, 3], [7]], [-1, 2]]");
  ASSERT_EQ(arguments.size(), 4U);
  EXPECT_EQ(arguments[0].shapes, std::vector<Sizes>({{4096}}));
  EXPECT_TRUE(arguments[2].is_list);
  EXPECT_EQ(arguments[2].shapes, std::vector<Sizes>({{2, 3}, {7}}));
  EXPECT_EQ(ParseShapes("[[4096], [], [[2, 3], [7]], [-1, 2]]"),
            std::vector<Sizes>({{4096}, {}, {}, {-1, 2}}));
}

// What profiles hold may be damaged.
TEST(Arguments, OfAnyTextAreRead) {
  for (const char* text :
       {"", "[", "]", "[[", "]]]]", "[[[[1]]]]", "[[1, 2", "[[-, 9999999999999999999999]]", "[\"", "x"}) {
    const Arguments arguments(text, text, text, text);
    for (const char* name : {"aten::mm", "aten::convolution", "aten::linear", "aten::convolution_backward",
                             "aten::scaled_dot_product_attention"})
      EXPECT_FALSE(FormulaOf(name)({arguments}).work) << text;
    for (const char* name : {"aten::add", "aten::cat", "aten::sum", "triton_poi_fused_0"})
      EXPECT_NO_THROW(FormulaOf(name)({arguments})) << text;
  }
}

}  // namespace
}  // namespace dladvisor
