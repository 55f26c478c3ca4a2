// SPDX-License-Identifier: Apache-2.0
// The views under DLProf's names over several iterations, which no real export beside the checkout has; those
// are compared with DLProf's own reports in tests/corpus.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/store/database.h"
#include "src/analysis/analysis.h"
#include "src/analysis/compat/views.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

class DlprofViewsTest : public testing::Test {
 protected:
  // Iterations 0 to 3: a linear layer of a kernel, then, 10 ns later, of another.
  DlprofViewsTest() {
    for (int i = 0; i < 4; ++i) {
      const Ns t = i * 1000;
      b_.Range(t, t + 999, "iteration " + std::to_string(i));
      b_.Range(t + 100, t + 150 + i, "aten::linear");
      b_.Launch(t + 110, t + 200, t + 230, "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn");
      b_.Launch(t + 120, t + 240, t + 250, "splitKreduce_kernel");
      b_.Range(t + 160, t + 180, "aten::relu");
      b_.Launch(t + 170, t + 300, t + 990, "relu");
    }
    analysed_ = std::make_unique<AnalysedTrace>(b_.trace);
    tables_ = analysed_->ComputeDigest().relations;
    for (const Table& table : tables_) db_.Add(table);
    calls_ = analysed_->OnDemandRelations();
    for (const auto& relation : calls_) db_.Add(*relation);
    for (const View& view : DlprofViews()) db_.AddView(view.name, view.sql);
  }

  std::vector<Value> Row(const std::string& sql) {
    const ResultSet result = db_.Query(sql);
    EXPECT_EQ(result.rows.size(), 1u) << sql;
    return result.rows.empty() ? std::vector<Value>() : result.rows[0];
  }

  test::TraceBuilder b_;
  std::unique_ptr<AnalysedTrace> analysed_;
  std::vector<Table> tables_;
  std::vector<std::unique_ptr<Relation>> calls_;
  Database db_;
};

using Values = std::vector<Value>;

TEST_F(DlprofViewsTest, AnOpIsCalledOncePerIteration) {
  const int64_t n = std::get<int64_t>(Row("SELECT steps FROM run")[0]);
  ASSERT_GE(n, 3);
  EXPECT_EQ(
      Row("SELECT \"Op ID\", \"No. Calls\", \"TC Eligible\", \"Total GPU Time (ns)\", \"Min GPU Idle (ns)\", "
          "\"Max CPU Time (ns)\" FROM dlprof_detail WHERE \"Op Type\" = 'linear'"),
      (Values{"LINEAR_1", n, "yes", n * 40, int64_t{10}, int64_t{53}}));
  EXPECT_EQ(Row("SELECT \"# Ops\", \"# Calls\" FROM dlprof_op_type WHERE \"Op Type\" = 'relu'"),
            (Values{int64_t{1}, n}));
}

TEST_F(DlprofViewsTest, GroupsAreSummedWithinIterations) {
  const int64_t n = std::get<int64_t>(Row("SELECT steps FROM run")[0]);
  EXPECT_EQ(Row("SELECT \"Num Calls Aggregated\", \"Num TC Eligible Ops\", \"Total GPU Time (ns)\", \"Avg. "
                "GPU Time "
                "(ns)\", \"Max GPU Time (ns)\" FROM dlprof_group_op WHERE \"Name\" = '/iteration #/'"),
            (Values{2 * n, int64_t{1}, n * 730, 730.0, int64_t{730}}));
}

TEST_F(DlprofViewsTest, KernelsAreThoseOfTheIterations) {
  const int64_t n = std::get<int64_t>(Row("SELECT steps FROM run")[0]);
  EXPECT_EQ(Row("SELECT count(*), count(DISTINCT \"Iteration\"), max(\"Iteration\") FROM dlprof_iteration"),
            (Values{3 * n, n, int64_t{3}}));
  EXPECT_EQ(Row("SELECT \"Uses TC\", \"Total GPU Time (ns)\", \"Avg API Time (ns)\" FROM dlprof_kernel WHERE "
                "\"Kernel Name\" LIKE '%gemm%'"),
            (Values{"yes", n * 30, 2.0}));
  EXPECT_EQ(Row("SELECT \"TC Kernel Count\", \"TC Utilization (%)\" FROM dlprof_tensor_core"),
            (Values{int64_t{1}, 75.0}));
}

TEST_F(DlprofViewsTest, TheSummaryTellsIterations) {
  const int64_t n = std::get<int64_t>(Row("SELECT steps FROM run")[0]);
  const auto value = [&](const std::string& name) {
    return Row("SELECT \"Value\" FROM dlprof_summary WHERE \"Name\" = '" + name + "'")[0];
  };
  EXPECT_EQ(value("Total Iterations"), Value(int64_t{4}));
  EXPECT_EQ(value("Aggregated Iterations"), Value(n));
  EXPECT_EQ(value("Stop Iteration"), Value(int64_t{3}));
  EXPECT_EQ(value("Wall Clock Time (ns)"), Row("SELECT window_ns FROM run")[0]);
  EXPECT_EQ(Row("SELECT \"# Ops\" FROM dlprof_summary WHERE \"Name\" = 'Ops using TC'")[0],
            Value(int64_t{1}));
}

}  // namespace
}  // namespace dladvisor
