// SPDX-License-Identifier: Apache-2.0
// What two views of a profile call by one name is the same in both.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/analysis/analysis.h"
#include "src/analysis/timeline/resource_usage.h"
#include "src/importers/importers.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

TEST(Agreement, LoadingInTheLedgerIsLoadingInTheBreakdown) {
  std::vector<fs::path> files = test::DataFiles("kineto", ".gz");
  if (files.empty()) GTEST_SKIP() << "no traces in " << test::DataDir();
  size_t with_input = 0;
  for (const fs::path& file : files) {
    std::optional<Trace> trace;
    try {
      trace.emplace(ReadProfile(file));
    } catch (const Error&) {
      continue;  // other kinds of files lie among them
    }
    const AnalysedTrace analysed(*trace);
    const auto& timelines = analysed.Get<std::vector<GpuTimeline>>();
    Ns input = 0;
    for (const GpuTimeline& timeline : timelines)
      input += timeline.ledger[static_cast<size_t>(Bucket::kInput)];
    if (timelines.empty() || input == 0) continue;
    ++with_input;
    for (const ResourceUsageRow& row : ComputeResourceUsage(analysed.Get<Context>(), timelines)) {
      if (row.category != "Dataloader" || !row.ns) continue;
      // The mean over GPUs is cut to whole nanoseconds.
      EXPECT_GE((*row.ns + 1) * static_cast<Ns>(timelines.size()), input) << file;
    }
  }
  EXPECT_GT(with_input, 0u);
}

}  // namespace
}  // namespace dladvisor
