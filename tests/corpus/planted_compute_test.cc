// SPDX-License-Identifier: Apache-2.0
// Traces in which the authors of TraceLens planted one compute problem each: it is named by the rule that
// says its cause, and is not where the same trace records work that its time suits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/inference/inference.h"
#include "src/cli/session.h"
#include "src/hardware/table/built_in_hardware.h"
#include "tests/support/files.h"

namespace dladvisor {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

struct PlantedCase {
  std::string file;   // part of its name
  std::string rule;   // that names it
  std::string cause;  // among its words
  // The twin: operators with other dimensions, or events and kernels by another name, or the same work in a
  // part of the time, as the GPU can do it.
  std::map<std::string, std::string> dims, names;
  double times_faster = 1;
};

const std::vector<PlantedCase>& Cases() {
  static const std::vector<PlantedCase> cases = {
      {"gemm_01_compute_few_tiles",
       "few-output-tiles",
       "8 tiles of 128 x 128",
       {{"aten::mm", "[[8192, 8192], [8192, 8192]]"}},
       {}},
      {"gemm_02_compute_non_pow2",
       "matmul-dims-unaligned",
       "do not begin at multiples of 16 bytes",
       {{"aten::mm", "[[1024, 8192], [8192, 1024]]"}},
       {}},
      {"gemm_03_compute_misaligned",
       "matmul-dims-unaligned",
       "do not begin at multiples of 16 bytes",
       {{"aten::mm", "[[4096, 4096], [4096, 4096]]"}},
       {}},
      {"sdpa_02_very_long_seq_head_waste",
       "slow-attention",
       "head sizes are others than 64, 96 and 128",
       {{"aten::_flash_attention_forward",
         "[[1, 98304, 8, 192], [1, 98304, 8, 192], [1, 98304, 8, 192], [], [], [], [], [], [], [], [], [], "
         "[], "
         "[], []]"}},
       {}},
      {"sdpa_03_short_seq_overhead",
       "slow-attention",
       "so few queries or keys a call",
       {{"aten::_flash_attention_forward",
         "[[96, 128, 32, 128], [96, 128, 32, 128], [96, 128, 32, 128], [], [], [], [], [], [], [], [], [], "
         "[], "
         "[], []]"}},
       {}},
      {"sdpa_04_large_head_dim",
       "slow-attention",
       "head sizes are others than 64, 96 and 128",
       {{"aten::_flash_attention_forward",
         "[[1, 9728, 32, 256], [1, 9728, 32, 256], [1, 9728, 32, 256], [], [], [], [], [], [], [], [], [], "
         "[], "
         "[], []]"}},
       {}},
      {"conv_02_small_spatial_many_ch",
       "few-output-tiles",
       "16 tiles of 128 x 128",
       {{"aten::convolution", "[[64, 2048, 32, 32], [2048, 2048, 3, 3]]"}},
       {}},
      {"conv_04_depthwise",
       "memory-bound-convolutions",
       "2.2 operations a byte",
       {{"aten::convolution", "[[64, 1024, 32, 32], [1024, 1, 3, 3]]"}},
       {}},
      {"moe_01_many_experts_few_tokens",
       "few-tokens-per-expert",
       "for 0.5 tokens each",
       {{"vllm::rocm_aiter_fused_moe", "[[4096, 4096], [64, 22016, 4096], [64, 4096, 11008], [4096, 2]]"}},
       {}},
      {"elem_01_add_poor_bw",
       "slow-memory-bound-operators",
       "element-wise above all",
       {{"aten::add", "[[8192, 16384], [8192, 16384], []]"}},
       {}},
      {"test02_attention_both_unfused__trace1",
       "unfused-attention",
       "Softmax kernels take",
       {},
       {{"aten::softmax", "aten::relu"},
        {"softmax_warp_forward<float, float, float, 4, true>", "vectorized_elementwise_kernel"}}},
      {"test02_attention_both_unfused__trace2",
       "unfused-attention",
       "Softmax kernels take",
       {},
       {{"aten::softmax", "aten::relu"},
        {"softmax_warp_forward<float, float, float, 4, true>", "vectorized_elementwise_kernel"}}},
      {"test04_gemm_mm_vs_linear__trace1",
       "slow-matrix-products",
       "of what is attainable on this GPU",
       {},
       {},
       20},
      {"test06_conv_gap_exceeds_roofline__trace1",
       "slow-convolutions",
       "of what is attainable on this GPU",
       {},
       {},
       30},
  };
  return cases;
}

std::vector<fs::path> FilesOf(const PlantedCase& of) {
  std::vector<fs::path> files;
  for (const char* extension : {".json", ".gz"})
    for (const fs::path& file : test::DataFiles("planted", extension)) {
      const std::string name = file.filename().string();
      if (name.find(of.file) != std::string::npos && name.find("analysis_output_ref") == std::string::npos)
        files.push_back(file);
    }
  return files;
}

struct Judged {
  std::map<std::string, std::string> found;  // problems by rule, of those that fire
  double known_work = 0;                     // share of the kernel time
  double least_attained = 1;                 // of what the GPU can do, where that is known
};

Judged Judge(const fs::path& file) {
  static const KnowledgeBase knowledge = LoadRules({}, {});
  const Profile profile = LoadProfile(file, {});
  Database database = profile.OpenDatabase();
  Judged judged;
  for (const Finding& finding : Infer(knowledge, database).findings)
    if (finding.outcome == Outcome::kFired) judged.found[finding.rule] += finding.problem;
  const auto figures =
      database.Query("SELECT known_work_share, (SELECT min(attained_share) FROM op_efficiency) FROM run");
  judged.known_work = AsNumber(figures.rows.at(0).at(0)).value_or(0);
  judged.least_attained = AsNumber(figures.rows.at(0).at(1)).value_or(1);
  return judged;
}

Json ReadTrace(const fs::path& file) {
  if (file.extension() != ".gz") return Json::parse(test::ReadFile(file));
  return Json::parse(test::Run("gzip -dc '" + file.string() + "'").out);
}

// Writes the trace with what the case replaces, and returns how many events that were.
size_t WriteTwin(const PlantedCase& of, const fs::path& file, const fs::path& twin) {
  Json trace = ReadTrace(file);
  size_t replaced = 0;
  for (Json& event : trace["traceEvents"]) {
    const std::string name = event.value("name", "");
    if (const auto dims = of.dims.find(name); dims != of.dims.end() && event["args"].contains("Input Dims")) {
      event["args"]["Input Dims"] = Json::parse(dims->second);
      event["args"].erase("Input Strides");
      ++replaced;
    }
    if (const auto other = of.names.find(name); other != of.names.end()) {
      event["name"] = other->second;
      ++replaced;
    }
    if (of.times_faster > 1 && event.value("cat", "") == "kernel") {
      event["dur"] = event["dur"].get<double>() / of.times_faster;
      ++replaced;
    }
  }
  test::WriteFile(twin, trace.dump());
  return replaced;
}

TEST(PlantedCompute, IsNamedWithItsCauseAndItsTwinIsNot) {
  size_t files = 0;
  for (const PlantedCase& of : Cases()) {
    const std::vector<fs::path> paths = FilesOf(of);
    if (paths.empty()) fmt::print("skipped, as it is not in {}: {}\n", test::DataDir().string(), of.file);
    for (const fs::path& path : paths) {
      SCOPED_TRACE(path.filename().string());
      ++files;
      const auto found = Judge(path).found;
      EXPECT_TRUE(found.contains(of.rule));
      if (!found.contains(of.rule)) continue;
      EXPECT_NE(found.at(of.rule).find(of.cause), std::string::npos) << found.at(of.rule);
      const test::ScratchDir folder;
      const fs::path twin = folder.path() / "twin.json";
      ASSERT_GT(WriteTwin(of, path, twin), 0u);
      const Judged left = Judge(twin);
      EXPECT_FALSE(left.found.contains(of.rule)) << left.found.at(of.rule);
      if (!of.names.empty()) continue;
      EXPECT_GT(left.known_work, 0.5);
      EXPECT_GT(left.least_attained, 0.5);
    }
  }
  if (files == 0) GTEST_SKIP() << "no planted traces in " << test::DataDir();
}

double AchievableOfMi300x() {
  const GpuModel* model = FindModel(
      BuiltInHardware(), {.name = "AMD Instinct MI300X", .multiprocessors = {}, .memory_bytes = {}});
  return FindRate(model->achievable, Precision::kBf16, ComputeUnit::kMatrix).value();
}

// A mixture of experts with 1,024 rows for each computes at more than others have measured as achievable on
// an MI300X, for which its kernel was made: the trace names no GPU, and nothing is wrong with it. The
// analysis that the trace's authors keep beside it recommends nothing either.
TEST(PlantedCompute, FindsNoFaultWithExpertsThatAreFull) {
  for (const fs::path& reference : test::DataFiles("planted", ".json")) {
    const std::string name = reference.filename().string();
    if (name.find("moe_05_large_capacity_analysis_output__analysis_output_ref") == std::string::npos)
      continue;
    EXPECT_TRUE(Json::parse(test::ReadFile(reference)).at("recommendations").empty());
  }
  const PlantedCase full{"moe_05_large_capacity", "", "", {}, {}};
  const std::vector<fs::path> paths = FilesOf(full);
  if (paths.empty()) GTEST_SKIP() << "no planted traces in " << test::DataDir();
  for (const fs::path& path : paths) {
    const auto found = Judge(path).found;
    for (const char* rule : {"few-tokens-per-expert", "few-output-tiles", "slow-matrix-products"})
      EXPECT_FALSE(found.contains(rule)) << path.filename() << ": " << rule;
    const Profile profile = LoadProfile(path, {});
    const auto rate = profile.OpenDatabase().Query("SELECT flops_per_s, expert_rows FROM op_efficiency");
    EXPECT_GT(AsNumber(rate.rows.at(0).at(0)).value_or(0), AchievableOfMi300x());
    EXPECT_EQ(AsNumber(rate.rows.at(0).at(1)).value_or(0), 1024);
  }
}

}  // namespace
}  // namespace dladvisor
