// SPDX-License-Identifier: Apache-2.0
// What Hugging Face's Trainer keeps with a checkpoint, and the profiler's timeline of memory: documents of
// JSON that are no traces.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using testing::HasSubstr;
using testing::Not;

std::string StateOf(const std::string& records) {
  return R"({"best_metric": null, "epoch": 0.5, "global_step": 30, "log_history": [)" + records +
         R"(], "max_steps": 60, "train_batch_size": 4})";
}

TEST(TrainerState, HoldsLossesOfStepsWithoutTimes) {
  const TrainingLog log = test::ReadTrainingLog(
      StateOf(R"({"epoch": 0.1, "loss": 2.5, "step": 10}, {"epoch": 0.2, "loss": 2.25, "step": 20},
              {"epoch": 0.3, "loss": 2.0, "step": 30})"));
  EXPECT_EQ(log.program, "Hugging Face Trainer");
  ASSERT_EQ(log.iterations.size(), 3U);
  EXPECT_EQ(log.iterations.back().iteration, 30);
  EXPECT_FALSE(log.iterations.back().elapsed_ns);
}

TEST(TrainerState, OfATrainingThatEndedHoldsItsTotals) {
  const TrainingLog log = test::ReadTrainingLog(StateOf(R"({"epoch": 0.1, "loss": 2.5, "step": 10},
              {"epoch": 0.1, "eval_loss": 2.4, "eval_runtime": 30.0, "eval_steps_per_second": 2.0, "step": 10},
              {"epoch": 0.2, "loss": 2.25, "step": 20},
              {"epoch": 0.2, "step": 20, "train_loss": 2.4, "train_runtime": 120.0,
               "train_samples_per_second": 1.5, "train_steps_per_second": 0.2})"));
  EXPECT_EQ(log.program, "Hugging Face Trainer");
  EXPECT_DOUBLE_EQ(log.runtime_ns.value_or(0), 120e9);
}

TEST(TrainerState, MayHoldNumbersThatJsonDoesNotKnow) {
  const TrainingLog log =
      test::ReadTrainingLog(StateOf(R"({"epoch": 0.1, "grad_norm": Infinity, "loss": 2.5, "step": 10},
              {"epoch": 0.2, "grad_norm": NaN, "loss": NaN, "step": 20})"));
  ASSERT_EQ(log.iterations.size(), 2U);
  EXPECT_EQ(log.iterations.back().covers, 10);
  EXPECT_FALSE(log.iterations.back().loss);
}

TEST(TrainerState, SaysWhyAFileIsNotRead) {
  const std::string state = StateOf(R"({"epoch": 0.1, "loss": 2.5, "step": 10})");
  EXPECT_THAT(test::RefusalOf(state.substr(0, state.size() - 20)), HasSubstr("cut or not JSON"));
  EXPECT_THAT(test::RefusalOf(R"({"global_step": 5, "loops": {"log_history": 1}})"),
              HasSubstr("not as Hugging Face's Trainer writes it"));
}

TEST(TrainerState, WithoutRecordsIsRefused) {
  EXPECT_THAT(test::RefusalOf(StateOf("")), HasSubstr("trainer_state.json of Hugging Face's Trainer"));
}

TEST(MemoryTimeline, IsRefusedWithWhatItsPeakHolds) {
  std::string times, sizes;
  for (int i = 0; i < 4; ++i) {
    times += fmt::format("{}1726077563{:06}", i > 0 ? ", " : "", i);
    sizes += fmt::format("{}[0, 100, 200, 50, 0, {}, 40, 10, 0]", i > 0 ? ", " : "", i == 2 ? 9600 : 0);
  }
  const std::string refusal = test::RefusalOf(fmt::format("[[{}], [{}]]", times, sizes));
  EXPECT_THAT(refusal, HasSubstr("a timeline of memory by PyTorch's profiler"));
  EXPECT_THAT(refusal, HasSubstr("96.0 % are activations"));
  EXPECT_THAT(
      test::RefusalOf("<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML</title>"
                      "</head>\n<body><img src='data:image/png;base64,iVBOR'></body></html>"),
      HasSubstr("a timeline of memory by PyTorch's profiler"));
  EXPECT_THAT(test::RefusalOf("[[1726077563878112, 0, 1024, 3], [1726077563878113, 1, 1024, 3]]"),
              HasSubstr("a timeline of memory by PyTorch's profiler"));
  for (const char* other : {"[[1, 2], [3, 4]]", "[[1726077563878112, 1.5], [1726077563878113, 2.5]]",
                            "[[1726077563878112, 1726077563878113], [1726077563878114, 1726077563878115]]"})
    EXPECT_THAT(test::RefusalOf(other), Not(HasSubstr("timeline of memory")));
}

}  // namespace
}  // namespace dladvisor
