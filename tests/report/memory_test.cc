// SPDX-License-Identifier: Apache-2.0
// The memory view of PyTorch profiler traces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "src/report/model/report_model.h"
#include "tests/report/fixture.h"

namespace dladvisor::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using I = int64_t;

constexpr I kGiB = I{1} << 30;
FakeRun KinetoRun() {
  FakeRun run;
  run.Give("run", {{{"name", "trace"}, {"ranks", I{1}}, {"gpus", I{1}}}});
  run.Give("profile", {{{"profile", I{0}}, {"path", "trace.json"}, {"format", "kineto"}, {"kernels", I{1}}}});
  run.Give("memory", {{{"rank", I{0}},
                       {"device", I{0}},
                       {"peak_bytes", 5 * kGiB},
                       {"peak_at_ns", I{1'200'000}},
                       {"peak_operator", "aten::addmm"}}});
  return run;
}

Row Point(I device, I point, I start_ns, I allocated, I reserved) {
  return {{"device", device},
          {"point", point},
          {"start_ns", start_ns},
          {"allocated_bytes", allocated},
          {"reserved_bytes", reserved}};
}

FakeRun RunWithMemory() {
  FakeRun run = KinetoRun();
  run.Give("memory_curve",
           {Point(0, 0, 200'000, 2 * kGiB, 8 * kGiB), Point(0, 1, 1'200'000, 5 * kGiB, 8 * kGiB),
            Point(0, 2, 2'200'000, kGiB, 4 * kGiB), Point(1, 0, 2'000'000, 7 * kGiB, 7 * kGiB)});
  for (const char* name : {"aten::empty_strided", kHostileName.c_str()})
    run.Give("memory_operator", {{{"rank", I{0}},
                                  {"device", I{0}},
                                  {"name", name},
                                  {"calls", I{1234}},
                                  {"self_allocated_bytes", 3 * kGiB},
                                  {"allocated_bytes", 4 * kGiB},
                                  {"self_increase_bytes", -kGiB / 2},
                                  {"increase_bytes", I{0}},
                                  {"self_allocations", I{7}},
                                  {"allocations", I{8}}}});
  return run;
}

TEST(MemoryView, DrawsACurveForEachGpuWithItsPeak) {
  const std::string html = Render(RunWithMemory(), ReportFormat::kHtml);
  EXPECT_THAT(html, HasSubstr("<title id=\"memory-curve-0-t\">Memory of GPU 0 over time</title>"));
  EXPECT_THAT(html, HasSubstr("<title>Allocated: at most 5.00 GiB</title>"));
  EXPECT_THAT(html, HasSubstr("<title>Reserved: at most 8.00 GiB</title>"));
  EXPECT_THAT(html, HasSubstr("d=\"M4.0 232.0V179.5H480.0V100.8H956.0V205.8H956.0V232.0\""))
      << "a quarter, five and one eighth of the height";
  EXPECT_THAT(html,
              HasSubstr("<circle class=\"mark\" cx=\"480.0\" cy=\"100.8\" r=\"3.5\"><title>peak 5.00 GiB "
                        "in aten::addmm at 1.20 ms</title>"));
  EXPECT_THAT(html, HasSubstr(">200 µs</text>"));
  EXPECT_THAT(html, HasSubstr(">2.20 ms</text>"));
  EXPECT_THAT(html, HasSubstr("Memory of GPU 1 over time"));
  EXPECT_THAT(html, HasSubstr("<title>Allocated: at most 7.00 GiB</title>")) << "of which no peak is known";
}

TEST(MemoryView, ListsOperatorsInEveryFormat) {
  for (const ReportFormat format : kFormats) {
    const std::string text = Render(RunWithMemory(), format);
    EXPECT_THAT(text, HasSubstr("Memory by Operator"));
    EXPECT_THAT(text, HasSubstr(format == ReportFormat::kMarkdown ? "empty\\_strided" : "empty_strided"));
    EXPECT_THAT(text, HasSubstr(format == ReportFormat::kJson ? "-536870912" : "-512 MiB"));
    if (format == ReportFormat::kJson) continue;
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(format == ReportFormat::kText ? "" : text, Not(HasSubstr("<img")));
  }
}

TEST(MemoryView, IsLeftOutWithoutMemoryEvents) {
  for (const ReportFormat format : kFormats) {
    const std::string text = Render(KinetoRun(), format);
    for (const char* of_memory : {"memory_curve", "memory-curve", "memory_operator", "Memory by Operator"})
      EXPECT_THAT(text, Not(HasSubstr(of_memory)));
  }
}

}  // namespace
}  // namespace dladvisor::test
