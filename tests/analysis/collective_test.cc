// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/communication/collective.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(Collective, ExposedIsWithoutComputation) {
  TraceBuilder b;
  b.Kernel(0, 100, "gemm", 0);
  for (const Ns start : {50, 200, 400}) {
    b.Kernel(start, start + 100, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 0);
    b.trace.kernels.stream.Set(b.trace.kernels.size() - 1, 20);
  }
  b.Kernel(600, 1000, "ncclDevKernel_Broadcast_RING_LL(args)", 0);
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeCollectives(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].collective, "AllReduce");
  EXPECT_EQ(rows[0].calls, 3);
  EXPECT_EQ(rows[0].window_ns, 300);
  EXPECT_EQ(rows[0].exposed_ns, 250);
  EXPECT_EQ(rows[0].compute_stream_ns, 0);
  EXPECT_EQ(rows[0].median_ns, 100);
  EXPECT_EQ(rows[1].collective, "Broadcast");
  EXPECT_EQ(rows[1].compute_stream_ns, 400);
  EXPECT_EQ(rows[1].max_ns, 400);
}

// In each of four steps a short and a long all-reduce; once the short one waits.
TEST(Collective, LateIsAgainstThePlaceInOtherSteps) {
  TraceBuilder b;
  for (int64_t step = 0; step < 4; ++step) {
    const Ns t = step * 1000;
    b.Range(t, t + 990, "iteration " + std::to_string(step), 0);
    for (const auto& [start, length] :
         {std::pair<Ns, Ns>{100, step == 2 ? 110 : 10}, std::pair<Ns, Ns>{300, 500}}) {
      b.Launch(t + start - 10, t + start, t + start + length,
               "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)");
    }
  }
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeCollectives(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].max_ns, 500);
  EXPECT_EQ(rows[0].late_ns, 100);
  EXPECT_EQ(rows[0].late_steps, 1);
  EXPECT_EQ(rows[0].steps, 4);
}

// One all-reduce in each of four steps: fast once, and else 3 ms longer.
TEST(Collective, WaitsBeyondTheFastestAtItsPlace) {
  TraceBuilder b;
  for (int64_t step = 0; step < 4; ++step) {
    const Ns t = step * 10'000'000;
    b.Range(t, t + 9'900'000, "iteration " + std::to_string(step), 0);
    const Ns length = step == 1 ? 1'000'000 : 4'000'000;
    b.Launch(t + 90, t + 100, t + 100 + length, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)");
  }
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeCollectives(context, ComputeTimelines(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].late_ns, 0) << "most of them are as slow";
  EXPECT_EQ(rows[0].waiting_ns, 9'000'000);
}

TEST(Collective, TheLongestIsComparedWithThoseThatCarryAsMuch) {
  TraceBuilder b;
  Trace& trace = b.trace;
  const auto rows = [&] {
    const Context context = test::ContextOf(trace);
    return ComputeCollectives(context, ComputeTimelines(context));
  };
  const auto of_elements = [&](int64_t elements) {
    Collective carried;
    carried.dtype = trace.names.Intern("Float");
    carried.in_elements = carried.out_elements = elements;
    return carried;
  };
  trace.collectives = {{}, of_elements(8), of_elements(1000), of_elements(1'000'000)};
  Ns at = 0;
  for (const auto& [carried, length] : {std::pair{1, 10}, {2, 30}, {2, 50}, {2, 400}}) {
    b.Kernel(at, at + length, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 0);
    trace.kernels.collective.push_back(carried);
    at += 1000;
  }
  EXPECT_EQ(rows().at(0).alike_avg_ns, 40);
  trace.kernels.collective.Set(3, 3);
  EXPECT_EQ(rows().at(0).alike_avg_ns, std::nullopt) << "no other carries as much";
  trace.kernels.collective.Set(3, 0);
  EXPECT_EQ(rows().at(0).alike_avg_ns, std::nullopt) << "its size is not recorded";
}

TEST(Collective, WideNumbersAreOfThoseWhoseTypeIsRecorded) {
  TraceBuilder b;
  Trace& trace = b.trace;
  const auto of_type = [&](const char* type) {
    Collective carried;
    carried.dtype = trace.names.Intern(type);
    return carried;
  };
  trace.collectives = {{}, of_type("float"), of_type("unsigned char"), of_type("c10::BFloat16")};
  Ns at = 0;
  for (const auto& [carried, length] : {std::pair{0, 500}, {1, 30}, {2, 60}, {3, 10}}) {
    b.Kernel(at, at + length, "ncclDevKernel_SendRecv(args)", 0);
    trace.kernels.collective.push_back(carried);
    at += 1000;
  }
  const Context context = test::ContextOf(trace);
  EXPECT_EQ(ComputeCollectives(context, ComputeTimelines(context)).at(0).wide_share, 0.3);
}

// 24 kB take half a millisecond on the slowest of links, beside 220 us of latency between two ranks.
TEST(Collective, WaitsBeyondWhatItsBytesNeed) {
  TraceBuilder b;
  Trace& trace = b.trace;
  Collective small, large;
  small.dtype = large.dtype = trace.names.Intern("Float");
  small.group_size = large.group_size = 2;
  small.in_elements = small.out_elements = 6'000;
  large.in_elements = large.out_elements = 1'000'000;
  trace.collectives = {{}, small, large};
  Ns at = 0;
  const auto add = [&](int64_t carried, Ns length) {
    b.Kernel(at, at + length, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(args)", 0);
    trace.kernels.collective.push_back(carried);
    at += 100'000'000;
  };
  const auto waiting = [&] {
    const Context context = test::ContextOf(trace);
    return ComputeCollectives(context, ComputeTimelines(context)).at(0).waiting_ns;
  };
  add(1, 700'000);
  add(1, 3'000'000);
  EXPECT_EQ(waiting(), 2'300'000);
  for (int call = 0; call < 3; ++call) add(2, 1'000'000);
  add(2, 10'000'000);
  EXPECT_EQ(waiting(), 474'000 + 2'774'000 + 8'780'000) << "at the rate of the others";
  for (Collective& carried : trace.collectives) carried.group_size = -1;
  EXPECT_EQ(waiting(), 2'300'000) << "groups that are not told apart may have links of their own";
  for (Collective& carried : trace.collectives) carried.group_size = 2;
  trace.kernels.collective.Set(5, 0);
  EXPECT_EQ(waiting(), 2'300'000) << "its size is not recorded";
}

}  // namespace
}  // namespace dladvisor
