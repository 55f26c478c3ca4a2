// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/counters/gpu_metric.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

TEST(GpuMetric, MeansWhileTheGpuIsActive) {
  TraceBuilder b;
  b.Kernel(100, 500, "k", 0);
  GpuMetrics& g = b.trace.gpu_metrics;
  const NameId active = b.trace.names.Intern("GR Active [Throughput %]"),
               sm = b.trace.names.Intern("SMs Active [Throughput %]"), other = b.trace.names.Intern("Foo");
  const auto add = [&](Ns time, NameId metric, double value) {
    g.time.push_back(time);
    g.device.push_back(0);
    g.metric.push_back(metric);
    g.value.push_back(value);
  };
  for (const auto& [time, gr, sms] : {std::tuple(50, 100.0, 99.0), std::tuple(150, 100.0, 40.0),
                                      std::tuple(250, 0.0, 0.0), std::tuple(350, 50.0, 20.0)}) {
    add(time, active, gr);
    add(time, sm, sms);
  }
  add(350, other, 7);
  const auto rows = ComputeGpuMetrics(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].metric, "Foo");
  EXPECT_FALSE(rows[0].kind.has_value());
  EXPECT_EQ(rows[1].kind, "gr-active");
  EXPECT_EQ(rows[2].kind, "sm-active");
  EXPECT_EQ(rows[2].samples, 3) << "the sample at 50 is outside of the window";
  EXPECT_DOUBLE_EQ(rows[2].avg, 20);
  EXPECT_DOUBLE_EQ(rows[2].active_avg.value(), 30);
  EXPECT_DOUBLE_EQ(rows[2].low.value(), 20);
  EXPECT_DOUBLE_EQ(rows[2].high.value(), 40);
}

TEST(GpuMetric, WithoutGrActiveThatIsUnknown) {
  TraceBuilder b;
  b.Kernel(0, 500, "k", 0);
  b.trace.gpu_metrics = {{10}, {0}, {b.trace.names.Intern("SM Active")}, {50}};
  const auto rows = ComputeGpuMetrics(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "sm-active");
  EXPECT_FALSE(rows[0].active_avg.has_value());
}

}  // namespace
}  // namespace dladvisor
