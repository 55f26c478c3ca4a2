// SPDX-License-Identifier: Apache-2.0
// What samples show a program in, on drawn traces.
#include "src/analysis/host/sampled_functions.h"

#include <gtest/gtest.h>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

SampledFunctions FunctionsOf(const TraceBuilder& b, Interval time) {
  return FindSampledFunctions(b.trace, time, [](uint32_t) { return true; });
}

TEST(SampledFunctions, AreTheInnermostOfTheProgram) {
  TraceBuilder b;
  b.Sample(5, "drawn before", "main");
  for (const Ns at : {10, 11, 12}) b.Sample(at, "__sin_fma", "void fill<float>(float*)");
  b.Sample(13, "scale(float*)", "main");
  b.Sample(20, "drawn after", "main");
  const SampledFunctions sampled = FunctionsOf(b, {10, 20});
  EXPECT_EQ(sampled.samples, 4);
  EXPECT_EQ(sampled.threads, 1);
  EXPECT_EQ(FunctionsText(sampled), "fill (75 %), scale (25 %)");
}

TEST(SampledFunctions, AreLibrariesWhereNoneHasAName) {
  TraceBuilder b;
  b.Sample(10, "[libgomp.so.1.0.0]", "main");
  b.Sample(11, "[libgomp.so.1.0.0]", "relax(double*)");
  b.Sample(12, "0x7fede5a6fa1e", "main");
  b.Sample(13, "NSYS_OSRT_read", "main");
  EXPECT_EQ(FunctionsText(FunctionsOf(b, {0, 100})), "libgomp (25 %), relax (25 %)");
  EXPECT_EQ(FunctionsText(FunctionsOf(b, {12, 100})), "");
  EXPECT_EQ(FunctionsText(FunctionsOf(b, {50, 100})), "");
}

TEST(SampledFunctions, AreThreeOfATwentiethAndMore) {
  TraceBuilder b;
  const auto add = [&](int count, std::string_view name) {
    for (int i = 0; i < count; ++i) b.Sample(static_cast<Ns>(b.trace.cpu_samples.size()), name, "main");
  };
  add(40, "read_mesh");
  add(21, "sort_cells");
  add(19, "hash_cells");
  add(16, "print_cells");
  add(4, "log_cells");
  EXPECT_EQ(FunctionsText(FunctionsOf(b, {0, 100})),
            "read_mesh (40 %), sort_cells (21 %), hash_cells (19 %)");
  EXPECT_EQ(LeadingFunctionsText(FunctionsOf(b, {0, 100})), "read_mesh (40 %), sort_cells (21 %)");
  EXPECT_EQ(LeadingFunctionsText(FunctionsOf(b, {61, 100})), "hash_cells (49 %), print_cells (41 %)");
}

TEST(SampledFunctions, OfManyTheFirstLeadsWithATwentieth) {
  SampledFunctions sampled{
      .samples = 100, .threads = 1, .functions = {{"first", 6}, {"second", 5}, {"third", 4}}};
  EXPECT_EQ(FunctionsText(sampled), "first (6 %), second (5 %)");
  EXPECT_EQ(LeadingFunctionsText(sampled), "first (6 %)");
  sampled.functions[0].samples = 4;
  EXPECT_EQ(LeadingFunctionsText(sampled), "");
}

TEST(SampledFunctions, ThreadsThatWakeNowAndThenDoNotCount) {
  for (const int woken : {1, 2}) {
    TraceBuilder b;
    const uint32_t worker = b.AddThread(0, 43), other = b.AddThread(0, 44);
    for (Ns at = 0; at < 20; ++at) b.Sample(at, "solve", "main", worker);
    for (Ns at = 20; at < 20 + woken; ++at) b.Sample(at, "poll_events", "main", other);
    const SampledFunctions sampled = FunctionsOf(b, {0, 100});
    EXPECT_EQ(sampled.threads, woken);
    EXPECT_EQ(FunctionsText(sampled), woken == 1 ? "solve (100 %)" : "solve (91 %), poll_events (9 %)");
  }
}

}  // namespace
}  // namespace dladvisor
