// SPDX-License-Identifier: Apache-2.0
// The lines and bars that Keras prints of its epochs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ExpectSeconds;
using test::LogOf;
using test::ReadTrainingLog;
using test::Seconds;

// "800/800 [====] - 3s 4ms/step - loss: 0.5" for each epoch of a fold.
std::string KerasFold(int samples, int epochs, const char* unit) {
  std::string text = "Train on " + std::to_string(samples) + " samples, validate on 200 samples\n";
  const std::string all = std::to_string(samples);
  for (int epoch = 1; epoch <= epochs; ++epoch)
    text += "Epoch " + std::to_string(epoch) + "/" + std::to_string(epochs) + "\n" + all + "/" + all +
            " [==============================] - 3s 4ms/" + unit + " - loss: 0.5 - val_loss: 0.4\n";
  return text;
}

// Before it counted steps, Keras counted samples.
TEST(KerasLines, KerasThatCountsSamples) {
  const TrainingLog log = LogOf(
      "Train on 58 samples, validate on 26 samples\nEpoch 1/3\n"
      "58/58 [==============================] - 0s 7ms/step - loss: 1.25 - val_loss: 1.0\nEpoch 2/3\n"
      "58/58 [==============================] - 0s 150us/step - loss: 1.20 - val_loss: 1.0\nEpoch 3/3\n"
      "58/58 [==============================] - 0s 100us/step - loss: 1.10 - val_loss: 1.0\n");
  EXPECT_TRUE(log.of_epochs);
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[2].iteration, 3);
  EXPECT_EQ(log.iterations[2].covers, 1);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[2]), 0.0058);
}

TEST(KerasLines, FoldsOfKerasThatCountTheirOwnSamples) {
  for (const char* unit : {"step", "sample"})
    for (const auto& [first, second] : {std::pair{800, 801}, {801, 800}, {500, 700}}) {
      const TrainingLog log = LogOf(KerasFold(first, 2, unit) + KerasFold(second, 3, unit));
      EXPECT_TRUE(log.of_epochs);
      ASSERT_EQ(log.iterations.size(), 5u) << first;
      EXPECT_EQ(log.iterations[2].iteration, 1);
      EXPECT_EQ(log.iterations[2].attempt, 1);
      EXPECT_EQ(log.iterations[4].iteration, 3);
      EXPECT_DOUBLE_EQ(Seconds(log.iterations[4]), 0.004 * second);
    }
  EXPECT_THROW(LogOf("60000/60000 [====] - 5s 81us/sample\n"), Error);
}

TEST(KerasLines, KerasInOneLineForAnEpoch) {
  const TrainingLog log = LogOf(
      "Epoch 1/3\n19/19 - 38s - loss: 0.3384 - accuracy: 0.3406\nEpoch 2/3\n19/19 - 19s - loss: 0.2871\n"
      "Epoch 3/3\n19/19 - 4s - loss: 0.2450\n");
  EXPECT_EQ(log.program, "Keras");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_EQ(log.iterations[1].iteration, 38);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 2);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 1);
  EXPECT_FALSE(log.iterations[2].elapsed_ns) << "four rounded seconds are too rough";
}

// As of Keras 3, with its metrics in the order of their names.
TEST(KerasLines, KerasInOneLineForAnEpochWithTheTimeOfAStep) {
  const TrainingLog log = LogOf(
      "Epoch 1/3\n19/19 - 38s - 2s/step - dice: 0.3 - loss: 0.3384 - val_loss: 0.5\nEpoch 2/3\n"
      "19/19 - 6s - 313ms/step - dice: 0.4 - loss: 0.2871 - val_loss: 0.4\nEpoch 3/3\n"
      "19/19 - 0s - 750us/step - dice: 0.5 - loss: 0.2450 - val_loss: 0.4\n");
  EXPECT_EQ(log.program, "Keras");
  ASSERT_EQ(log.iterations.size(), 3u);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[0]), 2);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[1]), 0.313);
  EXPECT_DOUBLE_EQ(Seconds(log.iterations[2]), 0.00075);
  EXPECT_DOUBLE_EQ(*log.iterations[1].loss, 0.2871);
}

}  // namespace
}  // namespace dladvisor
