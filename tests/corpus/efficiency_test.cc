// SPDX-License-Identifier: Apache-2.0
// Nothing of the corpus runs faster than its GPU can.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "src/analysis/analysis.h"
#include "src/analysis/efficiency/attention_block.h"
#include "src/analysis/efficiency/fusion_candidate.h"
#include "src/analysis/efficiency/op_efficiency.h"
#include "src/importers/importers.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;

std::vector<fs::path> Profiles() {
  std::vector<fs::path> files;
  for (const char* folder : {"kineto", "planted", "pairs", "nsys_sqlite", "dlprof"})
    for (const char* extension : {".gz", ".json", ".sqlite"})
      for (const fs::path& file : test::DataFiles(folder, extension)) files.push_back(file);
  return files;
}

void ExpectShare(const std::optional<double>& share, const std::string& what) {
  if (!share) return;
  EXPECT_GE(*share, 0) << what;
  EXPECT_LE(*share, 1) << what;
}

TEST(Efficiency, NothingExceedsThePeak) {
  const std::vector<fs::path> files = Profiles();
  if (files.empty()) GTEST_SKIP() << "no profiles in " << test::DataDir();
  size_t profiles = 0, operators = 0, with_share = 0, blocks = 0, chains = 0;
  std::map<std::string, size_t> reasons;
  for (const fs::path& file : files) {
    std::optional<Trace> trace;
    try {
      trace.emplace(ReadProfile(file));
    } catch (const Error&) {
      continue;  // other kinds of files lie among them
    }
    const AnalysedTrace analysed(*trace);
    const auto& found = analysed.Get<OpEfficiencies>();
    ++profiles;
    for (const OpEfficiencyRow& row : OpEfficiencyRelation().ToRows(*found.rows)) {
      const std::string what = fmt::format("{}: {} {}", file.filename().string(), row.op, row.shapes);
      ++operators;
      ExpectShare(row.compute_share, what);
      ExpectShare(row.memory_share, what);
      constexpr double kUnknown = std::numeric_limits<double>::infinity();
      EXPECT_LE(row.flops_per_s.value_or(0), row.peak_flops_per_s.value_or(kUnknown)) << what;
      EXPECT_LE(row.bytes_per_s.value_or(0), row.peak_bytes_per_s.value_or(kUnknown)) << what;
      ExpectShare(row.attained_share, what);
      ExpectShare(row.kernel_share, what);
      with_share += row.attained_share.has_value();
      if (row.unknown_reason) ++reasons[std::string(*row.unknown_reason)];
      // What is not known says why.
      EXPECT_NE(row.attained_share.has_value(), row.unknown_reason.has_value()) << what;
      EXPECT_FALSE(row.unknown_reason && row.unknown_reason->starts_with("faster than the peak")) << what;
    }
    const std::string name = file.filename().string();
    for (const auto& share :
         {found.run.known_work_share, found.run.mfu, found.run.hfu, found.run.speed_of_light})
      ExpectShare(share, name);
    EXPECT_LE(found.run.mfu.value_or(0), found.run.hfu.value_or(0) * (1 + 1e-9)) << name;
    const auto& context = analysed.Get<Context>();
    const auto& work = analysed.Get<OperatorWork>();
    const auto& peaks = analysed.Get<std::vector<GpuPeaks>>();
    for (const FusionCandidateRow& row : ComputeFusionCandidates(context, work, peaks)) {
      ++chains;
      EXPECT_LE(row.fused_bytes.value_or(0), row.bytes.value_or(0)) << name << ": " << row.ops;
      EXPECT_GE(row.headroom_ns.value_or(0), 0) << name << ": " << row.ops;
    }
    for (const AttentionBlockRow& row : ComputeAttentionBlocks(context, work, peaks)) {
      ++blocks;
      EXPECT_GE(row.headroom_ns.value_or(0), 0) << name << ": " << row.ops;
    }
  }
  fmt::print("{} profiles, {} operators by shape, {} with a share, {} kinds of chains, {} of attention\n",
             profiles, operators, with_share, chains, blocks);
  for (const auto& [reason, count] : reasons) fmt::print("{:>6} {}\n", count, reason);
}

}  // namespace
}  // namespace dladvisor
