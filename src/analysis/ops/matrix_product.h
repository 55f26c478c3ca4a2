// SPDX-License-Identifier: Apache-2.0
// Matrix products by shape and type, from the arguments of PyTorch's operators. Tensor cores load 16 bytes at
// a time: products whose rows do not begin at multiples of that run on slower kernels. What counts is the
// leading dimension of each matrix, known from its strides: the number of tokens may be odd where no matrix
// has it as its row length. Without strides the columns of the left matrix and of the result must be
// multiples. Source: NVIDIA, "Matrix Multiplication Background User's Guide", section "Tensor Core
// Requirements".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/store/relation.h"
#include "src/analysis/context/context.h"

namespace dladvisor {

struct MatrixProductRow {
  int64_t rank = 0;
  std::string op;
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::string data_type;
  int64_t calls = 0, gpu_ns = 0, multiple = 0;
  bool aligned = false;
  std::optional<double> kernel_share;
};
const RelationOf<MatrixProductRow>& MatrixProductRelation();

// Products whose kernels start in the rank's window, most GPU time first. Empty without recorded shapes.
std::vector<MatrixProductRow> ComputeMatrixProducts(const Context& context);

}  // namespace dladvisor
