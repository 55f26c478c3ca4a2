// SPDX-License-Identifier: Apache-2.0
// What must not stay unsaid, over all profiles of the corpus: a large part of the time without computing has
// a finding that is about it, and a kernel that takes most of the time is named or has one on computing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {

constexpr std::string_view kLargeLosses =
    "SELECT DISTINCT bucket FROM time_ledger WHERE share > 0.4 AND bucket NOT LIKE 'compute/%'";
constexpr std::string_view kMainKernels =
    "SELECT DISTINCT k.short_name FROM kernel_name AS k JOIN gpu AS g ON g.rank = k.rank AND g.device = "
    "k.device "
    "WHERE NOT k.communication AND k.window_share * g.gpu_utilization > 0.5";

// Say why no figure of the profile is to be judged, or that its time is start-up.
constexpr std::array kSettles = std::to_array<std::string_view>(
    {"one-shot-program", "no-gpu-work", "graph-capture-profiled", "graphs-hide-kernels", "collectives-only",
     "kernels-not-recorded", "upload-profiled", "counters-profiled"});
// Tell a loss that they claim nothing of, beside the bucket that it is.
constexpr std::array kWithoutClaim =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"allocation-in-step", "idle/allocation"},
                                                                  {"slow-collectives", "communication/"},
                                                                  {"host-collectives", "communication/"},
                                                                  {"profiler-overhead", "idle/profiler"},
                                                                  {"gpu-underutilized", "idle/"}});

struct Said {
  Advice advice;
  ResultSet losses, kernels;
};

std::optional<Said> SaidOf(const std::string& path) {
  static const KnowledgeBase rules = LoadRules({}, {});
  try {
    Alone alone;
    const Profile profile = LoadProfiles({path}, {}, alone);
    Database database = profile.OpenDatabase();
    Said said{Infer(rules, database), database.Query(std::string(kLargeLosses)),
              database.Query(std::string(kMainKernels))};
    return said;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool Fired(const Finding& finding) { return finding.outcome == Outcome::kFired; }

bool IsAbout(const Finding& finding, std::string_view bucket) {
  if (!Fired(finding)) return false;
  if (finding.saves && (bucket == finding.saves->bucket || bucket.starts_with(finding.saves->bucket + "/")))
    return true;
  return std::ranges::any_of(kWithoutClaim, [&](const auto& known) {
    return known.first == finding.rule && bucket.starts_with(known.second);
  });
}

bool IsOnKernel(const Finding& finding, const std::string& kernel) {
  if (!Fired(finding)) return false;
  return (finding.saves && finding.saves->bucket.starts_with("compute")) ||
         finding.rule == "compute-at-limit" || finding.problem.text.find(kernel) != std::string::npos;
}

TEST(Headroom, HasAFindingWhereItIsLarge) {
  if (!std::filesystem::exists(test::DataDir())) GTEST_SKIP() << "no profiles";
  size_t losses = 0, kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::DataDir())) {
    if (!entry.is_regular_file() || entry.file_size() > 8'000'000) continue;
    const auto said = SaidOf(entry.path().string());
    if (!said) continue;
    const std::vector<Finding>& findings = said->advice.findings;
    if (std::ranges::any_of(findings, [](const Finding& f) {
          return Fired(f) && std::ranges::find(kSettles, f.rule) != kSettles.end();
        }))
      continue;
    for (const auto& row : said->losses.rows) {
      const std::string bucket = std::get<std::string>(row[0]);
      ++losses;
      EXPECT_TRUE(std::ranges::any_of(findings, [&](const Finding& f) { return IsAbout(f, bucket); }))
          << entry.path() << ": nothing is about " << bucket;
    }
    for (const auto& row : said->kernels.rows) {
      const std::string kernel = std::get<std::string>(row[0]);
      ++kernels;
      EXPECT_TRUE(std::ranges::any_of(findings, [&](const Finding& f) { return IsOnKernel(f, kernel); }))
          << entry.path() << ": nothing is about " << kernel;
    }
  }
  EXPECT_GT(losses, 30u);
  EXPECT_GT(kernels, 15u);
}

}  // namespace
}  // namespace dladvisor
