// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/training_log.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/analysis/summary/run.h"
#include "src/analysis/training/benchmark_result.h"
#include "src/analysis/training/generation_test.h"
#include "src/analysis/training/training.h"
#include "src/analysis/training/training_memory.h"
#include "src/analysis/training/training_repeats.h"
#include "src/analysis/training/training_setting.h"
#include "src/analysis/training/training_timer.h"
#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

// Lines of ten iterations each, of `ms` each.
void Add(TraceBuilder& b, const std::vector<double>& ms, int64_t attempt = 0) {
  TrainingLog& log = b.trace.training_log;
  log.program = "Megatron-LM";
  for (size_t i = 0; i < ms.size(); ++i) {
    TrainingIteration& row = log.iterations.emplace_back();
    row.attempt = attempt;
    row.iteration = static_cast<int64_t>(i + 1) * 10;
    row.covers = 10;
    row.elapsed_ns = ms[i] * 1e6;
    row.global_batch = 4;
  }
}

std::vector<TrainingLogRow> Rows(TraceBuilder& b) { return ComputeTrainingLog(test::ContextOf(b.trace)); }

// What is slower from one line on for long is another pace: of these lines those alone are slow that are
// above it.
TEST(TrainingLog, LinesOfAnotherPaceAreNotSlow) {
  std::vector<double> ms;
  for (int i = 0; i < 400; ++i) ms.push_back((i < 260 ? 100 : 109) + i % 3 * 0.3 + (i % 90 == 50 ? 80 : 0));
  TraceBuilder b;
  Add(b, ms);
  const std::vector<TrainingLogRow> rows = Rows(b);
  EXPECT_EQ(std::ranges::count_if(rows, [](const TrainingLogRow& row) { return row.slow == true; }), 4);
  EXPECT_TRUE(*rows[320].slow);
  EXPECT_NEAR(*rows[320].excess_ns, 80e6, 1e6);
  // For a tenth of them and less they are slow lines.
  for (size_t i = 0; i < ms.size(); ++i)
    ms[i] = (i < 200 || i >= 235 ? 100 : 109) + static_cast<double>(i % 3) * 0.3;
  TraceBuilder few;
  Add(few, ms);
  const std::vector<TrainingLogRow> others = Rows(few);
  EXPECT_EQ(std::ranges::count_if(others, [](const TrainingLogRow& row) { return row.slow == true; }), 35);
}

TEST(TrainingLog, TimeSinceTheLastCheckpointAndTheAccelerator) {
  TraceBuilder b;
  Add(b, {100, 100, 100, 100});
  const auto training = [&] { return ComputeTrainings(test::ContextOf(b.trace), Rows(b)).front(); };
  EXPECT_FALSE(training().since_checkpoint_ns);
  EXPECT_FALSE(training().accelerator);
  b.trace.training_log.events = {{1, TrainingEventKind::kCheckpoint, {}},
                                 {2, TrainingEventKind::kEvaluation, {}}};
  EXPECT_DOUBLE_EQ(*training().since_checkpoint_ns, 3 * 10 * 100e6);
  for (const auto& [device, accelerator] : {std::pair{"gpu", ""}, {"cpu", ""}, {"NPU", "NPU"}}) {
    b.trace.training_log.settings["device"] = device;
    EXPECT_EQ(training().accelerator.value_or(""), accelerator);
  }
}

TEST(TrainingLog, IterationsThatAreDoneTwiceAfterAStop) {
  const auto lines = [](int64_t first, int64_t last, int64_t attempt, std::vector<TrainingLogRow> log = {}) {
    for (int64_t iteration = first; iteration <= last; iteration += 10) {
      TrainingLogRow& row = log.emplace_back();
      row.attempt = attempt;
      row.iteration = iteration;
      row.covers = 10;
    }
    return log;
  };
  EXPECT_EQ(RepeatedIterations(lines(10, 200, 0)), 0);
  EXPECT_EQ(RepeatedIterations(lines(160, 400, 1, lines(10, 200, 0))), 50);
  EXPECT_EQ(RepeatedIterations(lines(210, 400, 1, lines(10, 200, 0))), 0) << "from where it had stopped";
  EXPECT_EQ(RepeatedIterations(lines(10, 400, 1, lines(10, 200, 0))), 0) << "it began anew";
  EXPECT_EQ(RepeatedIterations(lines(20, 200, 1, lines(10, 200, 0))), 0) << "two processes print";
}

// Whole seconds of epochs of twelve.
TEST(TrainingLog, WhatDiffersByRoundingIsNotSlow) {
  TraceBuilder b;
  Add(b, {120, 120, 120, 130, 120, 120, 130, 120, 120, 120, 150, 120, 120});
  const auto rows = Rows(b);
  EXPECT_EQ(rows[3].slow, false);
  EXPECT_EQ(rows[6].slow, false);
  EXPECT_EQ(rows[10].slow, true);
}

TEST(TrainingLog, APhaseThatIsSlowForLongIsNoWarmup) {
  TraceBuilder b;
  std::vector<double> times(30, 1000);
  times.resize(130, 100);
  for (size_t i = 30; i < times.size(); i += 3) times[i] = 101;
  Add(b, times);
  const auto rows = Rows(b);
  EXPECT_TRUE(rows[0].warmup);
  EXPECT_FALSE(rows[1].warmup);
  EXPECT_EQ(rows[1].slow, true);
}

TEST(TrainingLog, SlowLinesAndWarmup) {
  TraceBuilder b;
  Add(b, {300, 200, 100, 101, 102, 100, 99, 100, 160, 100, 104});
  const auto rows = Rows(b);
  EXPECT_TRUE(rows[0].warmup);
  EXPECT_TRUE(rows[1].warmup) << "slow right after the first";
  EXPECT_FALSE(rows[2].warmup);
  EXPECT_EQ(rows[0].cause, "start");
  EXPECT_EQ(rows[8].slow, true);
  EXPECT_FALSE(rows[8].warmup);
  EXPECT_EQ(rows[8].cause, "unexplained");
  EXPECT_DOUBLE_EQ(*rows[8].excess_ns, 59e6);
  EXPECT_EQ(rows[10].slow, false) << "less than a twentieth over the median";
  EXPECT_FALSE(rows[10].cause);
  EXPECT_DOUBLE_EQ(*rows[3].samples_per_second, 4 / 0.101);
}

TEST(TrainingLog, SlowLinesThatComeAtAnIntervalAreToldApart) {
  std::vector<double> ms(100, 100), once(100, 100);
  for (size_t i = 24; i < 100; i += 25) ms[i] = 900;
  for (const size_t i : {17u, 40u, 41u, 90u}) once[i] = 900;
  TraceBuilder regular, other;
  Add(regular, ms);
  Add(other, once);
  EXPECT_EQ(Rows(regular)[49].cause, "regular interval");
  EXPECT_EQ(Rows(regular)[24].cause, "regular interval");
  EXPECT_EQ(Rows(other)[40].cause, "unexplained");
  // A line that claims more iterations than fit five times into a number.
  for (TrainingIteration& row : regular.trace.training_log.iterations) row.covers = 3'689'348'814'741'910'323;
  EXPECT_EQ(Rows(regular)[49].cause, "unexplained");
}

TEST(TrainingLog, FewLinesAreNotJudged) {
  TraceBuilder b;
  Add(b, {100, 100, 500});
  EXPECT_FALSE(Rows(b)[2].slow);
  EXPECT_TRUE(Rows(b)[0].warmup);
  TraceBuilder two;
  Add(two, {100, 100});
  EXPECT_FALSE(Rows(two)[0].warmup);
}

TEST(TrainingLog, OtherBatchesAndAttemptsDoNotCompare) {
  TraceBuilder b;
  Add(b, std::vector<double>(9, 100));
  Add(b, std::vector<double>(9, 300), 1);
  for (size_t i = 12; i < 18; ++i) b.trace.training_log.iterations[i].global_batch = 8;
  for (const TrainingLogRow& row : Rows(b)) EXPECT_NE(row.slow, true);
}

TEST(TrainingLog, CausesOfSlowLines) {
  TraceBuilder b;
  Add(b, {100, 100, 100, 100, 150, 160, 170, 180, 100, 100, 100, 100});
  TrainingLog& log = b.trace.training_log;
  for (size_t i = 0; i < 12; ++i) {
    log.timers.push_back({i, "forward-backward", {}, i == 6 ? 150e6 : 80e6, {}, {}});
    log.timers.push_back({i, "batch-generator", {}, i == 4 ? 45e6 : 5e6, {}, {}});
    log.timers.push_back({i, "forward-recv", {}, {}, 1e6, i == 5 ? 60e6 : 5e6});
  }
  log.events.push_back({7, TrainingEventKind::kEvaluation, {}});
  const auto rows = Rows(b);
  EXPECT_EQ(rows[4].cause, "input");
  EXPECT_EQ(rows[4].grown_timer, "batch-generator");
  EXPECT_EQ(rows[5].cause, "communication") << "of all ranks the most counts";
  EXPECT_EQ(rows[6].cause, "compute");
  EXPECT_EQ(rows[6].grown_timer, "forward-backward");
  EXPECT_EQ(rows[7].cause, "evaluation");
  EXPECT_FALSE(rows[8].cause);
}

// A timer that few lines have takes no time in the others.
TEST(TrainingLog, ATimerOfItsOwnExplainsALine) {
  const auto cause = [](const char* timer) {
    TraceBuilder b;
    Add(b, {100, 100, 100, 100, 100, 100, 400, 100, 100, 100});
    b.trace.training_log.timers.push_back({6, timer, {}, 290e6, {}, {}});
    return Rows(b)[6].cause;
  };
  EXPECT_EQ(cause("save_checkpoint"), "checkpoint");
  EXPECT_EQ(cause("testing"), "evaluation");
  EXPECT_EQ(cause("update_weights"), "compute");
}

// A trainer that saves its best model evaluates before.
TEST(TrainingLog, OfTwoEventsTheOneThatTakesAsLong) {
  for (const double evaluation_ms : {0.0, 100.0, 900.0}) {
    TraceBuilder b;
    Add(b, {100, 100, 100, 100, 200, 100, 100, 100, 100, 100, 100, 100});
    TrainingLog& log = b.trace.training_log;
    log.events.push_back({4, TrainingEventKind::kCheckpoint, {}});
    log.events.push_back({4, TrainingEventKind::kEvaluation, {}});
    if (evaluation_ms > 0) log.evaluations = 1;
    log.evaluation_ns = evaluation_ms * 1e6;
    EXPECT_EQ(Rows(b)[4].cause, evaluation_ms > 500 ? "evaluation"
                                : evaluation_ms > 0 ? "checkpoint"
                                                    : "evaluation and checkpoint")
        << evaluation_ms;
  }
}

// What the dates of the lines say that each took.
TEST(TrainingLog, OfTwoEventsTheLongerOne) {
  for (const double evaluation_s : {0.02, 0.9}) {
    TraceBuilder b;
    Add(b, {100, 100, 100, 100, 200, 100, 100, 100, 100, 100, 100, 100});
    TrainingLog& log = b.trace.training_log;
    log.events.push_back({4, TrainingEventKind::kEvaluation, evaluation_s * 1e9});
    log.events.push_back({4, TrainingEventKind::kCheckpoint, 0.92e9 - evaluation_s * 1e9});
    EXPECT_EQ(Rows(b)[4].cause, evaluation_s > 0.5 ? "evaluation" : "checkpoint");
  }
}

// Twenty seconds more, of which each takes eight.
TEST(TrainingLog, TwoEventsThatTogetherTakeAsLong) {
  for (const double each_s : {8.0, 1.0}) {
    TraceBuilder b;
    Add(b, {100, 100, 100, 100, 2100, 100, 100, 100, 100, 100, 100, 100});
    TrainingLog& log = b.trace.training_log;
    log.events.push_back({4, TrainingEventKind::kEvaluation, each_s * 1e9});
    log.events.push_back({4, TrainingEventKind::kCheckpoint, each_s * 1e9});
    EXPECT_EQ(Rows(b)[4].cause, each_s > 5 ? "evaluation and checkpoint" : "checkpoint") << each_s;
  }
}

TEST(Training, RateWithoutATime) {
  TraceBuilder b;
  Add(b, {100, 100, 100, 100});
  std::vector<TrainingIteration>& rows = b.trace.training_log.iterations;
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].elapsed_ns.reset();
    rows[i].global_batch.reset();
    rows[i].tokens_per_second = i % 2 == 0 ? 200 : 600;
  }
  const Context context = test::ContextOf(b.trace);
  const auto training = ComputeTrainings(context, ComputeTrainingLog(context));
  ASSERT_EQ(training.size(), 1u);
  EXPECT_FALSE(training[0].mean_ns);
  EXPECT_NEAR(training[0].tokens_per_second.value_or(0), 3 / (1.0 / 600 + 1.0 / 200 + 1.0 / 600), 1e-6);
}

// A program that stood for an hour after a checkpoint did not write it for an hour.
TEST(TrainingLog, WhatIsKnownToBeShortIsNotTheReason) {
  TraceBuilder b;
  Add(b, {100, 100, 100, 100, 200, 100, 100, 100, 360000, 100, 100, 100});
  TrainingLog& log = b.trace.training_log;
  log.events.push_back({4, TrainingEventKind::kCheckpoint, 0.9e9});
  log.events.push_back({8, TrainingEventKind::kCheckpoint, 0.9e9});
  EXPECT_EQ(Rows(b)[4].cause, "checkpoint");
  EXPECT_EQ(Rows(b)[8].cause, "unexplained");
}

// Lines of progress stand before an evaluation's last one, which dates that last part alone.
TEST(TrainingLog, WhatEndsAnEvaluationIsNotWhatEndsACheckpoint) {
  TraceBuilder b;
  Add(b, {100, 100, 100, 100, 200, 100, 100, 100, 200, 100, 100, 100});
  TrainingLog& log = b.trace.training_log;
  log.events.push_back({4, TrainingEventKind::kCheckpoint, 0.9e9});
  log.events.push_back({8, TrainingEventKind::kEvaluation, 0.1e9});
  EXPECT_EQ(Rows(b)[4].cause, "checkpoint");
  EXPECT_EQ(Rows(b)[8].cause, "evaluation");
}

TEST(TrainingLog, WhatHappensBetweenEpochs) {
  TraceBuilder b;
  Add(b, {100, 100, 100, 100, 900, 100, 100, 100, 100, 100, 100, 100});
  b.trace.training_log.events.push_back({4, TrainingEventKind::kEpochEnd, {}});
  EXPECT_EQ(Rows(b)[4].cause, "end of an epoch");
}

TEST(Training, PaceAndSums) {
  TraceBuilder b;
  Add(b, {200, 100, 100, 130});
  TrainingLog& log = b.trace.training_log;
  log.iterations[0].skipped = 3;
  log.iterations[2].skipped = 1;
  log.iterations[3].covers = 5;
  log.iterations[3].planned = 100;
  log.settings = {{"seq_length", "1024"},      {"pipeline_model_parallel_size", "4"},
                  {"global_batch_size", "8"},  {"micro_batch_size", "1"},
                  {"data_parallel_size", "2"}, {"fp16", "True"}};
  const Context context = test::ContextOf(b.trace);
  const auto rows = ComputeTrainings(context, ComputeTrainingLog(context));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].iterations, 35);
  EXPECT_EQ(rows[0].steady_iterations, 25);
  EXPECT_EQ(rows[0].first_iteration, 1);
  EXPECT_EQ(rows[0].first_steady_iteration, 11);
  EXPECT_DOUBLE_EQ(*rows[0].mean_ns, (100 * 10 + 100 * 10 + 130 * 5) / 25.0 * 1e6);
  EXPECT_DOUBLE_EQ(*rows[0].samples_per_second, 4 * 25 / 2.65);
  EXPECT_DOUBLE_EQ(*rows[0].tokens_per_second, 1024 * 4 * 25 / 2.65);
  EXPECT_EQ(rows[0].skipped, 4);
  EXPECT_FALSE(rows[0].nan);
  EXPECT_EQ(rows[0].planned, 100);
  EXPECT_EQ(rows[0].micro_batches, 4);
  EXPECT_DOUBLE_EQ(*rows[0].bubble_share, 3.0 / 7);
  EXPECT_EQ(rows[0].precision, "fp16");
  const TraceBuilder no_trace;
  const RunRow run = ComputeRun(test::ContextOf(no_trace.trace), {}, {}, {}, {}, rows, {}, {});
  EXPECT_EQ(run.step_source, "training log");
  EXPECT_EQ(run.steps, 25);
  OpFamilies ops;
  ops.eligible_ns = ops.eligible_tensor_core_ns = {0};
  const RunRow traced = ComputeRun(test::ContextOf(no_trace.trace), {GpuRow{}}, {}, ops, {}, rows, {}, {});
  EXPECT_FALSE(traced.step_ns) << "a trace has more detail";
  EXPECT_TRUE(ComputeTrainings(test::ContextOf(TraceBuilder().trace), {}).empty());
}

TEST(TrainingTimers, RanksAreTakenTogether) {
  TraceBuilder b;
  Add(b, {100});
  for (int64_t rank = 0; rank < 3; ++rank)
    b.trace.training_log.timers.push_back({0, "all-grads-sync", rank, rank == 1 ? 30e6 : 10e6, {}, {}});
  const auto rows = ComputeTrainingTimers(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].kind, "communication");
  EXPECT_FALSE(rows[0].ns);
  EXPECT_DOUBLE_EQ(*rows[0].min_ns, 10e6);
  EXPECT_DOUBLE_EQ(*rows[0].max_ns, 30e6);
  EXPECT_EQ(rows[0].max_rank, 1);
  EXPECT_DOUBLE_EQ(*rows[0].share, 0.3);
}

TEST(TrainingMemory, AgainstTheListedGpus) {
  TraceBuilder b;  // of a GPU with 1000 bytes
  b.trace.training_log.memory = {{3, 1, 100, 200, 300, 400}, {{}, 1, 1, 2, 3, 4}, {3, 2, 100, 500, 300, 700}};
  const auto rows = ComputeTrainingMemory(test::ContextOf(b.trace));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_FALSE(rows[0].rank);
  EXPECT_EQ(rows[1].rank, 3);
  EXPECT_EQ(rows[1].iteration, 2);
  EXPECT_DOUBLE_EQ(*rows[1].used_share, 0.5);
}

TEST(TrainingSizes, FollowFromOthers) {
  TraceBuilder b;
  b.trace.world_size = 64;
  b.trace.training_log.settings = {
      {"model_parallel_size", "4"}, {"batch_size", "48"}, {"virtual_pipeline_model_parallel_size", "None"}};
  TrainingSizes sizes = SizesOf(b.trace);
  EXPECT_EQ(sizes.data_parallel, 16);
  EXPECT_EQ(sizes.micro_batch, 48);
  EXPECT_FALSE(sizes.micro_batches);
  b.trace.world_size.reset();
  b.trace.training_log.settings = {{"train_batch_size", "256"},
                                   {"train_micro_batch_size_per_gpu", "4"},
                                   {"gradient_accumulation_steps", "2"},
                                   {"recompute_granularity", "selective"}};
  sizes = SizesOf(b.trace);
  EXPECT_EQ(sizes.data_parallel, 32);
  EXPECT_EQ(sizes.micro_batches, 2);
  EXPECT_EQ(sizes.recompute, "selective");
}

// GPT-3 of 175 billion parameters by the formula of Narayanan et al., at a third of an A100's peak.
TEST(TrainingWork, IsThatOfTheArguments) {
  const double h = 12288, sequence = 2048, vocabulary = 51200, layers = 96;
  const double flops =
      72 * sequence * layers * h * h * (1 + sequence / (6 * h) + vocabulary / (12 * layers * h));
  const double seconds = 4 * flops / 8 / 104e12;  // four samples on eight GPUs
  const auto training = [&](const std::map<std::string, std::string>& changed, const char* gpu) {
    TraceBuilder b;
    Add(b, {seconds * 1e3, seconds * 1e3, seconds * 1e3, seconds * 1e3});
    b.trace.training_log.settings = {
        {"num_layers", "96"},   {"hidden_size", "12288"}, {"num_attention_heads", "96"},
        {"seq_length", "2048"}, {"bf16", "True"},         {"padded_vocab_size", "51200"},
        {"num_experts", "None"}};
    for (const auto& [name, value] : changed) b.trace.training_log.settings[name] = value;
    b.trace.world_size = 8;
    b.trace.devices.resize(1);
    b.trace.devices[0].name = gpu;
    const Context context = test::ContextOf(b.trace);
    return ComputeTrainings(context, ComputeTrainingLog(context)).at(0);
  };
  const TrainingRow known = training({}, "NVIDIA A100-SXM4-80GB");
  EXPECT_NEAR(*known.model_tflops_per_gpu, 104, 0.01);
  EXPECT_NEAR(*known.mfu, 104.0 / 312, 1e-4);
  EXPECT_FALSE(known.unknown_reason);
  // The paper's sizes without its assumptions: heads and networks of other sizes, fewer keys than queries.
  const TrainingRow gated = training({{"swiglu", "True"}, {"ffn_hidden_size", "32768"}}, "");
  EXPECT_NEAR(*gated.model_tflops_per_gpu, 104, 0.01) << "three matrices of two thirds";
  EXPECT_FALSE(gated.mfu);
  EXPECT_EQ(gated.unknown_reason, "the log does not name the GPUs");
  const TrainingRow grouped =
      training({{"group_query_attention", "True"}, {"num_query_groups", "8"}}, "NVIDIA A100-SXM4-80GB");
  EXPECT_LT(*grouped.model_tflops_per_gpu, 95);
  EXPECT_EQ(training({{"num_experts", "8"}}, "").unknown_reason, "the model is a mixture of experts");
  EXPECT_EQ(training({{"padded_vocab_size", ""}}, "").unknown_reason,
            "the log does not print the size of the vocabulary");
  EXPECT_EQ(training({}, "Card").unknown_reason, "the peaks of Card are not known");
  const TrainingRow above = training({}, "Tesla T4");
  EXPECT_FALSE(above.mfu) << "a T4 has no BF16";
  EXPECT_EQ(training({{"fp16", "True"}, {"bf16", "False"}}, "Tesla T4").unknown_reason,
            "faster than the peak: arguments, times or the GPU are not what the log says");
}

TEST(BenchmarkResult, IsShownWhereRequestsWaitedLongest) {
  ProgramOutput output;
  for (const double seconds : {9.0, 0.5}) {
    RequestBenchmark& result = output.benchmarks.emplace_back();
    result.requests = 100;
    result.failed = 3;
    result.first_median_ns = seconds * 1e9;
  }
  EXPECT_EQ(
      MeasuredText(output),
      "100 requests, 3 failed, 9.00 s until the first token, of the 2 results the one whose requests waited "
      "longest together");
}

TEST(GenerationTest, ReadsWeightsAtSoManyBytes) {
  Trace trace;
  std::vector<GenerationTest>& tests = trace.program_output.generations;
  tests.push_back({"pp512", "llama 7B Q4_0", "CUDA", "Tesla V100-SXM2-16GB", "fa=1", 512, 0, 4e9, 3000});
  tests.push_back({"tg128", "llama 7B Q4_0", "CUDA", "Tesla V100-SXM2-16GB", "fa=1", 0, 128, 4e9, 100});
  tests.push_back({"tg128", "qwen3moe 30B.A3B Q4_K", "CUDA", "", "fa=1", 0, 128, 18e9, 120});
  const Context context = test::ContextOf(trace);
  const std::vector<GenerationTestRow> rows = ComputeGenerationTests(context);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].kind, "reads");
  EXPECT_FALSE(rows[0].weight_bytes_per_s);
  EXPECT_EQ(rows[1].kind, "generates");
  EXPECT_EQ(rows[1].variant, "CUDA, fa=1");
  EXPECT_DOUBLE_EQ(rows[1].weight_bytes_per_s.value_or(0), 4e11);
  EXPECT_GT(rows[1].memory_bytes_per_s.value_or(0), 8e11);
  EXPECT_FALSE(rows[2].weight_bytes_per_s) << "a token reads some of its experts";
  EXPECT_EQ(MeasuredText(trace.program_output),
            "llama 7B Q4_0 generates 100 tokens/s (tg128) and reads 3,000 tokens/s of prompts (pp512), the "
            "fastest of 3 results");
}

}  // namespace
}  // namespace dladvisor
