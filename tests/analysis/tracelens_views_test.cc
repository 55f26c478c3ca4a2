// SPDX-License-Identifier: Apache-2.0
// Sheets of TraceLens's report, from rows of op_efficiency.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/store/database.h"
#include "src/analysis/compat/views.h"
#include "src/analysis/efficiency/op_efficiency.h"

namespace dladvisor {
namespace {

OpEfficiencyRow EfficiencyOf(const char* op, const char* kind) {
  OpEfficiencyRow row;
  row.op = op;
  row.kind = kind;
  row.calls = 2;
  row.gpu_ns = 20'000;
  return row;
}

TEST(TracelensViews, HaveForwardAndBackwardApart) {
  OpEfficiencyRow product = EfficiencyOf("aten::mm", "matrix");
  product.shapes = "512x512; 512x512";
  product.precision = "bf16";
  product.flops = 4e9;
  product.flops_per_s = 2e14;
  product.bytes = 2 * 1048576.0;
  const Table table = OpEfficiencyRelation().ToTable(std::vector{
      product, EfficiencyOf("aten::_scaled_dot_product_flash_attention", "attention"),
      EfficiencyOf("aten::_scaled_dot_product_flash_attention_backward", "attention"),
      EfficiencyOf("aiter::mha_bwd", "attention"), EfficiencyOf("aten::convolution", "convolution"),
      EfficiencyOf("aten::convolution_backward", "convolution")});
  Database database;
  database.Add(table);
  for (const View& view : TracelensViews()) database.AddView(view.name, view.sql);
  const auto names = [&](const std::string& view) {
    std::vector<std::string> found;
    for (const auto& row : database.Query("SELECT name FROM " + view + " ORDER BY name").rows)
      found.push_back(std::get<std::string>(row[0]));
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("tracelens_unified_perf_summary").size(), 6u);
  EXPECT_EQ(names("tracelens_SDPA_fwd"), Names{"aten::_scaled_dot_product_flash_attention"});
  EXPECT_EQ(names("tracelens_SDPA_bwd"),
            (Names{"aiter::mha_bwd", "aten::_scaled_dot_product_flash_attention_backward"}));
  EXPECT_EQ(names("tracelens_CONV_fwd"), Names{"aten::convolution"});
  EXPECT_EQ(names("tracelens_CONV_bwd"), Names{"aten::convolution_backward"});
  const auto row = database
                       .Query(
                           "SELECT \"GFLOPS\", \"Data Moved (MB)\", \"TFLOPS/s_mean\", \"Kernel Time "
                           "(µs)_mean\", \"Compute "
                           "Spec\" FROM tracelens_GEMM")
                       .rows.at(0);
  EXPECT_EQ(row, (std::vector<Value>{2.0, 1.0, 200.0, 10.0, "matrix_bf16"}));
}

}  // namespace
}  // namespace dladvisor
