// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute prints, from the text to the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/fleet/load_profiles.h"
#include "tests/corpus/written_report.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// A launch with its shares of the peaks of computation and memory.
std::string Kernel(const std::string& name, const std::string& grid, const std::string& microseconds,
                   const std::string& compute, const std::string& memory) {
  return "  " + name + "(float *) (" + grid +
         ", 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0\n"
         "    Section: GPU Speed Of Light Throughput\n"
         "    ----------------------- ----------- ------------\n"
         "    Metric Name             Metric Unit Metric Value\n"
         "    ----------------------- ----------- ------------\n"
         "    Memory Throughput                 %        " +
         memory + "\n    DRAM Throughput                   %        " + memory +
         "\n    Duration                         us       " + microseconds +
         "\n    Compute (SM) Throughput           %        " + compute +
         "\n    # SMs                            SM          108\n"
         "    ----------------------- ----------- ------------\n\n";
}

test::WrittenReport ReportOf(const std::string& kernels) {
  test::ScratchDir dir;
  test::WriteFile(dir.path() / "run.txt",
                  "==PROF== Connected to process 7 (/home/me/run)\n==PROF== Profiling \"copy\" - 0: "
                  "0%....50%....100% - 9 passes\n==PROF== Disconnected from process 7\n[7] run@127.0.0.1\n" +
                      kernels);
  test::WrittenReport report = test::WriteReport(LoadProfile(dir.path() / "run.txt", {}));
  std::string plain;
  for (const char c : report.text)
    if ((c != ' ' && c != '\n') || (!plain.empty() && plain.back() != ' ')) plain += c == '\n' ? ' ' : c;
  report.text = plain;
  return report;
}

TEST(MeasuredKernels, BeginWithWhatTakesMostOfTheirTime) {
  const auto report = ReportOf(Kernel("copy", "10800", "700.00", "12.00", "91.00") +
                               Kernel("tail", "3", "100.00", "1.00", "2.00"));
  EXPECT_THAT(report.text,
              HasSubstr("2 launches of 2 kernels, measured one by one by Nsight Compute, so that idle "
                        "time is unknown: copy takes 87.5 % of their 800 µs (1 of them); first, move "
                        "fewer bytes in copy"));
  EXPECT_THAT(report.fired, Contains("measured-memory-bound"));
  EXPECT_THAT(report.fired, Contains("measured-small-grid"));
  EXPECT_THAT(report.fired, Not(Contains("measured-latency-bound")));
  EXPECT_THAT(report.fired, Not(Contains("summary-dominant-kernel")));
}

TEST(MeasuredKernels, OfASmallGridMoreWork) {
  const auto report = ReportOf(Kernel("step", "12", "40.00", "3.00", "4.00"));
  EXPECT_THAT(report.text, HasSubstr("step, 40.0 µs; first, give step more work in a launch"));
  EXPECT_THAT(report.text, HasSubstr("its grid has 12 blocks for 108 multiprocessors"));
}

}  // namespace
}  // namespace dladvisor
