// SPDX-License-Identifier: Apache-2.0
#include "engine/base/cancellation.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "src/importers/importers.h"
#include "src/trace/parallel.h"
#include "tests/importers/large_export.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

struct Allowed {
  ~Allowed() { AllowWork(); }
};

void ExpectItEnds(const fs::path& file) {
  const Allowed after;
  CancelWork();
  EXPECT_THROW(ReadProfile(file), Cancelled);
  AllowWork();
  EXPECT_NO_THROW(ReadProfile(file));
}

TEST(CancelledReading, EndsForEveryFormat) {
  const test::ScratchDir dir;
  ExpectItEnds(test::MakeLargeExport(dir.path() / "with.sqlite", true));
  ExpectItEnds(test::MakeLargeExport(dir.path() / "without.sqlite", false));
  const fs::path trace = dir.path() / "trace.json";
  test::WriteFile(
      trace, R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, )"
             R"("tid": 7, "ts": 10, "dur": 5, "args": {"device": 0, "stream": 7, "correlation": 1}}]})");
  ExpectItEnds(trace);
}

TEST(CancelledReading, BeginsNoMoreParts) {
  const Allowed after;
  std::atomic<int> begun = 0;
  EXPECT_THROW(ParallelFor(10'000,
                           [&](size_t) {
                             ++begun;
                             CancelWork();
                           }),
               Cancelled);
  EXPECT_LE(begun, static_cast<int>(ThreadCount()));
}

}  // namespace
}  // namespace dladvisor
