// SPDX-License-Identifier: Apache-2.0
// The two runs, measured with plain SQL, against the figures on the workshop's slides.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "examples/megatron-gpt/timeline.h"
#include "tests/importers/sqlite_file.h"
#include "tests/support/files.h"

namespace dladvisor::test {
namespace {

using example::MixedRun;
using example::NaiveRun;
using example::Run;
using testing::ElementsAre;

using Rows = std::vector<std::vector<std::string>>;

// One export, and the questions to it.
class Export {
 public:
  explicit Export(const Run& run) {
    const auto path = scratch_.path() / (run.name + ".sqlite");
    example::WriteRun(run, path, example::DefaultNsysSchema());
    db_ = std::make_unique<Sqlite>(path, SQLITE_OPEN_READONLY);
    // Each op call is an outer range; the calls of one thread do not overlap.
    db_->Run(R"(
      CREATE TEMP TABLE op_call AS
        SELECT globalTid AS tid, start, end, replace(rtrim(substr(text, instr(text, '''funcStack'': ''') + 14), '''}'),
               '<module>', 'module') AS path
        FROM NVTX_EVENTS WHERE text LIKE '%funcStack%' ORDER BY globalTid, start;
      CREATE INDEX temp.op_call_start ON op_call (tid, start);
      CREATE TEMP TABLE work AS
        SELECT k.end - k.start AS ns, s.value AS kernel,
               s.value GLOB '*s1688gemm*' OR s.value GLOB '*s16816gemm*' AS tensor,
               s.value GLOB '*gemm*' AS product,
               (SELECT c.path FROM op_call c WHERE c.tid = r.globalTid AND c.start <= r.start AND c.end >= r.end
                ORDER BY c.start DESC LIMIT 1) AS path
        FROM CUPTI_ACTIVITY_KIND_KERNEL k
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = k.correlationId
        JOIN StringIds s ON s.id = k.demangledName;
      CREATE TEMP TABLE op AS
        SELECT path, sum(ns) AS ns, sum(ns * tensor) AS tensor_ns,
               max(product) OR path GLOB '*/linear' OR path GLOB '*mm' OR path GLOB '*mm(2)' AS eligible
        FROM work GROUP BY path;)");
  }

  Rows Query(const std::string& sql) { return db_->Query(sql); }
  std::string Value(const std::string& sql) { return db_->Query(sql).at(0).at(0); }
  double Number(const std::string& sql) { return std::stod(Value(sql)); }

  // From the first event to the last.
  int64_t WallNs() {
    return std::stoll(Value(R"(SELECT max(end) - min(start) FROM (
      SELECT start, end FROM NVTX_EVENTS UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_RUNTIME UNION ALL
      SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, end FROM CUPTI_ACTIVITY_KIND_MEMCPY))"));
  }

  // The union of all kernels' times.
  int64_t BusyNs() {
    int64_t busy = 0, until = 0;
    for (const auto& row : Query("SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")) {
      const int64_t start = std::max<int64_t>(until, std::stoll(row[0])), end = std::stoll(row[1]);
      if (end > start) busy += end - start;
      until = std::max(until, end);
    }
    return busy;
  }

  // As DLProf's table: GPU time, op, calls, TC eligible, using TC.
  Rows TopOps() {
    return Query(R"(SELECT ns, path, (SELECT count(*) FROM op_call c WHERE c.path = op.path),
      CASE WHEN eligible THEN 'yes' ELSE 'no' END, CASE WHEN tensor_ns > 0 THEN 'yes' ELSE 'no' END
      FROM op ORDER BY ns DESC LIMIT 10)");
  }

  // Most device memory in use at one time, in whole percent of what there is.
  int64_t PeakPercent() {
    int64_t now = 0, peak = 0;
    for (const auto& row : Query("SELECT bytes * iif(memoryOperationType = 0, 1, -1) FROM "
                                 "CUDA_GPU_MEMORY_USAGE_EVENTS ORDER BY start"))
      peak = std::max(peak, now += std::stoll(row[0]));
    return peak * 100 / std::stoll(Value("SELECT totalMemory FROM TARGET_INFO_GPU"));
  }

 private:
  ScratchDir scratch_;
  std::unique_ptr<Sqlite> db_;
};

std::string Percent(double ratio) { return fmt::format("{:.1f}", 100 * ratio); }
std::string Minutes(int64_t ns) { return fmt::format("{:.2f}", static_cast<double>(ns) / 60e9); }
double Ratio(int64_t part, int64_t whole) { return static_cast<double>(part) / static_cast<double>(whole); }

class MegatronGpt : public testing::Test {
 protected:
  static Export& Naive() {
    static Export naive(NaiveRun());
    return naive;
  }
  static Export& Mixed() {
    static Export mixed(MixedRun());
    return mixed;
  }
  static std::string Efficiency(Export& run) {
    return Percent(run.Number("SELECT 1.0 * sum(tensor_ns) / sum(ns) FROM op WHERE eligible"));
  }
};

TEST_F(MegatronGpt, NaiveSummaryIsTheSlides) {
  EXPECT_EQ(Minutes(Naive().WallNs()), "1.64");
  EXPECT_EQ(Percent(Ratio(Naive().BusyNs(), Naive().WallNs())), "28.1");
  EXPECT_EQ(Efficiency(Naive()), "42.5");
}

TEST_F(MegatronGpt, MixedSummaryIsTheSlides) {
  EXPECT_EQ(Minutes(Mixed().WallNs()), "2.17");
  EXPECT_EQ(Percent(Ratio(Mixed().BusyNs(), Mixed().WallNs())), "16.7");
  EXPECT_EQ(Efficiency(Mixed()), "69.2");
}

TEST_F(MegatronGpt, NaiveTopOpsAreTheSlides) {
  const std::string step = "/module/pretrain/train/train_step";
  const std::string reduce = step + "/DistributedDataParallel::allreduce_gradients";
  const std::string optimizer = step + "/no_grad::decorate_context/FP32Optimizer::step";
  const std::string recompute =
      "/_VocabParallelCrossEntropyBackward::apply/backward/ParallelTransformer::custom_forward/"
      "ParallelTransformerLayer::_call_impl/ParallelTransformerLayer::forward/ParallelMLP::_call_impl(2)/"
      "ParallelMLP::forward";
  const Rows expected = {
      {"3073524010", optimizer + "/wrapper/step", "100", "no", "no"},
      {"2121781520", "/module/pretrain/save_checkpoint/save", "1", "no", "no"},
      {"2113616610", "/module/pretrain/train/save_checkpoint_and_time/save_checkpoint/save", "1", "no", "no"},
      {"1613730568",
       step + "/forward_backward_no_pipelining/forward_step/DistributedDataParallel::_call_impl/"
              "DistributedDataParallel::forward/GPTModel::_call_impl/GPTModel::forward/"
              "TransformerLanguageModel::_call_impl/TransformerLanguageModel::forward/"
              "ParallelTransformer::_call_impl(2)/ParallelTransformer::forward/"
              "ParallelTransformer::_checkpointed_forward/checkpoint/forward/"
              "ParallelTransformer::custom_forward/"
              "ParallelTransformerLayer::_call_impl/ParallelTransformerLayer::forward/"
              "ParallelMLP::_call_impl(2)/ParallelMLP::forward/ColumnParallelLinear::_call_impl/"
              "ColumnParallelLinear::forward/linear",
       "2400", "yes", "no"},
      {"1611664207", recompute + "/ColumnParallelLinear::_call_impl/ColumnParallelLinear::forward/linear",
       "2400", "yes", "no"},
      {"941545051", reduce + "/copy_", "29200", "no", "no"},
      {"886010843", recompute + "/RowParallelLinear::_call_impl(2)/RowParallelLinear::forward/linear", "1529",
       "yes", "yes"},
      {"882259289",
       optimizer + "/FP32Optimizer::clip_grad_norm/clip_grad_norm_fp32/MultiTensorApply::_call__(2)/"
                   "multi_tensor_scale",
       "100", "no", "no"},
      {"871612799", reduce + "/_flatten_dense_tensors/cat", "100", "no", "no"},
      {"856341817", reduce + "/_itruediv__", "100", "no", "no"},
  };
  EXPECT_THAT(Naive().TopOps(), testing::ElementsAreArray(expected));
}

TEST_F(MegatronGpt, MixedTopOpsAreTheSlides) {
  const std::string optimizer =
      "/module/pretrain/train/train_step/no_grad::decorate_context/Float16OptimizerWithFloat16Params::step";
  const std::string recompute =
      "/_VocabParallelCrossEntropyBackward::apply/backward/ParallelTransformer::custom_forward/"
      "ParallelTransformerLayer::_call_impl/ParallelTransformerLayer::forward";
  const Rows expected = {
      {"2492911136", optimizer + "/wrapper/step", "81", "no", "no"},
      {"2182500795", "/module/pretrain/train/save_checkpoint_and_time/save_checkpoint/save", "1", "no", "no"},
      {"2052579284", "/module/pretrain/save_checkpoint/save", "1", "no", "no"},
      {"1317276697",
       "/Thread::_bootstrap/Thread::_bootstrap_inner/Thread::run_pin_memory_loop/pin_memory/dictcomp/"
       "pin_memory/pin_memory",
       "40", "yes", "yes"},
      {"788590231", optimizer + "/Float16OptimizerWithFloat16Params::_copy_model_grads_to_main_grads/float",
       "29200", "no", "no"},
      {"715347840",
       optimizer + "/Float16OptimizerWithFloat16Params::clip_grad_norm/clip_grad_norm_fn/p32/"
                   "MultiTensorApply::_call__(2)/multi_tensor_scale",
       "81", "no", "no"},
      {"673714167",
       recompute +
           "/ParallelAttention::_call_impl/ParallelAttention::forward/ColumnParallelLinear::_call_impl/"
           "ColumnParallelLinear::forward/linear",
       "2015", "yes", "yes"},
      {"617281886",
       optimizer + "/Float16OptimizerWithFloat16Params::_copy_main_params_to_model_params/"
                   "_multi_tensor_copy_this_to_that/copy_",
       "23652", "no", "no"},
      {"582065750",
       recompute + "/ParallelMLP::_call_impl(2)/ParallelMLP::forward/ColumnParallelLinear::_call_impl/"
                   "ColumnParallelLinear::forward/linear",
       "1616", "yes", "yes"},
      {"573974613",
       recompute + "/ParallelMLP::_call_impl(2)/ParallelMLP::forward/RowParallelLinear::_call_impl(2)/"
                   "RowParallelLinear::forward/linear",
       "1720", "yes", "yes"},
  };
  EXPECT_THAT(Mixed().TopOps(), testing::ElementsAreArray(expected));
}

TEST_F(MegatronGpt, OnlyTheNaiveRunIsWithoutHalfPrecision) {
  const std::string half_kernels =
      "SELECT count(*) FROM work WHERE kernel LIKE '%half%' OR kernel LIKE '%fp16%' OR kernel LIKE '%bf16%'";
  const std::string half_markers = "SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE '%float16''%'";
  EXPECT_EQ(Naive().Value("SELECT count(*) FROM op WHERE eligible"), "61");
  EXPECT_EQ(Naive().Value(half_kernels), "0");
  EXPECT_EQ(Naive().Value(half_markers), "0");
  EXPECT_NE(Mixed().Value(half_kernels), "0");
  EXPECT_NE(Mixed().Value(half_markers), "0");
}

TEST_F(MegatronGpt, MemoryUseIsTheSlides) {
  EXPECT_EQ(Naive().PeakPercent(), 38);
  EXPECT_EQ(Mixed().PeakPercent(), 41);
}

TEST_F(MegatronGpt, RecordFunctionWasLeftOn) {
  const std::string calls =
      "SELECT count(*) FROM NVTX_EVENTS WHERE text LIKE '%''op'': ''record_function''%'";
  EXPECT_EQ(Naive().Value(calls), "100");
  EXPECT_EQ(Mixed().Value(calls), "81");
}

TEST_F(MegatronGpt, NoRangeIsANumberedStep) {
  const RE2 numbered("(?i)(^|[^a-z])(step|iter|iteration|batch|epoch)[ _#:]*[0-9]");
  for (Export* run : {&Naive(), &Mixed()})
    for (const auto& row : run->Query("SELECT DISTINCT text FROM NVTX_EVENTS"))
      EXPECT_FALSE(RE2::PartialMatch(row[0], numbered)) << row[0];
}

// Steps that repeat would make the sequence of kernels resemble itself, shifted by about a step.
TEST_F(MegatronGpt, KernelsDoNotRepeat) {
  for (Export* run : {&Naive(), &Mixed()}) {
    std::vector<int> names;
    for (const auto& row : run->Query("SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start"))
      names.push_back(std::stoi(row[0]));
    const size_t step = names.size() / 100;
    size_t most = 0;
    for (size_t shift = step / 2; shift <= 3 * step / 2; ++shift) {
      size_t same = 0;
      for (size_t i = 0; i + shift < names.size(); ++i) same += names[i] == names[i + shift];
      most = std::max(most, same);
    }
    EXPECT_LT(most, names.size() * 7 / 10);
  }
}

TEST_F(MegatronGpt, SystemIsTheSlides) {
  for (Export* run : {&Naive(), &Mixed()}) {
    EXPECT_THAT(
        run->Query("SELECT gpuCount, driverVersion, cudaVersion, framework, cpuModel FROM SystemInfo"),
        ElementsAre(ElementsAre("1", "460.73.01", "11.2", "PyTorch 1.9.0a0+df837d0",
                                "AMD Ryzen Threadripper 3970X 32-Core Processor")));
    EXPECT_THAT(run->Query("SELECT name FROM TARGET_INFO_GPU"), ElementsAre(ElementsAre("RTX A6000")));
  }
  EXPECT_EQ(NaiveRun().name, "gpt3_750m_naive");
  EXPECT_EQ(MixedRun().name, "gpt3_750m_second_run");
}

TEST_F(MegatronGpt, TimeIsPlausible) {
  for (Export* run : {&Naive(), &Mixed()}) {
    // Every kernel was launched from within an op, and runs after its launch.
    EXPECT_EQ(run->Value("SELECT count(*) FROM work WHERE path IS NULL"), "0");
    EXPECT_EQ(run->Value("SELECT count(*) FROM work"),
              run->Value("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    EXPECT_EQ(
        run->Value("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON "
                   "r.correlationId = k.correlationId WHERE k.start < r.start OR k.end <= k.start"),
        "0");
    // One stream: kernels and copies follow one another.
    EXPECT_EQ(
        run->Value("SELECT count(*) FROM (SELECT start, lag(end) OVER (ORDER BY start) AS before FROM "
                   "(SELECT start, end FROM CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT start, end FROM "
                   "CUPTI_ACTIVITY_KIND_MEMCPY)) WHERE before > start"),
        "0");
  }
}

TEST_F(MegatronGpt, SameRunGivesSameBytes) {
  const ScratchDir scratch;
  const auto first = scratch.path() / "first.sqlite", second = scratch.path() / "second.sqlite";
  example::WriteRun(NaiveRun(), first, example::DefaultNsysSchema());
  example::WriteRun(NaiveRun(), second, example::DefaultNsysSchema());
  EXPECT_TRUE(ReadFile(first) == ReadFile(second));
  EXPECT_LT(std::filesystem::file_size(first), 100U << 20);
}

}  // namespace
}  // namespace dladvisor::test
