// SPDX-License-Identifier: Apache-2.0
// Lines of steps and epochs in other words than English ones, and in capitals.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;

TEST(TranslatedWords, ChineseEpochsWithTheirLoading) {
  const TrainingLog log = ReadTrainingLog(LinesOf(1, 12, 1, [](int epoch) {
    return fmt::format("第 {} 轮训练完成，损失：0.5{}，准确率：0.89，用时：128.5秒，其中数据加载耗时：61.0秒",
                       epoch, epoch);
  }));
  EXPECT_TRUE(log.of_epochs);
  ASSERT_EQ(log.iterations.size(), 12u);
  ExpectSeconds(log, 3, 128.5);
  ASSERT_EQ(log.timers.size(), 12u);
  EXPECT_DOUBLE_EQ(log.timers[3].ns.value_or(0), 61e9);
}

TEST(TranslatedWords, ChineseStepsOfAWhole) {
  const TrainingLog log = ReadTrainingLog(LinesOf(50, 1000, 50, [](int step) {
    return fmt::format("训练进度: {}/20000, 损失 2.0, 每步耗时 0.43 秒, 剩余时间 2 小时 13 分", step);
  }));
  ASSERT_EQ(log.iterations.size(), 20u);
  ExpectSeconds(log, 3, 0.43);
}

TEST(TranslatedWords, JapaneseAndKorean) {
  ExpectSeconds(
      ReadTrainingLog(LinesOf(
          1, 12, 1,
          [](int epoch) { return fmt::format("エポック {}/100 - 損失: 0.31 - 所要時間: 75.5秒", epoch); })),
      3, 75.5);
  ExpectSeconds(
      ReadTrainingLog(LinesOf(
          1, 12, 1,
          [](int epoch) { return fmt::format("에포크 {}/100, 손실: 0.31, 소요 시간: 75.5초", epoch); })),
      3, 75.5);
}

TEST(TranslatedWords, NamesInCapitals) {
  ExpectSeconds(
      ReadTrainingLog(LinesOf(
          1, 12, 1,
          [](int epoch) { return fmt::format("EPOCH : {}  LOSS : 0.31  ACC : 0.91  TIME : 343.2", epoch); })),
      3, 343.2);
}

TEST(TranslatedWords, ATableWithAChineseHead) {
  std::string text = "训练轮次\t损失\t准确率\t耗时(秒)\n";
  for (int epoch = 1; epoch <= 9; ++epoch) text += fmt::format("{}\t0.31\t0.91\t65.5\n", epoch);
  ExpectSeconds(ReadTrainingLog(text), 3, 65.5);
}

}  // namespace
}  // namespace dladvisor
