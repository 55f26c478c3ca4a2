// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/program_log.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/analysis/trace_builder.h"

namespace dladvisor {
namespace {
using test::TraceBuilder;

ProgramLogRow RowOf(const std::vector<ProgramFigure>& figures) {
  TraceBuilder b;
  b.trace.program_output.figures = figures;
  return ComputeProgramLog(test::ContextOf(b.trace)).front();
}

// The figures stand in the order of their sums.
TEST(ProgramLog, TheSlowestPartAndWhatItIsFor) {
  const ProgramLogRow row =
      RowOf({{"data loading", "", 1, 3e9}, {"forward", "", 1, 1e9}, {"backward", "", 1, 1e9}});
  EXPECT_EQ(row.slowest_time, "data loading");
  EXPECT_EQ(row.slowest_purpose, "input");
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.6);
}

TEST(ProgramLog, ASumOfOthersIsNoPart) {
  const ProgramLogRow row =
      RowOf({{"iteration", "", 4, 10e9}, {"forward", "", 4, 6e9}, {"backward", "", 4, 4e9}});
  EXPECT_EQ(row.slowest_time, "forward");
  EXPECT_FALSE(row.slowest_purpose);
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.6);
}

TEST(ProgramLog, APassBesideItsOtherOneIsNoSumOfIt) {
  const ProgramLogRow row =
      RowOf({{"bwd", "", 4, 4e9}, {"fwd", "", 4, 2e9}, {"data", "", 4, 1.2e9}, {"opt", "", 4, 0.4e9}});
  EXPECT_EQ(row.slowest_time, "bwd");
}

// As hey and k6 print of requests, and onnxruntime_perf_test of runs.
TEST(ProgramLog, StatisticsAreNoParts) {
  EXPECT_FALSE(RowOf({{"Total", "", 1, 10e9},
                      {"Slowest", "", 1, 0.9e9},
                      {"Average", "", 1, 0.5e9},
                      {"resp wait", "", 1, 0.5e9}})
                   .slowest_time);
  EXPECT_FALSE(RowOf({{"max", "", 4, 5e9}, {"p(95)", "", 4, 3e9}, {"p(90)", "", 4, 2e9}}).slowest_time);
  const ProgramLogRow row = RowOf({{"softmax", "", 1, 3e9}, {"minibatch copy", "", 1, 1e9}});
  EXPECT_EQ(row.slowest_time, "softmax") << "which holds max";
}

// Names of a program's own may hold such words and be parts.
TEST(ProgramLog, NamesThatMayBeStatisticsCountInWhatTheOthersAreSharesOf) {
  EXPECT_FALSE(RowOf({{"max_flow", "", 1, 1200e9}, {"graph_load", "", 1, 121e9}, {"paths", "", 1, 100e9}})
                   .slowest_time);
  const ProgramLogRow row =
      RowOf({{"init_weights", "", 1, 800e9}, {"first_epoch", "", 1, 400e9}, {"evaluate", "", 1, 400e9}});
  EXPECT_EQ(row.slowest_time, "init_weights");
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.5);
}

TEST(ProgramLog, SharesAreOfATotalThatIsPrinted) {
  EXPECT_FALSE(RowOf({{"Total inference time cost", "", 1, 9.8e9},
                      {"Session creation", "", 1, 0.4e9},
                      {"Warm run", "", 1, 0.03e9}})
                   .slowest_time);
  const ProgramLogRow row = RowOf({{"total duration", "", 1, 6.4e9},
                                   {"load duration", "", 1, 3.2e9},
                                   {"prompt eval duration", "", 1, 0.4e9}});
  EXPECT_EQ(row.slowest_time, "load duration");
  EXPECT_EQ(row.slowest_purpose, "weights") << "of Ollama";
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.5);
  EXPECT_FALSE(
      RowOf({{"total_iteration", "", 1, 0.7e9}, {"forward", "", 2, 0.6e9}, {"backward", "", 2, 0.5e9}})
          .slowest_time)
      << "of two reports, one with the whole";
  EXPECT_EQ(RowOf({{"decode", "", 4, 5e9}, {"resize", "", 4, 3e9}, {"write", "", 4, 2.2e9}}).slowest_time,
            "decode")
      << "a stage may be as long as two others";
  EXPECT_EQ(RowOf({{"frame time", "", 4, 5e9},
                   {"request", "", 4, 5e9},
                   {"resize", "", 4, 3e9},
                   {"write", "", 4, 1.8e9}})
                .slowest_time,
            "resize")
      << "what its name says to have parts";
  EXPECT_EQ(
      RowOf({{"load", "", 1, 9e9}, {"predict", "", 1, 3e9}, {"write", "", 1, 2e9}, {"total", "", 1, 6e9}})
          .slowest_time,
      "predict")
      << "what is longer than the total is none of it";
  EXPECT_EQ(
      RowOf({{"TOTAL", "", 4, 15e9}, {"forward", "", 2, 0.6e9}, {"backward", "", 2, 0.5e9}}).slowest_time,
      "forward")
      << "totals of several reports, each of other parts";
}

TEST(ProgramLog, SharesAreOfTheTimeOfTheRunThatIsPrinted) {
  const ProgramLogRow nested =
      RowOf({{"total", "", 1, 70e9}, {"train", "", 1, 60e9}, {"forward", "", 1, 20e9}, {"load", "", 1, 5e9}});
  EXPECT_EQ(nested.slowest_time, "train");
  EXPECT_DOUBLE_EQ(*nested.slowest_share, 60.0 / 70) << "the forward pass is a part of it";
  EXPECT_EQ(nested.slowest_of_run, 1);
  const ProgramLogRow often =
      RowOf({{"Total time", "", 1, 50e9}, {"Forward", "", 500, 45e9}, {"Post", "", 500, 1e9}});
  EXPECT_DOUBLE_EQ(*often.slowest_share, 0.9);
  EXPECT_FALSE(RowOf({{"Total inference time", "", 1, 50e9}, {"A", "", 500, 45e9}, {"B", "", 500, 9e9}})
                   .slowest_of_run);
}

TEST(ProgramLog, WhatIsLongerThanTheRunIsNoPartOfIt) {
  EXPECT_FALSE(RowOf({{"data loading of all workers", "", 1, 320e9},
                      {"Total time", "", 1, 100e9},
                      {"compute", "", 1, 95e9}})
                   .slowest_time);
  const ProgramLogRow row = RowOf({{"Audio duration", "", 1, 3600e9},
                                   {"Total time", "", 1, 140e9},
                                   {"Transcription time", "", 1, 120e9},
                                   {"Model load time", "", 1, 12e9}});
  EXPECT_EQ(row.slowest_time, "Transcription time");
}

TEST(ProgramLog, WhatIsCompiledInPartsIsOneCostOfTheStart) {
  const ProgramLogRow row = RowOf({{"pipeline_compile", "", 2, 20e9},
                                   {"vmap_first_call", "", 1, 15e9},
                                   {"eager", "", 2, 8e9},
                                   {"pipeline_lower", "", 2, 7e9}});
  EXPECT_EQ(row.slowest_time, "pipeline_compile with 2 more of compiling");
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.84);
}

TEST(ProgramLog, OneOtherOfLikeSizeIsNoSum) {
  const ProgramLogRow row =
      RowOf({{"forward", "", 2, 6e9}, {"backward", "", 2, 5.5e9}, {"optimizer", "", 1, 0.5e9}});
  EXPECT_EQ(row.slowest_time, "forward");
  EXPECT_DOUBLE_EQ(*row.slowest_share, 0.5);
}

}  // namespace
}  // namespace dladvisor
