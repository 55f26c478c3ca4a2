// SPDX-License-Identifier: Apache-2.0
// FLOPs of operators by shape. The expected numbers follow from the formulas of PyTorch's
// torch/utils/flop_counter.py; where ours differ on purpose, a comment says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/analysis/work/work.h"

namespace dladvisor {
namespace {

struct FlopsCase {
  std::string name, shapes, types, values;
  int64_t flops;
};

const std::vector<FlopsCase>& Cases() {
  static const std::vector<FlopsCase> cases = {
      {"aten::mm", "[[4, 5], [5, 6]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 240},
      {"aten::mm", "[[8192, 4096], [4096, 11008]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])",
       738734374912},
      {"aten::mm", "[[1, 4096], [4096, 1]]", R"(["float", "float"])", R"(["", ""])", 8192},
      {"aten::mm", "[[0, 16], [16, 8]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 0},
      {"aten::addmm", "[[6], [4, 5], [5, 6], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       R"(["", "", "", "1", "1"])", 240},
      {"aten::addmm", "[[4, 6], [4, 5], [5, 6], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       R"(["", "", "", "1", "1"])", 240},
      {"aten::addmm", "[[30522], [141, 512], [512, 30522], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       R"(["", "", "", "1", "1"])", 4406888448},
      {"aten::addmm_", "[[7, 3], [7, 2], [2, 3], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       R"(["", "", "", "1", "1"])", 84},
      {"aten::_addmm_activation", "[[3072], [512, 768], [768, 3072], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "1", "1", "True"])", 2415919104},
      {"aten::bmm", "[[3, 4, 5], [3, 5, 6]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 720},
      {"aten::bmm", "[[96, 512, 64], [96, 64, 512]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])",
       3221225472},
      {"aten::baddbmm", "[[3, 4, 6], [3, 4, 5], [3, 5, 6], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       R"(["", "", "", "1", "1"])", 720},
      {"aten::baddbmm", "[[64, 1, 256], [64, 256, 80], [64, 80, 256], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       R"(["", "", "", "0", "0.125"])", 671088640},
      {"aten::linear", "[[8, 9], [10, 9], [10]]", R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])",
       R"(["", "", ""])", 1440},
      {"aten::linear", "[[2, 128, 768], [3072, 768], []]", R"(["c10::BFloat16", "c10::BFloat16", ""])",
       R"(["", "", ""])", 1207959552},
      {"aten::linear", "[[9], [10, 9], []]", R"(["c10::BFloat16", "c10::BFloat16", ""])", R"(["", "", ""])",
       180},
      {"aten::matmul", "[[5, 6], [6, 7]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 420},
      {"aten::matmul", "[[2, 3, 5, 6], [6, 7]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])",
       2520},
      {"aten::matmul", "[[2, 3, 5, 6], [2, 3, 6, 7]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])",
       2520},
      {"aten::matmul", "[[2, 1, 5, 6], [4, 6, 7]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])",
       3360},
      {"aten::matmul", "[[5, 6], [6]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 60},
      {"aten::matmul", "[[6], [6]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 12},
      {"aten::matmul", "[[6], [6, 7]]", R"(["c10::BFloat16", "c10::BFloat16"])", R"(["", ""])", 84},
      {"aten::_scaled_mm", "[[1024, 4096], [4096, 2048], [], [], [], [], [], []]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "", "", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "15", "True"])", 17179869184},
      {"aten::_scaled_mm", "[[256, 512], [512, 128], [8192], [4096], [], [], [], []]",
       R"(["c10::Float4_e2m1fn_x2", "c10::Float4_e2m1fn_x2", "c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "", "", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "15", "False"])", 67108864},  // FP4: two in a byte
      {"aten::_int_mm", "[[64, 128], [128, 32]]", R"(["signed char", "signed char"])", R"(["", ""])", 524288},
      {"aten::_grouped_mm", "[[1024, 512], [8, 512, 2048], [8], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "int", "", ""])", R"(["", "", "", "", ""])", 2147483648},
      {"aten::_grouped_mm", "[[512, 1024], [1024, 2048], [8], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "int", "", ""])", R"(["", "", "", "", ""])", 2147483648},
      {"aten::_grouped_mm", "[[8, 128, 512], [8, 512, 2048], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "", ""])", R"(["", "", "", "", ""])", 2147483648},
      {"aten::_scaled_grouped_mm", "[[1024, 512], [8, 512, 2048], [1024], [8, 2048], [8], [], [], [], []]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "int", "", "", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "", "15", "False"])", 2147483648},
      {"aten::convolution", "[[2, 3, 6, 6], [6, 3, 4, 4], [], [], [], [], [], [], []]",
       R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"])", 28800},
      {"aten::convolution", "[[2, 3, 6], [6, 3, 4], [], [], [], [], [], [], []]",
       R"(["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1]", "[1]", "[1]", "False", "[0]", "1"])", 1440},
      {"aten::convolution", "[[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])", 7552892928},
      {"aten::_convolution",
       "[[4, 3, 224, 224], [768, 3, 16, 16], [768], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "[16, 16]", "[0, 0]", "[1, 1]", "False", "[0, 0]", "1", "False", "False", "True", "True"])",
       924844032},
      {"aten::convolution", "[[8, 64, 56, 56], [64, 1, 3, 3], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "64"])", 28901376},
      {"aten::convolution", "[[8, 64, 28, 28], [128, 16, 3, 3], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "4"])", 57802752},
      {"aten::convolution", "[[1, 16, 8, 32, 32], [32, 16, 3, 3, 3], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1, 1, 1]", "[1, 1, 1]", "[1, 1, 1]", "False", "[0, 0, 0]", "1"])", 226492416},
      {"aten::convolution", "[[1, 16, 64, 64], [32, 16, 3, 3], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1, 1]", "[2, 2]", "[2, 2]", "False", "[0, 0]", "1"])", 37748736},
      {"aten::convolution", "[[2, 16, 10, 10], [16, 8, 4, 4], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1"])", 819200},
      {"aten::conv2d", "[[2, 3, 8, 8], [6, 3, 3, 3], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "Scalar", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1, 1]", "same", "[1, 1]", "1"])", 41472},
      {"aten::conv1d", "[[2, 3, 8], [6, 3, 3], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"])",
       R"(["", "", "", "[1]", "[0]", "[1]", "1"])", 1296},
      {"aten::conv_transpose2d", "[[2, 16, 10, 10], [16, 8, 4, 4], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList"])",
       R"(["", "", "", "[2, 2]", "[1, 1]", "[0, 0]", "1", "[1, 1]"])", 819200},
      {"aten::cudnn_convolution", "[[32, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "[1, 1]", "[1, 1]", "[1, 1]", "1", "False", "False", "True"])", 7398752256},
      {"aten::cudnn_convolution", "[[32, 64, 56, 56], [128, 64, 1, 1], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "[0, 0]", "[2, 2]", "[1, 1]", "1", "False", "False", "True"])", 411041792},
      {"aten::miopen_convolution", "[[512, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "", "ScalarList", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "[3, 3]", "[2, 2]", "[1, 1]", "1", "False", "False"])", 120846286848},
      {"aten::convolution_backward",
       "[[10, 64, 56, 56], [10, 64, 56, 56], [64, 64, 3, 3], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])",
       R"(["", "", "", "[0]", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", "[True, True, False]"])",
       4624220160},
      {"aten::convolution_backward",
       "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])",
       R"(["", "", "", "[0]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", "[False, True, False]"])",
       7552892928},
      {"aten::convolution_backward",
       "[[32, 64, 112, 112], [32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])",
       R"(["", "", "", "[0]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", "[True, False, False]"])",
       7552892928},
      {"aten::convolution_backward",
       "[[2, 8, 20, 20], [2, 16, 10, 10], [16, 8, 4, 4], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])",
       R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1", "[True, True, True]"])",
       1638400},
      {"aten::convolution_backward",
       "[[8, 128, 14, 14], [8, 64, 28, 28], [128, 16, 3, 3], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "ScalarList", "ScalarList", "ScalarList", "ScalarList", "Scalar", "ScalarList", "Scalar", "ScalarList"])",
       R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "4", "[True, True, False]"])",
       115605504},  // the registry counts the weight's gradient once per group too often
      {"aten::_scaled_dot_product_flash_attention",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "False", "False", "0.125"])", 134217728},
      {"aten::_scaled_dot_product_flash_attention",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "True", "False", "0.125"])", 67108864},  // causal: half
      {"aten::_scaled_dot_product_flash_attention",
       "[[4, 8, 128, 64], [4, 8, 256, 64], [4, 8, 256, 64], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "False", "False", "0.125"])", 268435456},
      {"aten::_scaled_dot_product_efficient_attention",
       "[[4, 8, 128, 64], [4, 8, 256, 64], [4, 8, 256, 64], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar", "Scalar", ""])",
       R"(["", "", "", "", "True", "0.", "False", ""])", 268435456},
      {"aten::_scaled_dot_product_efficient_attention",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 32], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar", "Scalar", ""])",
       R"(["", "", "", "", "True", "0.", "False", ""])", 100663296},
      {"aten::_scaled_dot_product_cudnn_attention",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar", "Scalar", "Scalar", ""])",
       R"(["", "", "", "", "True", "0.", "True", "False", ""])", 67108864},  // causal: half
      {"aten::scaled_dot_product_attention",
       "[[2, 32, 1, 128], [2, 8, 1000, 128], [2, 8, 1000, 128], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "Scalar", "Scalar", "", "Scalar"])",
       R"(["", "", "", "", "0.", "False", "", "True"])", 32768000},  // grouped queries
      {"aten::_scaled_dot_product_flash_attention_backward",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128], "
       "[], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "long int", "long int", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "128", "128", "0.", "False", "", "", "0.125"])", 335544320},
      {"aten::_scaled_dot_product_efficient_attention_backward",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 256, 64], [4, 8, 256, 64], [], [4, 8, 128, 64], [4, 8, "
       "128], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "c10::BFloat16", "float", "long int", "long int", "Scalar", "ScalarList", "Scalar", ""])",
       R"(["", "", "", "", "", "", "", "", "", "0.", "[True, True, True, False]", "False", ""])", 671088640},
      {"aten::_scaled_dot_product_cudnn_attention_backward",
       "[[4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, 64], [4, 8, 128, "
       "1], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "long int", "long int", "", "", "", "Scalar", "Scalar", "Scalar", "Scalar", ""])",
       R"(["", "", "", "", "", "", "", "", "", "", "", "128", "128", "0.", "True", ""])",
       167772160},  // causal: half
      {"aten::_flash_attention_forward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "", "", "", ""])",
       R"(["", "", "", "", "", "128", "128", "0.", "False", "False", "0.125", "", "", "", ""])", 134217728},
      {"aten::_flash_attention_forward",
       "[[512, 8, 64], [512, 8, 64], [512, 8, 64], [5], [5], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "", "", "", ""])",
       R"(["", "", "", "", "", "128", "128", "0.", "False", "False", "0.125", "", "", "", ""])",
       134217728},  // packed, all as long
      {"aten::_flash_attention_backward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 8, 128], "
       "[], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "long int", "long int", "Scalar", "", ""])",
       R"(["", "", "", "", "", "", "", "", "128", "128", "0.", "False", "", "", "0.125", "", ""])",
       335544320},
      {"aten::_efficient_attention_forward",
       "[[4, 128, 8, 64], [4, 256, 8, 64], [4, 256, 8, 64], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", "Scalar", "Scalar", "Scalar", "", "", ""])",
       R"(["", "", "", "", "", "", "", "", "0.", "0", "True", "", "", ""])", 268435456},
      {"aten::_efficient_attention_forward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", "Scalar", "Scalar", "Scalar", "", "", ""])",
       R"(["", "", "", "", "", "", "", "", "0.", "1", "True", "", "", ""])", 67108864},  // causal: half
      {"aten::_efficient_attention_backward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [4, 128, 8, 64], [], [], "
       "[], [], [4, 8, 128], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "c10::BFloat16", "", "", "Scalar", "Scalar", "float", "Scalar", "long int", "long int", "Scalar", "Scalar", "", "", "", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "128", "128", "", "0.", "", "", "0", "False", "", "", "", "False"])",
       335544320},
      {"flash_attn::_flash_attn_forward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "", "Scalar"])",
       R"(["", "", "", "0.", "0.125", "True", "-1", "-1", "0.", "", "False"])", 67108864},  // causal: half
      {"flash_attn::_flash_attn_forward",
       "[[1, 1, 32, 128], [1, 4096, 8, 128], [1, 4096, 8, 128], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "", "Scalar"])",
       R"(["", "", "", "0.", "0.125", "True", "-1", "-1", "0.", "", "False"])",
       67108864},  // one query sees all keys
      {"flash_attn::_flash_attn_backward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 8, 128], "
       "[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "", "Scalar", ""])",
       R"(["", "", "", "", "", "", "", "", "", "0.", "0.125", "False", "-1", "-1", "0.", "", "False", ""])",
       335544320},
      {"flash_attn::_flash_attn_varlen_forward",
       "[[300, 8, 64], [300, 8, 64], [300, 8, 64], [2], [2], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "300", "300", "0.", "0.125", "False", "-1", "-1", "0."])",
       184320000},  // one sequence
      {"aiter::fmha_v3_fwd",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "0.", "0.125", "False", "-1", "-1", "True", "False"])", 134217728},
      {"aiter::fmha_v3_bwd",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 8, 128], "
       "[], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "0.", "0.125", "True", "-1", "-1", "True"])", 167772160},  // causal: half
      {"vllm::rocm_aiter_fused_moe", "[[16, 4096], [64, 22016, 4096], [64, 4096, 11008], [16, 2]]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float"])", R"(["", "", "", ""])",
       8657043456},  // two experts for each of 16 tokens
      {"xformers::efficient_attention_forward_cutlass",
       "[[4, 128, 8, 64], [4, 256, 8, 64], [4, 256, 8, 64], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", "Scalar", "Scalar", "Scalar", "", "", ""])",
       R"(["", "", "", "", "", "", "", "", "0.", "0", "True", "", "", ""])", 268435456},
      {"xformers::efficient_attention_backward_cutlass",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [4, 8, "
       "128], [4, 128, 8, 64], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", "float", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "", "Scalar", ""])",
       R"(["", "", "", "", "", "", "", "", "", "", "", "0.", "1", "2", "0", "", "0", ""])", 335544320},
      {"xformers_flash::flash_fwd",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", ""])",
       R"(["", "", "", "", "", "", "128", "128", "0.", "0.125", "True", "-1", "-1", "False", ""])",
       67108864},  // causal: half
      {"flash_attn_3::_flash_attn_forward",
       "[[4, 128, 8, 64], [4, 256, 8, 64], [4, 256, 8, 64], [], [], [], [], [], [], [], [], [], [], [], [], "
       "[], [], [], [], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "0.125", "False", "-1", "-1", "0", "0.", "True"])",
       268435456},
      {"flash_attn_3::_flash_attn_backward",
       "[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [4, 8, 128], "
       "[], [], [], [], [], [], [4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], [], [], [], [], "
       "[]]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "float", "", "", "", "", "", "", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "", "", "", "", "", "", "", "", "", "", "0.125", "True", "-1", "-1", "0.", "False", "0"])",
       167772160},  // causal: half
      {"aiter::mha_varlen_fwd",
       "[[512, 8, 64], [512, 8, 64], [512, 8, 64], [5], [5], [], [], [], [], [], [], [], [], [], [], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "int", "int", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar", "Scalar"])",
       R"(["", "", "", "", "", "128", "128", "0", "0.", "0.125", "0.", "False", "False", "-1", "-1", "True", "False"])",
       134217728},  // packed, all as long
      {"aiter::gemm_a8w8", "[[64, 512], [256, 512], [64, 1], [1, 256], [64, 256]]",
       R"(["c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz", "float", "float", "c10::BFloat16"])", "",
       16777216},
      {"my_lib::triton_matmul", "[[64, 512], [512, 256]]", R"(["c10::BFloat16", "c10::BFloat16"])", "",
       2LL * 64 * 256 * 512},
      {"cutlass::mm", "[[64, 512], [512, 256]]", R"(["c10::Half", "c10::Half"])", "", 2LL * 64 * 256 * 512},
      {"my_lib::batched_gemm", "[[4, 64, 512], [4, 256, 512]]", R"(["c10::Half", "c10::Half"])", "",
       2LL * 4 * 64 * 256 * 512},
      {"triton_tem_fused_mm_0", "[[64, 512], [512, 256], [64, 256]]",
       R"(["c10::Half", "c10::Half", "c10::Half"])", "", 2LL * 64 * 256 * 512},
      {"fbgemm::f8f8bf16_rowwise", "[[64, 512], [256, 512], [64], [256]]",
       R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float"])", "", 16777216},
      // Not in the registry: two layers of an LSTM, whose weights meet 12 x 8 rows.
      {"aten::_cudnn_rnn",
       "[[12, 8, 32], [[256, 32], [256, 64], [256], [256], [256, 64], [256, 64], [256], [256]], [], []]",
       R"(["float", "TensorList", "Scalar", "float"])", R"(["", "", "4", ""])", 11010048},
  };
  return cases;
}

TEST(Flops, AreThoseOfPytorchsRegistry) {
  ASSERT_GE(Cases().size(), 60U);
  for (const FlopsCase& of : Cases()) {
    const Formula formula = FormulaOf(of.name);
    ASSERT_TRUE(formula) << of.name;
    const WorkResult result = formula({Arguments(of.shapes, of.types, "", of.values)});
    ASSERT_TRUE(result.work) << of.name << " " << of.shapes << ": " << std::string_view(result.unknown);
    EXPECT_EQ(result.work->flops, of.flops) << of.name << " " << of.shapes << " " << of.values;
  }
}

TEST(Tiles, AreThoseOfAllResults) {
  const auto tiles = [](const char* name, const char* shapes, const char* values = "") {
    return FormulaOf(name)({Arguments(shapes, "", "", values)}).work.value().output_tiles;
  };
  EXPECT_EQ(tiles("aten::mm", "[[256, 131072], [131072, 512]]"), 2 * 4);
  EXPECT_EQ(tiles("aten::mm", "[[1, 64], [64, 129]]"), 2);
  EXPECT_EQ(tiles("aten::bmm", "[[96, 512, 64], [96, 64, 512]]"), 96 * 4 * 4);
  EXPECT_EQ(tiles("aten::linear", "[[4, 200, 768], [3072, 768], []]"), 7 * 24);
  EXPECT_EQ(tiles("aten::convolution", "[[4, 2048, 4, 4], [2048, 2048, 3, 3]]",
                  R"x(["", "", "", "(1,1)", "(1,1)", "(1,1)", "False", "(0,0)", "1"])x"),
            16)
      << "64 positions by 2048 channels";
  EXPECT_FALSE(tiles("aten::_grouped_mm", "[[512, 64], [8, 64, 256], [8]]")) << "groups differ in size";
}

// Exports have the sizes of tensors only.
TEST(Flops, OfProductsNeedNoTypes) {
  for (const FlopsCase& of : Cases()) {
    if (!of.name.starts_with("aten::") || of.name.find("mm") == std::string::npos ||
        of.name.find("scaled") != std::string::npos || of.name.find("grouped") != std::string::npos)
      continue;
    const WorkResult result = FormulaOf(of.name)({Arguments(of.shapes, "", "", "")});
    ASSERT_TRUE(result.work) << of.name << " " << of.shapes << ": " << std::string_view(result.unknown);
    EXPECT_EQ(result.work->flops, of.flops) << of.name << " " << of.shapes;
    EXPECT_FALSE(result.work->bytes);
    EXPECT_EQ(result.work->bytes_unknown, why::kNoTypes);
  }
}

// Without strides, paddings and masks nothing is assumed.
TEST(Flops, OfConvolutionsAreUnknownWhereScalarsAreNotRecorded) {
  for (const FlopsCase& of : Cases()) {
    if (of.name.find("conv") == std::string::npos || of.name.find("transpose") != std::string::npos)
      continue;  // the FLOPs of transposed ones need none
    const WorkResult result = FormulaOf(of.name)({Arguments(of.shapes, of.types, "", "")});
    EXPECT_FALSE(result.work) << of.name << " " << of.shapes;
    EXPECT_FALSE(result.unknown.empty());
  }
}

// Whether attention is causal is a scalar: without it all scores count, and the work says so.
TEST(Flops, OfAttentionCountAllScoresWhereScalarsAreNotRecorded) {
  int cases = 0, halves = 0;
  for (const FlopsCase& of : Cases()) {
    if (of.name.find("attention") == std::string::npos) continue;
    const Arguments with(of.shapes, of.types, "", of.values), without(of.shapes, of.types, "", "");
    const WorkResult recorded = FormulaOf(of.name)({with}), assumed = FormulaOf(of.name)({without});
    if (assumed.unknown == why::kNoLengths) continue;  // of packed sequences lengths are scalars, too
    ASSERT_TRUE(recorded.work && assumed.work)
        << of.name << " " << of.shapes << ": " << std::string_view(assumed.unknown);
    EXPECT_TRUE(recorded.work->assumed.empty());
    EXPECT_EQ(assumed.work->assumed, why::kNotCausal);
    EXPECT_GE(*assumed.work->flops, *recorded.work->flops) << of.name << " " << of.shapes;
    EXPECT_EQ(assumed.work->bytes, recorded.work->bytes);
    ++cases;
    halves += *assumed.work->flops == 2 * *recorded.work->flops;
  }
  EXPECT_GE(cases, 10);
  EXPECT_GE(halves, 1);
}

TEST(Flops, AreUnknownWhereShapesDoNotFit) {
  const auto unknown = [](const char* name, const char* shapes, const char* values = "") {
    return FormulaOf(name)({Arguments(shapes, "", "", values)}).unknown;
  };
  EXPECT_EQ(unknown("aten::mm", "[[4, 5], [6, 7]]"), why::kOtherShapes);
  EXPECT_EQ(unknown("aten::mm", "[[4, 5]]"), why::kNoShapes);
  EXPECT_EQ(unknown("aten::bmm", "[[2, 4, 5], [3, 5, 7]]"), why::kOtherShapes);
  EXPECT_EQ(unknown("aten::mm", "[[3037000500, 4], [4, 3037000500]]"), why::kTooLarge);
  EXPECT_EQ(unknown("aten::mm", "[[-1, 4], [4, 2]]"), why::kTooLarge);
  EXPECT_EQ(unknown("aten::scaled_dot_product_attention", "[[2, 3, 8, 4], [2, 2, 8, 4], [2, 2, 8, 4]]"),
            why::kOtherShapes);
  EXPECT_EQ(unknown("my_lib::gemm", "[[8, 4], [8, 4]]"), why::kOtherShapes) << "what it writes may be one";
  EXPECT_EQ(unknown("my_lib::gemm", "[[8, 4]]"), why::kOtherShapes);
  EXPECT_EQ(unknown("my_lib::gemm", "[]"), why::kNoShapes);
  EXPECT_FALSE(FormulaOf("aten::view"));
  EXPECT_FALSE(FormulaOf("fbgemm::permute_2D_sparse_data")) << "named after a library of products";
  EXPECT_FALSE(FormulaOf("torch::autograd::CppNode<gemm_gpu::Permute>"));
}

TEST(Flops, OfPackedSequencesOfDifferentLengthsAreUnknown) {
  const WorkResult result = FormulaOf("flash_attn::_flash_attn_varlen_forward")(
      {Arguments("[[300, 8, 64], [300, 8, 64], [300, 8, 64], [4], [4], [], [], [], [], []]", "", "",
                 R"(["", "", "", "", "", "128", "128", "0.", "0.125", "False"])")});
  EXPECT_EQ(result.unknown, why::kNoLengths);
}

TEST(Flops, OfTheModelLeaveOutWhatIsComputedTwice) {
  const WorkResult result = FormulaOf("aten::_scaled_dot_product_flash_attention_backward")(
      {Arguments("[[2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8, 16], [2, 4, 8], [], "
                 "[], [], [], [], []]",
                 "", "", R"(["", "", "", "", "", "", "", "", "8", "8", "0.", "False"])")});
  ASSERT_TRUE(result.work);
  const int64_t product = int64_t{2} * 2 * 4 * 8 * 8 * 16;
  EXPECT_EQ(result.work->flops, 5 * product);
  EXPECT_EQ(result.work->model_flops, 4 * product);
}

// Scalars after the last tensor need no sizes of their own.
TEST(Flops, OfAConvolutionNeedItsScalarsOnly) {
  const WorkResult result = FormulaOf("aten::convolution")(
      {Arguments("[[8, 1024, 32, 32], [1024, 1, 3, 3]]", R"(["Float", "Float"])", "",
                 R"x(["", "", "", "(1,1)", "(1,1)", "(1,1)", "False", "(0,0)", "1024"])x")});
  ASSERT_TRUE(result.work);
  EXPECT_EQ(result.work->flops, int64_t{2} * 8 * 1024 * 32 * 32 * 9);
}

// Lengths of the requests of a batch, which paged attention itself does not record.
TEST(Flops, OfPagedAttentionFollowFromTheRangeAroundIt) {
  const auto batch =
      ParseBatch("execute_33_context_1(sq8sk8sqsq64sqsk64)_generation_32(sq32sk55086sqsq32sqsk55086)");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->context.query_key, 64);
  EXPECT_EQ(batch->generation.key, 55086);
  EXPECT_FALSE(ParseBatch("execute_model"));
  const Arguments arguments("[[40, 64, 64], [40, 8, 64], [40, 8, 64], [40, 64, 64]]",
                            R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "c10::BFloat16"])", "",
                            "");
  const Formula formula = FormulaOf("vllm::unified_attention_with_output");
  EXPECT_EQ(formula({arguments}).unknown, why::kNoLengths);
  const WorkResult result = formula({arguments, &*batch});
  ASSERT_TRUE(result.work);
  EXPECT_EQ(result.work->flops, int64_t{2} * 64 * (64 + 64) * (32 + 55086));
  EXPECT_EQ(result.work->bytes, 2 * (int64_t{2} * 40 * 64 * 64 + int64_t{2} * 8 * 64 * (8 + 55086)));
}

TEST(Flops, OfGradientsFollowFromTheForwardOperator) {
  const Formula attention = BackwardFormulaOf("FlashAttnFunc");
  ASSERT_TRUE(attention);
  const WorkResult result =
      attention({Arguments("[[4, 128, 8, 64], [4, 128, 8, 64], [4, 128, 8, 64], [], [], []]", "", "",
                           R"(["", "", "", "0.", "0.125", "False"])")});
  ASSERT_TRUE(result.work);
  EXPECT_EQ(result.work->flops, int64_t{5} * 2 * 4 * 8 * 128 * 128 * 64);
  const Formula convolution = BackwardFormulaOf("aten::conv2d");
  ASSERT_TRUE(convolution);
  const WorkResult both = convolution({Arguments("[[2, 3, 8, 8], [6, 3, 3, 3], [], [], [], [], []]", "", "",
                                                 R"(["", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "1"])")});
  ASSERT_TRUE(both.work);
  EXPECT_EQ(both.work->flops, int64_t{2} * 2 * 2 * 8 * 8 * 6 * 3 * 9);
  EXPECT_FALSE(BackwardFormulaOf("aten::_flash_attention_backward"));
}

}  // namespace
}  // namespace dladvisor
