// SPDX-License-Identifier: Apache-2.0
// Operators that were called with different arguments, and their work: what few of them differ in once for
// all, and of the numbers those that are known. A trace of changing shapes has hundreds of thousands, and
// memory that is written for the first time takes longer than to compute what is put there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/analysis/work/work.h"

namespace dladvisor {

enum WorkNumber : uint8_t {
  kFlops,
  kModelFlops,
  kBytes,
  kUntypedElements,
  kOutputElements,
  kOutputBytes,
  kOutputTiles,
  kInner,
  kExpertRows,  // the bits of a double
  kWorkNumbers
};

// The work of operators, but for their numbers.
struct WorkClass {
  std::optional<WorkKind> kind;  // nothing where the work is unknown
  Literal layout, bytes_unknown, assumed;
  Literal type, unknown;
  std::string_view data_type;  // of `type`
  uint32_t numbers = 0;        // which are known: bits
  // Where each number stands behind an operator's first one, and all bits where it is known.
  std::array<uint32_t, kWorkNumbers> place = {}, known = {};

  bool Has(WorkNumber number) const { return known[number] != 0; }
};

class DistinctOperators {
 public:
  struct Operator {
    uint32_t name = 0;  // in OperatorWork::names
    // In OperatorWork::shapes: of tensors, and of convolutions and attention the scalars.
    uint32_t shapes = 0;
    uint32_t work = 0;   // in classes()
    uint32_t first = 0;  // of its numbers
  };

  // Memory for about so many.
  void Reserve(size_t operators);
  // The index of the operator, which is added.
  uint32_t Add(uint32_t name, uint32_t shapes, const WorkResult& result);

  size_t size() const { return operators_.size(); }
  const Operator& operator[](size_t index) const { return operators_[index]; }
  auto begin() const { return operators_.begin(); }
  auto end() const { return operators_.end(); }

  const std::vector<WorkClass>& classes() const { return classes_; }
  const WorkClass& ClassOf(const Operator& of) const { return classes_[of.work]; }
  WorkResult ResultOf(const Operator& of) const;
  // Without a branch: of operators in the order of their calls none could be foretold.
  OptionalCount NumberOf(const Operator& of, WorkNumber number) const {
    const WorkClass& work_class = classes_[of.work];
    return numbers_[(of.first + work_class.place[number]) & work_class.known[number]];
  }

 private:
  std::vector<Operator> operators_;
  std::vector<WorkClass> classes_;
  std::vector<int64_t> numbers_ = {-1};  // of all, one after the other, behind what stands for an unknown one
  std::vector<uint32_t> last_of_name_;   // the class of the operator of that name that was added last
};

}  // namespace dladvisor
