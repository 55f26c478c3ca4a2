// SPDX-License-Identifier: Apache-2.0
// What is said of texts that are not read.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::HasSubstr;
using testing::Not;

// Of which column names are not known.
TEST(Refusals, ATableInWhichNothingChangesIsOfGpusWithoutWork) {
  std::string still, works;
  for (int second = 0; second < 100; ++second)
    for (const int memory : {11409, 10851, 13325}) {
      still += fmt::format("2025-11-20 14:{}:{:02}, 0, {}\n", 14 + second / 60, second % 60, memory);
      works += fmt::format("2025-11-20 14:{}:{:02}, {}, {}\n", 14 + second / 60, second % 60, second, memory);
    }
  EXPECT_THAT(RefusalOf(still), HasSubstr("300 rows with no more than 3 different ones"));
  EXPECT_THAT(RefusalOf(works), HasSubstr("without names of its columns or units"));
}

TEST(Refusals, NameTheColumnsThatATableHas) {
  std::string watts = "timestamp,n1_watts,n2_watts\n";
  for (int second = 0; second < 50; ++second)
    watts += fmt::format("2026-05-05T19:14:{:02},24{:02},2579\n", second, second);
  EXPECT_THAT(RefusalOf(watts), HasSubstr("no column is known as a GPU's: timestamp,n1_watts,n2_watts"));
}

TEST(Refusals, SayWhatReportsOfOtherToolsHold) {
  EXPECT_THAT(RefusalOf("\n==============NVSMI LOG==============\n\nTimestamp : Tue Mar  4 10:11:12 2025\n"
                        "GPU 00000000:01:00.0\n    Utilization\n        Gpu  : 35 %\n"),
              HasSubstr("the report of nvidia-smi -q, which describes the GPUs at one moment"));
  EXPECT_THAT(RefusalOf("GPU utilization per node\n      node1 (GPU 0): 65.7%\n      node2 (GPU 0): 2.9%\n\n "
                        " GPU memory usage "
                        "per node - maximum used/total\n      node1 (GPU 0): 26.5GB/40.0GB (66.2%)\n"),
              HasSubstr("(jobstats): its 2 GPUs were busy 2.9 % to 65.7 % of the time"));
  EXPECT_THAT(
      RefusalOf("Job ID: 1234567\nState: COMPLETED (exit code 0)\nCPU Utilized: 1-02:03:04\n"
                "CPU Efficiency: 8.14% of 13-08:00:00 core-walltime\nJob Wall-clock time: 10:00:00\n"),
      HasSubstr("(seff): its cores were busy 8.14 % of the time, and nothing is said of GPUs"));
  EXPECT_THAT(RefusalOf("Job ID: 12\nState: COMPLETED (exit code 0)\nCPU Efficiency: 94.40% of 1-04:48:00 "
                        "core-walltime\nGPU Utilization: 12.4%\n"),
              HasSubstr("its cores were busy 94.4 % of the time, its GPUs 12.4 %"));
  EXPECT_THAT(RefusalOf("Job ID: 12\nState: RUNNING\nCPU Efficiency: 0.00% of 03:11:00 core-walltime\n"),
              HasSubstr("a job that still runs (seff), which does not say yet what it uses"));
  std::string metrics = "Machine model: MacBookPro18,3\n";
  for (const char* share : {"  3.00%", " 99.00%"})
    metrics += fmt::format(
        "\n*** Sampled system activity (Fri Dec  5 21:25:10 2025 -0800) (10003.30ms elapsed) ***\n\n"
        "**** GPU usage ****\n\nGPU HW active frequency: 440 MHz\nGPU HW active residency: {} (389 MHz: "
        "2.9%)\nGPU idle residency:  96.64%\nGPU Power: 22 mW\n",
        share);
  EXPECT_THAT(RefusalOf(metrics),
              HasSubstr("Apple's GPU is active 51 % of the time, 99 % at most in one of 2 samples"));
}

TEST(Refusals, TellWhatAListOfJobsSays) {
  EXPECT_THAT(
      RefusalOf("JobID           JobName  AllocCPUS      State    Elapsed   TotalCPU\n"
                "------------ ---------- ---------- ---------- ---------- ----------\n"
                "12345             train         16  COMPLETED   10:00:00   16:00:00\n"
                "12345.batch       batch         16  COMPLETED   10:00:00   16:00:00\n"
                "12346_1           train         16    TIMEOUT 1-00:00:00   22:24:00\n"),
      HasSubstr(
          "(sacct): 2 jobs, the longest of 24 h, 1 COMPLETED, 1 TIMEOUT; their cores were busy 7.06 %"));
  EXPECT_THAT(
      RefusalOf("JobID|JobName|State|Elapsed|\n77|train|FAILED|00:30:00|\n77.0|python|FAILED|00:30:00|\n"),
      HasSubstr("1 job, the longest of 0.5 h, 1 FAILED, and nothing is said"));
  EXPECT_THAT(RefusalOf("the columns JobID, State and Elapsed\n12 of them\n"), Not(HasSubstr("sacct")));
}

TEST(Refusals, TellOfAServiceThatTurnsTheProgramAway) {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text += "Error calling API: Error code: 429 - {'error': {'message': 'Rate limit reached'}}\n";
  EXPECT_THAT(RefusalOf(text), HasSubstr("20 of 20 lines say that this turns it away for too many requests"));
  EXPECT_THAT(RefusalOf(text.substr(0, text.find('\n') + 1) + "hello\n"), testing::Not(HasSubstr("service")));
}

TEST(Refusals, StepsAndLossesAloneAreATrainings) {
  EXPECT_EQ(
      test::ReadTrainingLog(
          test::LinesOf(0, 30, 1, [](int step) { return fmt::format("{} train 10.98{}", step, step); }) +
          "30 val 9.9812\n")
          .loss_lines,
      31);
  EXPECT_EQ(test::ReadTrainingLog(
                "Total batch size 8,192\nstep 00000/00050 (0.00%) | loss: 6.930737 | lrm: 0.03 | dt: "
                "1722.64ms | tok/sec: 4,755 | mfu: 0.03\n")
                .first_steps,
            1);
}

TEST(Refusals, OfAServerSayThatItLacksFlashAttention) {
  const std::string refusal = test::RefusalOf(
      "2025-04-14T15:51:31.1Z  INFO text_generation_launcher: Using attention flashinfer\n"
      "2025-04-14T15:51:42.7Z  WARN text_generation_launcher: Could not import Flash Attention enabled "
      "models: Flash "
      "Attention V2 is not installed.\n");
  EXPECT_THAT(refusal, testing::HasSubstr("which runs without its Flash Attention kernels"));
  EXPECT_THAT(refusal,
              testing::HasSubstr("install Flash Attention, or take the server's official image; then take"));
}

TEST(Refusals, AServersOwnAnswersAreNoWaitForAService) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += fmt::format("INFO:     10.0.0.1:{} - \"POST /v1/completions HTTP/1.1\" 429 Too Many Requests\n",
                        5000 + i);
  EXPECT_THAT(test::RefusalOf(text), testing::Not(testing::HasSubstr("waits for a service")));
}

TEST(Refusals, NamesWhatOtherProfilersPrint) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      test::ReadLog(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_THAT(refusal("\n ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n Time (%)  Total Time (ns)\n"),
              HasSubstr("tables that nsys stats has printed"));
  EXPECT_THAT(refusal("Start (ns),Duration (ns),CorrId,GrdX,Name\n310086272,149853,129,1,gemm\n"),
              HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal("Processing [a.sqlite] with [/opt/nsys/reports/osrt_sum.py]... \n"),
              HasSubstr("nsys export --type sqlite"));
  EXPECT_THAT(refusal("==18148== NVPROF is profiling process 18148, command: python train.py\n"),
              HasSubstr("the output of nvprof"));
  EXPECT_THAT(refusal("Epoch [1/50]\nEpoch [2/50]\n"), Not(HasSubstr("the output of nvprof")));
}

}  // namespace
}  // namespace dladvisor
