// SPDX-License-Identifier: Apache-2.0
// What tables of totals say of the time of the program, and of what they lack.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/store/database.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {

using Rows = std::vector<std::vector<Value>>;

SummaryRow Operator(std::string name, int64_t calls, double total_ns, double self_ns, double on_gpu_ns = 0) {
  SummaryRow row;
  row.kind = SummaryRowKind::kOperator;
  row.name = std::move(name);
  row.calls = calls;
  row.total_ns = total_ns;
  row.self_ns = self_ns;
  row.device_ns = row.device_self_ns = on_gpu_ns;
  return row;
}

Rows Of(std::vector<SummaryRow> rows, const char* columns) {
  test::TraceBuilder b;
  SummaryTable& table = b.trace.summary_tables.emplace_back();
  table.tool = "torch.profiler";
  table.rows = std::move(rows);
  table.host_ns = 1000;
  table.device_ns = 100;
  const Digest digest = Analyze(b.trace);
  Database database;
  for (const Table& relation : digest.relations) database.Add(relation);
  return database.Query(std::string("SELECT ") + columns + " FROM summary_table").rows;
}

TEST(SummaryWall, IsThatOfSteps) {
  EXPECT_EQ(Of({Operator("ProfilerStep*", 4, 700, 500), Operator("aten::mm", 40, 200, 200, 90)},
               "wall_ns, steps, outside_ns, operations, main_name"),
            (Rows{{700.0, int64_t{4}, 200.0, int64_t{40}, "aten::mm"}}));
}

TEST(SummaryWall, LeavesOutTheRangeThatWaitsForTheBackwardPass) {
  EXPECT_EQ(Of({Operator("forward", 4, 300, 50), Operator("backward", 4, 450, 400),
                Operator("AddmmBackward0", 4, 350, 350)},
               "wall_ns, steps"),
            (Rows{{600.0, Value()}}));
}

TEST(SummaryWall, WaitingForTheBackwardPassTakesNothing) {
  EXPECT_EQ(Of({Operator("<built-in method run_backward of torch._C._EngineBas...", 4, 450, 400),
                Operator("aten::mm", 40, 200, 200)},
               "main_name"),
            (Rows{{"aten::mm"}}));
}

TEST(SummaryWall, OfInferenceIsAllThatIsListed) {
  EXPECT_EQ(Of({Operator("model_inference", 1, 900, 300), Operator("aten::mm", 40, 600, 600)}, "wall_ns"),
            (Rows{{1000.0}}));
}

TEST(SummaryWall, CollectivesAreThoseOfOperatorsWhereNoKernelsAreListed) {
  EXPECT_EQ(Of({Operator("record_param_comms", 8, 50, 50, 60)}, "communication_ns"), (Rows{{60.0}}));
}

// Of nsys stats, whose profile holds no `missing`.
Rows OfNsys(std::vector<std::pair<SummaryRowKind, std::string>> names, const char* missing,
            const char* columns) {
  test::TraceBuilder b;
  SummaryTable& table = b.trace.summary_tables.emplace_back();
  table.tool = "nsys stats";
  double ns = 1e9;
  for (auto& [kind, name] : names) {
    SummaryRow& row = table.rows.emplace_back();
    row.kind = kind;
    row.name = std::move(name);
    row.calls = 3;
    row.total_ns = ns;
    ns /= 2;
  }
  if (*missing != '\0') b.trace.health.missing_tables = {missing};
  const Digest digest = Analyze(b.trace);
  Database database;
  for (const Table& relation : digest.relations) database.Add(relation);
  return database.Query(std::string("SELECT ") + columns + " FROM summary_table").rows;
}

TEST(SummaryMain, IsNoThreadThatWaits) {
  constexpr auto kOs = SummaryRowKind::kOs;
  for (const char* wait : {"pthread_cond_wait", "pthread_cond_clockwait", "poll", "epoll_wait", "sem_wait",
                           "sem_timedwait", "futex", "select", "clock_nanosleep", "waitpid"})
    EXPECT_EQ(OfNsys({{kOs, wait}, {kOs, "fork"}}, "", "main_name, main_share"), (Rows{{"fork", Value()}}))
        << wait;
  for (const char* work : {"read", "ioctl", "pthread_mutex_lock", "munmap"})
    EXPECT_EQ(OfNsys({{kOs, work}, {kOs, "fork"}}, "", "main_name"), (Rows{{work}}));
  EXPECT_EQ(OfNsys({{kOs, "poll"}, {SummaryRowKind::kRange, "step"}}, "", "main_name"), (Rows{{"step"}}));
  EXPECT_EQ(OfNsys({{SummaryRowKind::kRange, "poll"}}, "", "main_name"), (Rows{{"poll"}}));
  EXPECT_EQ(OfNsys({{kOs, "poll"}}, "", "main_name"), (Rows{{Value()}}));
}

TEST(SummaryTables, TellWhatWasNotRecorded) {
  constexpr auto kOs = SummaryRowKind::kOs, kApi = SummaryRowKind::kApi, kKernel = SummaryRowKind::kKernel;
  const auto unrecorded = [](SummaryRowKind kind, const char* name, const char* missing) {
    return OfNsys({{kind, name}}, missing, "unrecorded");
  };
  EXPECT_EQ(unrecorded(kOs, "poll", "CUDA trace data"), (Rows{{"cuda"}}));
  EXPECT_EQ(unrecorded(kOs, "poll", ""), (Rows{{Value()}}));
  EXPECT_EQ(unrecorded(kApi, "cudaLaunchKernel", "CUDA trace data"), (Rows{{Value()}})) << "of another file";
  EXPECT_EQ(unrecorded(kApi, "cudaLaunchKernel", "CUDA kernel data"), (Rows{{"kernels"}}));
  EXPECT_EQ(unrecorded(kKernel, "saxpy", "CUDA kernel data"), (Rows{{Value()}}));
}

}  // namespace
}  // namespace dladvisor
