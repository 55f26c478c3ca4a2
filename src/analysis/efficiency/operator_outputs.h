// SPDX-License-Identifier: Apache-2.0
// Shapes of what operators gave, in exports of PyTorch's emit_nvtx with record_shapes. An operator's text has
// the sizes of what it takes only, with the number of the operator that gave it: "aten::relu, op_id = 9,
// sizes = [[2, 64, 8, 8]], input_op_ids = [(7,0)]" says what operator 7 gave. Convolutions need it, whose
// strides are not recorded.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "src/analysis/context/context.h"

namespace dladvisor {

// "[[2, 3], [4]]" of "aten::mm, op_id = 7, sizes = [[2, 3], [4]], input_op_ids = [...]"; "" where there is
// none.
std::string_view SizesInText(std::string_view text);

class OperatorOutputs {
 public:
  explicit OperatorOutputs(const Context& context) : context_(context) {}

  // "[2, 64, 8, 8]" of a call of a convolution, by its own number or that of a convolution around it, which
  // gives the same; "" where no operator takes it first.
  std::string_view Of(uint32_t range);

 private:
  using Key = std::pair<uint32_t, int64_t>;  // process, number

  void Read();
  uint32_t ProcessOf(uint32_t range) const;

  const Context& context_;
  bool is_read_ = false;
  std::map<Key, std::string_view> taken_;
};

}  // namespace dladvisor
