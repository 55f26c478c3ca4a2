// SPDX-License-Identifier: Apache-2.0
// Outputs of programs that neither train nor serve: progress bars, lines with dates, times that they print.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "src/trace/trace.h"
#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::RefusalOf;
using testing::HasSubstr;

// What shows that a program of deep learning is at work, in a line of its own.
const std::string kSign = "Using device: cuda:0\n";

ProgramOutput OutputOf(const std::string& text) {
  const Trace trace = test::ReadLog(kSign + text);
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

TEST(ProgramTime, WhatPassesBehindARuleIsOfTheLineAboveIt) {
  std::string text;
  for (const auto& [seconds, words] : {std::pair{0, "======"},
                                       {0, "Starting"},
                                       {0, "======"},
                                       {10, "======"},
                                       {10, "Joint Training"},
                                       {10, "======"},
                                       {1010, "Joint training completed"}})
    text += fmt::format("2026-02-14 {} - INFO - {}\n", Clock(seconds), words);
  const ProgramOutput output = OutputOf(text);
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "Joint Training");
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 1000e9);
}

// Those that stand alone around a date head a record, of which they say nothing.
TEST(ProgramTime, RulesAroundDatesTellNothing) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += fmt::format("=== 2026-02-14 {} ===\nQueue: 0.0 %\n", Clock(30 * i));
  EXPECT_THAT(RefusalOf(kSign + text), HasSubstr("not a profile"));
}

// "LINE|0", "WHISKEY|1" and its like: no kind of line has much of the time.
// One with a thousandth of a second, one without.
TEST(ProgramTime, TwoHandlersOfOneLoggerGoNoStepBack) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += fmt::format(
        "2023-09-11 16:{0:02}:28,983 - editors.editor - INFO - Instantiating model\n"
        "09/11/2023 16:{0:02}:28 - INFO - editors.editor -   Instantiating model\nloss 6.8 avg prob of "
        "bishop\n",
        i);
  const ProgramOutput output = OutputOf(text);
  ASSERT_TRUE(output.timed());
  EXPECT_DOUBLE_EQ(*output.duration_ns, 39 * 60e9);
}

TEST(ProgramTime, LinesOfOneTimeAreOfABatch) {
  std::string text;
  for (int batch = 0; batch < 4; ++batch)
    for (int answer = 0; answer < 50; ++answer)
      text +=
          fmt::format("2026-02-14 16:{0:02}:34,{1} - Prompt {2}\n2026-02-14 16:{0:02}:34,{1} - Tokens: 124\n",
                      3 * batch, 201 + answer / 30, answer);
  const ProgramOutput output = OutputOf(text);
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "Tokens: #");
  EXPECT_EQ(output.parts[0].batches, 4);
  std::string one_by_one;
  for (int item = 0; item < 200; ++item)
    one_by_one += fmt::format("2026-02-14 {} - Item {} of the list\n", Clock(item / 2), item);
  EXPECT_FALSE(OutputOf(one_by_one).parts[0].batches) << "two within a second, by whole seconds";
}

TEST(ProgramTime, SamplesInColumnsAreNoPiecesOfWork) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("2026-02-14 {},card0,,{},65536,85.0\n", Clock(10 * i), i);
  EXPECT_THAT(RefusalOf(kSign + text), HasSubstr("not a profile"));
}

TEST(ProgramTime, ALineOfEachRoundOfALoopWhoseOthersDiffer) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    const std::string word(static_cast<size_t>(3 + i % 20), static_cast<char>('A' + i % 20));
    text += fmt::format("2026-02-14 {} - INFO - {}|0\n2026-02-14 {} - INFO - Average is {}\n", Clock(5 * i),
                        word, Clock(5 * i + 5), 0.5 * i);
  }
  const ProgramOutput output = OutputOf(text);
  ASSERT_EQ(output.parts.size(), 1u);
  EXPECT_EQ(output.parts[0].name, "Average is #");
  EXPECT_EQ(output.parts[0].done, 39);
  EXPECT_DOUBLE_EQ(*output.parts[0].each_ns, 5e9);
}

// Lines that count in words of their own are timed by their dates.
TEST(ProgramTime, LinesWithALossAndADate) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text +=
        fmt::format("2026-02-14 {} Sample {}, up {}, loss {:.2f}\n", Clock(30 * i), 32 * i, i, 2 - 0.01 * i);
  const Trace trace = test::ReadLog(text);
  EXPECT_TRUE(trace.training_log.empty());
  ASSERT_EQ(trace.program_output.parts.size(), 1u);
  EXPECT_EQ(trace.program_output.parts[0].count, 40);
  EXPECT_DOUBLE_EQ(trace.program_output.parts[0].ns, 1170e9);
}

// What a program says of the hours of its data is no reading of a clock.
TEST(ProgramTime, DatesAtFullHoursAreData) {
  std::string data, clock;
  for (int hour = 0; hour < 20; ++hour) {
    data += fmt::format("Date 2022-11-22T{:02}:00:00 missing from the dataset\n", hour);
    clock += fmt::format("2022-11-22 {:02}:00:{:02} missing from the dataset\n", hour, hour % 2);
  }
  EXPECT_NE(RefusalOf(kSign + data), "");
  EXPECT_EQ(OutputOf(clock).parts.size(), 1u);
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
  EXPECT_EQ(values.parts[0].name, "d: #.#;gen: #.#");
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
  EXPECT_EQ(output.parts[0].longest_line, 3);
  EXPECT_NEAR(output.duration_ns.value_or(0), 1342e9, 1);
}

TEST(ProgramTime, ADateBehindTheLineIsItsTime) {
  std::string text;
  for (int round = 0; round < 6; ++round)
    text += fmt::format(
        "Setting up [LPIPS] perceptual loss: v[0.1] [28/02 23:{0:02}:00]\nLoading model from: vgg.pth [28/02 "
        "23:{0:02}:01]\nstarting iteration {1} on process 0 [28/02 23:{0:02}:09]\n",
        10 + round, 10 * round);
  const ProgramOutput output = OutputOf(text);
  ASSERT_FALSE(output.parts.empty());
  EXPECT_EQ(output.parts[0].name, "starting iteration # on process #");
  const auto loads = std::ranges::find(output.parts, "Loading model from: vgg.pth", &ProgramPart::name);
  ASSERT_NE(loads, output.parts.end());
  EXPECT_EQ(loads->count, 6);
  EXPECT_NEAR(loads->ns, 48e9, 1);
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
  EXPECT_THAT(RefusalOf(kSign + text), HasSubstr("no line is of a log that dladvisor knows"));
}

TEST(ProgramTime, TablesByDateAndOtherTextsAreRefusedStill) {
  std::string rows, mixed;
  for (int i = 0; i < 12; ++i) {
    rows += fmt::format("2025/09/08 14:{:02}:00.120, 0, 11409\n", i);
    mixed += fmt::format("2025/09/08 14:{:02}:00 a line\n", i % 2 == 0 ? 30 : i);
  }
  EXPECT_THAT(RefusalOf(rows), HasSubstr("a table of numbers by date"));
  EXPECT_THAT(RefusalOf(kSign + mixed), HasSubstr("no line is of a log that dladvisor knows"));
}

std::string BarOf(const std::string& title, int done, int total, int seconds) {
  return fmt::format("{}: {}%|# | {}/{} [{:02}:{:02}<01:00,  3s/it]\n", title, 100 * done / total, done,
                     total, seconds / 60, seconds % 60);
}

constexpr const char* kUnknown = "no line is of a log that dladvisor knows";

TEST(ProgramTime, BarsThatAreDrawnByTurnsTellNothing) {
  std::string titles, totals, nested;
  for (int item = 0; item <= 100; ++item) {
    titles += BarOf("Worker 0 eval", item, 100, 3 * item) + BarOf("Worker 1 eval", item, 100, 3 * item);
    totals += BarOf("Evaluating", item, 100, 3 * item) + BarOf("Evaluating", item, 120, 3 * item);
  }
  for (int outer = 1; outer <= 10; ++outer) {
    for (int inner = 0; inner <= 10; ++inner) nested += BarOf("", inner, 10, 5 * inner);
    nested += BarOf("", outer, 10, 50 * outer);
  }
  EXPECT_THAT(RefusalOf(titles), HasSubstr(kUnknown));
  EXPECT_THAT(RefusalOf(totals), HasSubstr(kUnknown));
  EXPECT_THAT(RefusalOf(nested), HasSubstr(kUnknown));
  // A title that counts is one bar's.
  std::string counts;
  for (int item = 1; item <= 100; ++item) counts += BarOf(fmt::format("Item {}", item), item, 100, 3 * item);
  const ProgramOutput output = OutputOf(counts);
  ASSERT_EQ(output.parts.size(), 1u);
  EXPECT_EQ(output.parts[0].count, 1);
  EXPECT_EQ(output.parts[0].done, 100);
}

TEST(ProgramTime, EndsOfBarsAloneDoNotTellHowManyThereWere) {
  EXPECT_THAT(RefusalOf(BarOf("Evaluating", 200, 200, 40) + BarOf("Evaluating", 200, 200, 58)),
              HasSubstr(kUnknown));
  const std::string end = BarOf("Evaluating", 200, 200, 40);
  EXPECT_EQ(OutputOf(end + end).parts.size(), 1u) << "drawn once more as it is closed";
  EXPECT_THAT(RefusalOf(end + end + end), HasSubstr(kUnknown));
  EXPECT_EQ(OutputOf(BarOf("Evaluating", 0, 200, 0) + end + end + end).parts.at(0).count, 1);
  // Calls of two processes.
  std::string calls = "INFO 07-13 20:30:23 [__init__.py:244] Automatically detected platform cuda.\n";
  for (int call = 0; call < 12; ++call) {
    const bool start = call % 4 < 2;
    calls += fmt::format(
        "Processed prompts: {}%|# | {}/9 [00:{:02}<00:00,  2.0s/it, est. speed input: 7.0 toks/s, output: "
        "48.0 toks/s]\n",
        start ? 0 : 100, start ? 0 : 9, start ? 0 : 30);
  }
  EXPECT_NE(RefusalOf(calls), "");
}

TEST(ProgramTime, LongLinesAreAlikeWhateverTheirNumbers) {
  std::string text;
  for (int trial = 0; trial < 30; ++trial)
    text += fmt::format("2024-05-01 {} value {} and again with the value {} of the best trial so far\n",
                        Clock(trial * 130), trial * trial * trial, trial * 0.01);
  const ProgramOutput output = OutputOf(text);
  ASSERT_EQ(output.parts.size(), 1u);
  EXPECT_EQ(output.parts[0].count, 30);
  EXPECT_EQ(output.parts[0].name, "value # and again with the value # of the best trial so far");
}

TEST(ProgramTime, WhatLinesWithoutADateTellIsNotOfTheOneBefore) {
  std::string text = "2024-05-01 09:00:00 I tensorflow/core/x.cc:32] Running an optimization\n";
  for (int i = 0; i < 20; ++i) text += fmt::format("sample {} of the data is solved\n", i);
  EXPECT_THAT(RefusalOf(text + "2024-05-01 10:00:00 W tensorflow/core/x.cc:1] cleaning up\n"
                               "2024-05-01 10:00:01 W tensorflow/core/x.cc:1] cleaning up\n"),
              HasSubstr(kUnknown));
  // But of its own.
  const std::string own = "2024-05-01 09:00:00 INFO solving the samples\n" + text.substr(text.find('\n') + 1);
  EXPECT_EQ(OutputOf(own + "2024-05-01 10:00:00 INFO all\n2024-05-01 10:00:01 INFO all\n").parts.at(0).name,
            "solving the samples");
}

TEST(ProgramTime, PausesAreNobodysWork) {
  std::string polls, suspended;
  for (int i = 0; i < 20; ++i) {
    polls += fmt::format("2024-05-01 {} INFO looking for jobs\n2024-05-01 {} INFO sleeping for 600 seconds\n",
                         Clock(i * 640), Clock(i * 640 + 40));
    suspended += fmt::format("2024-05-01 {} INFO solving\n", Clock(i * 20 + (i > 9 ? 9 * 3600 : 0)));
  }
  EXPECT_NEAR(OutputOf(polls).duration_ns.value_or(0), 20 * 40e9, 1);
  const ProgramOutput output = OutputOf(suspended);
  EXPECT_NEAR(output.duration_ns.value_or(0), 18 * 20e9, 1);
  EXPECT_NEAR(output.parts.at(0).longest_ns, 20e9, 1);
}

TEST(ProgramTime, LoopsAreNoRestarts) {
  std::string loop;
  for (int i = 0; i < 10; ++i)
    loop +=
        fmt::format("2024-05-01 {} INFO the epoch begins\n2024-05-01 {} INFO evaluation finished in 600 s\n",
                    Clock(i * 700), Clock(i * 700 + 40));
  EXPECT_THAT(RefusalOf(loop), HasSubstr(kUnknown));
  // But runs that follow one another at once are.
  std::string runs;
  for (int i = 0; i < 10; ++i)
    runs += fmt::format("2024-05-01 {} INFO the epoch begins\n2024-05-01 {} INFO all is done\n",
                        Clock(i * 700), Clock(i * 700 + 690));
  EXPECT_NEAR(OutputOf(runs).duration_ns.value_or(0), 6900e9, 1);
}

TEST(ProgramTime, FractionsThatCountNothingAreNoItems) {
  std::string sizes, ranks;
  for (int i = 1; i < 40; ++i) {
    sizes += fmt::format("2024-05-01 {} INFO disk {}/1000 GB used\n", Clock(i * 60), 100 + 3 * i);
    for (int rank = 0; rank < 4; ++rank)
      ranks += fmt::format("2024-05-01 {} INFO [rank {}] did {}/40 files\n", Clock(i * 60 + rank), rank, i);
  }
  EXPECT_FALSE(OutputOf(sizes).parts.at(0).each_ns);
  EXPECT_FALSE(OutputOf(ranks).parts.at(0).each_ns);
}

TEST(ProgramTime, TextsWithDatesAreNotAllOfPrograms) {
  std::string chat, files;
  for (int i = 0; i < 20; ++i) {
    chat += fmt::format("[2024-05-01 {}] Alice: did you run it\n", Clock(i * 600));
    files += fmt::format("-rw-r--r-- 1 root root 123 2024-05-01 {}.000 file{}.bin\n", Clock(i * 600), i);
  }
  EXPECT_THAT(RefusalOf(chat), HasSubstr(kUnknown));
  EXPECT_THAT(RefusalOf(files), HasSubstr(kUnknown));
  EXPECT_EQ(RefusalOf(kSign + chat), "");
}

TEST(ProgramTime, WhatAProgramGetsOverDoesNotEndIt) {
  const std::string thrown =
      "Traceback (most recent call last):\n  File \"x.py\", line 3\nValueError: bad json\n";
  std::string text;
  for (int i = 0; i < 10; ++i)
    text += fmt::format("2024-05-01 {} INFO case number {}\n2024-05-01 {} INFO case number {} is next\n",
                        Clock(i * 60), i, Clock(i * 60 + 50), i);
  EXPECT_EQ(OutputOf(text + thrown).error, "ValueError: bad json");
  EXPECT_EQ(OutputOf(text + thrown + "All results were written to out.json\n").error, "");
  // Of the script that calls the launcher.
  EXPECT_EQ(
      OutputOf(text + thrown +
               "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \nResults saved to: out\n")
          .error,
      "ValueError: bad json");
  EXPECT_EQ(OutputOf(text + thrown +
                     "2024-05-01 10:00:00 INFO case number 8\n2024-05-01 10:00:01 INFO case number 9\n"
                     "2024-05-01 10:00:02 INFO case number 10\n")
                .error,
            "");
}

TEST(ProgramTime, SizesAreNoTimes) {
  std::string sizes, words;
  for (int i = 0; i < 5; ++i) {
    sizes += "loaded data 3.50 (4.20) GB in batch 12.00 (16.00) GB\n";
    words += "total = 100.50 s comm = 60.10 s community service hours\n";
  }
  EXPECT_THAT(RefusalOf(sizes), HasSubstr(kUnknown));
  EXPECT_EQ(test::ReadLog(words).program_output.communication.lines, 0);
}

TEST(ProgramTime, LinesOfDateAreNamedByWhatFollows) {
  const ProgramOutput output = OutputOf(
      "Mon Feb  5 09:14:02 CET 2024\n+ python prepare.py\nread 10 files\n"
      "Mon Feb  5 09:24:42 CET 2024\n+ python train.py\nsaved the model\n"
      "Start of the test: Mon 05 Feb 2024 12:24:42 PM CET\ntesting\nMon Feb  5 12:34:42 CET 2024\n");
  ASSERT_GE(output.parts.size(), 3u);
  EXPECT_EQ(output.parts[0].name, "+ python train.py");
  EXPECT_DOUBLE_EQ(output.parts[0].ns, 3 * 3600e9);
  EXPECT_DOUBLE_EQ(output.parts[1].ns, 640e9);
  EXPECT_DOUBLE_EQ(output.parts[2].ns, 600e9);
}

TEST(ProgramTime, RequestsForEmbeddingsAreNoneOfThoseThatGenerate) {
  const auto answer = [](const char* clock, const char* took, const char* path) {
    return fmt::format("[GIN] 2025/02/25 - {} | 200 | {:>12} | 127.0.0.1 | POST     \"/api/{}\"\n", clock,
                       took, path);
  };
  const std::string embedded = answer("02:01:00", "120ms", "embed") + answer("02:01:30", "130ms", "embed");
  const ProgramOutput chats =
      OutputOf(answer("02:00:00", "20s", "chat") + embedded + answer("02:20:00", "10m0s", "chat"));
  EXPECT_EQ(chats.requests.requests, 2);
  EXPECT_DOUBLE_EQ(chats.requests.ns, 620e9);
  const ProgramOutput alone = OutputOf(embedded + answer("02:20:00", "250ms", "embed"));
  EXPECT_EQ(alone.requests.requests, 3);
  EXPECT_DOUBLE_EQ(alone.requests.ns, 0.5e9);
}

TEST(ProgramTime, AFewThatTakeNearlyAllOfABarsTime) {
  // Those that are done already pass by the hundred in a second.
  const auto bar = [](int hundreds_every) {
    std::string text;
    int done = 0;
    for (int second = 1; second <= 1000; ++second) {
      const bool passes = second % hundreds_every == 0;
      if (passes) done += 400;
      if (!passes && second % 5 == 0) ++done;
      text += fmt::format("{}it [{:02}:{:02}, 5.00s/it]\r", done, second / 60, second % 60);
    }
    return OutputOf(text + "\n");
  };
  const ProgramPart part = bar(97).parts.at(0);
  EXPECT_EQ(part.batches, 198);
  EXPECT_NEAR(*part.each_ns, 5e9, 0.2e9);
  EXPECT_EQ(part.since, 0);
  const ProgramPart even = bar(2000).parts.at(0);
  EXPECT_FALSE(even.batches);
  EXPECT_NEAR(*even.each_ns, 5e9, 0.1e9);
}

TEST(ProgramTime, RequestsTellOfPausesAndOfLayersOnTheHost) {
  const auto answer = [](const char* clock, const char* took) {
    return fmt::format("[GIN] 2025/02/25 - {} | 200 | {:>12} | 127.0.0.1 | POST     \"/api/chat\"\n", clock,
                       took);
  };
  const std::string text = "load_tensors: offloaded 65/65 layers to GPU\n" + answer("02:00:20", "20s") +
                           "load_tensors: offloaded 13/13 layers to GPU\n" + answer("02:00:30", "20s") +
                           "time=x level=INFO source=ggml.go:494 msg=\"offloaded 43/65 layers to GPU\"\n" +
                           "load_tensors: offloaded 13/13 layers to GPU\n" + answer("03:00:00", "10m0s") +
                           "load_tensors: offloaded 65/65 layers to GPU\n" + answer("03:20:00", "20s");
  const ProgramRequests requests = OutputOf(text).requests;
  EXPECT_DOUBLE_EQ(requests.span_ns.value_or(0), 80 * 60e9);
  EXPECT_DOUBLE_EQ(requests.busy_ns.value_or(0), (30 + 600 + 20) * 1e9) << "two at once";
  EXPECT_EQ(requests.partial_requests, 1);
  EXPECT_DOUBLE_EQ(requests.partial_ns, 600e9);
  EXPECT_EQ(requests.layers, 65);
  EXPECT_EQ(requests.gpu_layers, 43);
}

TEST(ProgramTime, AModelOfEmbeddingsOnTheHostIsNotTheOneThatAnswers) {
  const auto chat = [](int minute) {
    return fmt::format(
        "[GIN] 2025/02/25 - 02:{:02}:20 | 200 |          20s | 127.0.0.1 | POST     \"/api/chat\"\n", minute);
  };
  std::string text = "load_tensors: offloaded 33/33 layers to GPU\n" + chat(0) +
                     "load_tensors: offloaded 0/25 layers to GPU\n";
  for (int minute = 1; minute < 8; ++minute) text += chat(minute);
  const ProgramRequests requests = OutputOf(text).requests;
  EXPECT_EQ(requests.requests, 8);
  EXPECT_EQ(requests.partial_requests, 0);
}

TEST(ProgramTime, WhatDeepSpeedGeneratesIsNoTraining) {
  std::string text;
  for (int i = 0; i < 8; ++i)
    text += fmt::format(
        "[2024-03-01 10:{:02}:00,123] [INFO] [logging.py:96:log_dist] [Rank -1] DeepSpeed info: "
        "version=0.12.6\n",
        2 * i);
  EXPECT_EQ(OutputOf(text).program, "DeepSpeed");
  EXPECT_EQ(OutputOf(text + "Time to load transformer_inference op: 0.2 seconds\n").program,
            "DeepSpeed-Inference");
}

}  // namespace
}  // namespace dladvisor
