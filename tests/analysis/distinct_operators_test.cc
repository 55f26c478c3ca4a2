// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/efficiency/distinct_operators.h"

#include <gtest/gtest.h>

#include <vector>

namespace dladvisor {
namespace {

// Also one after the other under one name, and again after others.
TEST(DistinctOperators, GiveBackTheWorkThatWasAdded) {
  Work product;
  product.kind = WorkKind::kMatrixProduct;
  product.flops = product.model_flops = 200;
  product.bytes = 30;
  product.output_tiles = 4;
  product.inner = 0;
  product.layout = "nt";
  product.data_type = "bf16";
  Work attention = product;
  attention.kind = WorkKind::kAttention;
  attention.model_flops = 150;
  attention.assumed = why::kNotCausal;
  Work experts;
  experts.kind = WorkKind::kMixtureOfExperts;
  experts.flops = experts.model_flops = 7;
  experts.expert_rows = 0.25;
  experts.bytes_unknown = why::kRouting;
  Work untyped;
  untyped.kind = WorkKind::kCopy;
  untyped.untyped_elements = 12;
  untyped.output_elements = 6;
  untyped.bytes_unknown = why::kNoTypes;
  Work other_numbers = product;
  other_numbers.flops = other_numbers.model_flops = 1;
  const std::vector<WorkResult> added = {{product, {}},       WorkResult::Unknown(why::kNoShapes),
                                         {other_numbers, {}}, {attention, {}},
                                         {experts, {}},       {untyped, {}},
                                         {product, {}},       WorkResult::Unknown(why::kWindow),
                                         {Work(), {}},        {experts, {}}};

  DistinctOperators operators;
  operators.Reserve(3);
  for (uint32_t i = 0; i < added.size(); ++i) EXPECT_EQ(operators.Add(i / 4, i, added[i]), i);
  ASSERT_EQ(operators.size(), added.size());
  for (uint32_t i = 0; i < added.size(); ++i) {
    SCOPED_TRACE(i);
    const auto& of = operators[i];
    EXPECT_EQ(of.name, i / 4);
    EXPECT_EQ(of.shapes, i);
    const WorkResult found = operators.ResultOf(of);
    EXPECT_EQ(found.unknown, added[i].unknown);
    ASSERT_EQ(found.work.has_value(), added[i].work.has_value());
    EXPECT_EQ(operators.ClassOf(of).kind.has_value(), found.work.has_value());
    if (!found.work) continue;
    const Work &work = *found.work, &expected = *added[i].work;
    EXPECT_EQ(work.kind, expected.kind);
    EXPECT_EQ(work.flops, expected.flops);
    EXPECT_EQ(work.model_flops, expected.model_flops);
    EXPECT_EQ(work.bytes, expected.bytes);
    EXPECT_EQ(work.untyped_elements, expected.untyped_elements);
    EXPECT_EQ(work.output_elements, expected.output_elements);
    EXPECT_EQ(work.output_bytes, expected.output_bytes);
    EXPECT_EQ(work.output_tiles, expected.output_tiles);
    EXPECT_EQ(work.inner, expected.inner);
    EXPECT_EQ(work.expert_rows, expected.expert_rows);
    EXPECT_EQ(work.layout, expected.layout);
    EXPECT_EQ(work.data_type, expected.data_type);
    EXPECT_EQ(work.bytes_unknown, expected.bytes_unknown);
    EXPECT_EQ(work.assumed, expected.assumed);
    EXPECT_EQ(operators.ClassOf(of).Has(kFlops), expected.flops.has_value());
    EXPECT_EQ(operators.NumberOf(of, kOutputElements), expected.output_elements);
  }
  EXPECT_EQ(operators.classes().size(), 7u);
}

}  // namespace
}  // namespace dladvisor
