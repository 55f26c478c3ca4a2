// SPDX-License-Identifier: Apache-2.0
// Outputs of programs that neither train nor serve: progress bars, lines with dates, times that they print.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::HasSubstr;

ProgramOutput OutputOf(const std::string& text) {
  const Trace trace = test::ReadLog(text);
  EXPECT_EQ(trace.format, "program log");
  return trace.program_output;
}

void ExpectEach(const ProgramOutput& output, double seconds, int64_t since) {
  ASSERT_FALSE(output.parts.empty());
  ASSERT_TRUE(output.parts[0].each_ns);
  EXPECT_NEAR(*output.parts[0].each_ns, seconds * 1e9, 0.05e9);
  EXPECT_EQ(output.parts[0].since, since);
}

std::string Clock(int seconds) {
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

TEST(ProgramTime, BarTellsWhatEachTakes) {
  const ProgramOutput output = OutputOf(
      "Setting pad_token_id\nProcessing examples:   3%|#   | 55/2000 [11:53<7:17:54, 13.51s/it]\nThe "
      "claim\n");
  ASSERT_EQ(output.parts.size(), 1u);
  EXPECT_EQ(output.parts[0].kind, ProgramPartKind::kBars);
  EXPECT_EQ(output.parts[0].name, "Processing examples");
  EXPECT_EQ(output.parts[0].done, 55);
  EXPECT_EQ(output.parts[0].total, 2000);
  ExpectEach(output, 13, 0);
  EXPECT_THAT(RefusalOf("Loading:  50%|##  | 5/10 [00:05<00:05, 1s/it]\n"),
              HasSubstr("no line is of a log that dladvisor knows"))
      << "a start says little";
}

TEST(ProgramTime, WhatWasDoneBeforeIsNotOfItsPace) {
  ExpectEach(OutputOf("Compressing layers:   0%|   | 0/224 [00:00<?, ?it/s]\n"
                      "Compressing layers:  66%|##  | 148/224 [00:40<01:00, 0.3s/it]\n"
                      "Compressing layers:  67%|##  | 150/224 [02:40<02:00, 3s/it]\n"),
             60, 148);
  // It is skipped one by one.
  ExpectEach(OutputOf("Layers:  13%|##  | 10/224 [00:01<01:00, 0.3s/it]\r"
                      "Layers:  20%|##  | 30/224 [00:03<01:00, 0.3s/it]\r"
                      "Layers:  40%|##  | 100/224 [00:09<01:00, 0.3s/it]\r"
                      "Layers:  45%|##  | 102/224 [02:09<02:00, 3s/it]\r"
                      "Layers:  46%|##  | 104/224 [04:09<02:00, 3s/it]\n"),
             60, 100);
}

TEST(ProgramTime, BarWithoutATotalAndOneNamedByValuesOnly) {
  const ProgramOutput counted = OutputOf("0it [00:00, ?it/s]\n29948it [35:34,  7.00s/it]\n");
  ASSERT_EQ(counted.parts.size(), 1u);
  EXPECT_EQ(counted.parts[0].done, 29948);
  EXPECT_EQ(counted.parts[0].total, 0);
  const ProgramOutput values = OutputOf("d: -0.001;gen: -0.008:  50%|##  | 50/100 [01:40<01:40,  2s/it]\n");
  ASSERT_EQ(values.parts.size(), 1u);
  EXPECT_EQ(values.parts[0].name, "");
}

TEST(ProgramTime, CallsThatEachHaveABarAreCounted) {
  std::string text = "INFO 07-13 20:30:23 [__init__.py:244] Automatically detected platform cuda.\n";
  for (int call = 0; call < 6; ++call)
    text +=
        "Processed prompts:   0%|          | 0/9 [00:00<?, ?it/s, est. speed input: 0.00 toks/s, output: "
        "0.00 "
        "toks/s]\r"
        "Processed prompts: 100%|##########| 9/9 [00:20<00:00,  2.0s/it, est. speed input: 79.53 toks/s, "
        "output: 480.00 toks/s]\n"
        "Processed prompts: 100%|##########| 9/9 [00:20<00:00,  2.0s/it, est. speed input: 79.53 toks/s, "
        "output: 480.00 toks/s]\n";
  const ProgramOutput output = OutputOf(text);
  ASSERT_EQ(output.parts.size(), 1u);
  EXPECT_EQ(output.parts[0].count, 6);
  EXPECT_EQ(output.parts[0].done, 54);
  EXPECT_NEAR(output.parts[0].ns, 120e9, 1);
  EXPECT_DOUBLE_EQ(output.parts[0].tokens_per_second.value_or(0), 480);
}

TEST(ProgramTime, TimePassesAfterALine) {
  const ProgramOutput output = OutputOf(
      "2022-03-31/22:45:45\t\tData Augmentation..\n2022-03-31/22:45:47\t\tTraining model..\n"
      "2022-03-31/23:07:48\t\tModel saved..\n2022-03-31/23:08:07\t\tAccuracy: 0.89\n");
  ASSERT_GE(output.parts.size(), 2u);
  EXPECT_EQ(output.parts[0].kind, ProgramPartKind::kLines);
  EXPECT_EQ(output.parts[0].name, "Training model..");
  EXPECT_NEAR(output.parts[0].ns, 1321e9, 1);
  EXPECT_EQ(output.parts[0].longest_line, 2);
  EXPECT_NEAR(output.duration_ns.value_or(0), 1342e9, 1);
}

TEST(ProgramTime, LinesThatAreAlikeButForNumbersAreOneKindAndCount) {
  std::string text;
  for (int item = 1; item <= 20; ++item)
    text += fmt::format("2024-05-01 {} INFO: scored 3.{} of clip {}/40\n", Clock(item * 30), item, item);
  const ProgramOutput output = OutputOf(text);
  ASSERT_EQ(output.parts.size(), 1u);
  EXPECT_EQ(output.parts[0].name, "scored # of clip #/#");
  EXPECT_EQ(output.parts[0].count, 20);
  ExpectEach(output, 30, 0);
}

TEST(ProgramTime, SectionsTellMoreThanLinesThatAreAllAlike) {
  std::string text;
  int second = 0;
  for (int round = 0; round < 6; ++round)
    for (const char* name : {"gqa", "mme", "pope"}) {
      text += fmt::format("->  Running {}...\n[2025-07-08 {},681] [INFO] Setting the accelerator\n", name,
                          Clock(second));
      second += name[0] == 'g' ? 300 : 100;
      text += fmt::format("[2025-07-08 {},000] [INFO] Setting the accelerator\n", Clock(second));
    }
  const ProgramOutput output = OutputOf(text);
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].kind, ProgramPartKind::kSection);
  EXPECT_EQ(output.parts[0].name, "->  Running gqa...");
  EXPECT_EQ(output.parts[0].count, 6);
  EXPECT_NEAR(output.parts[0].ns, 1800e9, 10e9);
}

TEST(ProgramTime, WhatFollowsAnErrorIsNobodysWork) {
  const ProgramOutput output = OutputOf(
      "2024-05-01 10:00:00 INFO: first start\n2024-05-01 10:03:00 INFO: loaded\n"
      "2024-05-01 10:03:10 ERROR: no such file\n2024-05-01 18:00:00 INFO: first start\n"
      "2024-05-01 18:04:00 INFO: loaded\nTraceback (most recent call last):\nValueError: wrong shape\n");
  EXPECT_NEAR(output.duration_ns.value_or(0), 430e9, 1);
  EXPECT_EQ(output.error, "ValueError: wrong shape");
  // The same of the end before another start, and of a server that was told to stop.
  EXPECT_NEAR(OutputOf("2024-05-01 10:00:00 INFO: begins\n2024-05-01 10:03:00 INFO: all is done\n"
                       "2024-05-01 18:00:00 INFO: begins\n2024-05-01 18:04:00 INFO: got signal 15\n"
                       "2024-05-01 19:00:00 INFO: gone\n")
                  .duration_ns.value_or(0),
              420e9, 1);
  // Not of a result that is an error's size, nor of a signal's.
  for (const char* result : {"mean absolute error 0.30", "Error = 0.20", "MeanSquaredError: 0.1",
                             "word error rate", "signal to noise 3"})
    EXPECT_NEAR(OutputOf(fmt::format("2024-05-01 10:00:00 INFO: begins\n2024-05-01 10:03:00 INFO: {}\n"
                                     "2024-05-01 11:00:00 INFO: goes on\n2024-05-01 11:01:00 INFO: writes\n",
                                     result))
                    .duration_ns.value_or(0),
                3660e9, 1)
        << result;
  // And what goes on behind it has got over it.
  EXPECT_EQ(OutputOf("Traceback (most recent call last):\nValueError: wrong shape\n"
                     "Testing:  55%|##  | 55/100 [11:53<7:17, 13.51s/it]\n")
                .error,
            "");
}

TEST(ProgramTime, TimesOfDataAndOfCommunicationThatItPrints) {
  std::string waits, messages;
  for (int batch = 10; batch <= 50; batch += 10) {
    waits += fmt::format("Test: [{}/124] Data 330.748 (235.731) Batch 331.455 (239.681).\n", batch);
    messages += "  TTFT: 1576.04 ms | Total: 18000.00 ms | Comm: 12000.00 ms | Compute/Comm: 0.43\n";
  }
  const ProgramWait data = OutputOf(waits).data, communication = OutputOf(messages).communication;
  EXPECT_EQ(data.lines, 5);
  EXPECT_NEAR(data.part / data.whole, 0.998, 0.001);
  EXPECT_EQ(communication.lines, 5);
  EXPECT_NEAR(communication.part / communication.whole, 2.0 / 3, 0.001);
}

TEST(ProgramTime, RequestsThatOllamaLists) {
  std::string text =
      "time=2025-06-25T22:00:00.956+02:00 level=INFO msg=\"server config\" env=\"map[OLLAMA_NUM_PARALLEL:4 "
      "A:b]\"\n"
      "time=2025-06-25T22:00:01.000+02:00 level=INFO msg=\"inference compute\" id=GPU-1 library=cuda\n"
      "time=2025-06-25T22:00:01.001+02:00 level=INFO msg=\"inference compute\" id=GPU-2 library=cuda\n"
      "[GIN] 2025/06/25 - 22:00:02 | 200 |   53.402454ms |       127.0.0.1 | POST     \"/api/show\"\n";
  for (int minute = 1; minute <= 30; ++minute)
    text += fmt::format(
        "[GIN] 2025/06/25 - 22:{:02}:01 | 200 |         {} |       127.0.0.1 | POST     "
        "\"/v1/chat/completions\"\n",
        minute, minute % 2 == 0 ? "1m38s" : "22.5s");
  const ProgramRequests requests = OutputOf(text).requests;
  EXPECT_EQ(requests.requests, 30);
  EXPECT_NEAR(requests.ns, 15 * (98 + 22.5) * 1e9, 1);
  EXPECT_EQ(requests.slots, 4);
  EXPECT_EQ(requests.gpus, 2);
}

TEST(ProgramTime, LinesOfManyKindsTellNothing) {
  std::string text;
  for (char kind = 'a'; kind <= 'z'; ++kind)
    text += fmt::format("2024-05-01 {} INFO: part {}{}{}\n", Clock((kind - 'a') * 30), kind, kind, kind);
  EXPECT_THAT(RefusalOf(text), HasSubstr("no line is of a log that dladvisor knows"));
}

TEST(ProgramTime, TablesByDateAndOtherTextsAreRefusedStill) {
  std::string rows, mixed;
  for (int i = 0; i < 12; ++i) {
    rows += fmt::format("2025/09/08 14:{:02}:00.120, 0, 11409\n", i);
    mixed += fmt::format("2025/09/08 14:{:02}:00 a line\n", i % 2 == 0 ? 30 : i);
  }
  EXPECT_THAT(RefusalOf(rows), HasSubstr("a table of numbers by date"));
  EXPECT_THAT(RefusalOf(mixed), HasSubstr("no line is of a log that dladvisor knows"));
}

}  // namespace
}  // namespace dladvisor
