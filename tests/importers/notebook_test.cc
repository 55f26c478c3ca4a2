// SPDX-License-Identifier: Apache-2.0
// What cells of notebooks printed, and what documents quote.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using nlohmann::json;
using test::ExpectSeconds;
using test::LinesOf;
using test::ReadTrainingLog;
using test::RefusalOf;
using testing::HasSubstr;

std::string NotebookOf(const json& outputs) {
  const json cell = {{"cell_type", "code"}, {"source", {"train()"}}, {"outputs", outputs}};
  const json notebook = {{"cells", json::array({cell})}, {"nbformat", 4}};
  return notebook.dump();
}

json Stream(const std::string& text) {
  return {{"output_type", "stream"}, {"name", "stdout"}, {"text", json::array({text})}};
}

TEST(Notebook, WhatACellPrints) {
  const std::string text = LinesOf(1, 6, 1, [](int epoch) {
    return fmt::format("Epoch {}/6, Loss: 0.365, Time: 42.50s, Data: 21.25s", epoch);
  });
  const TrainingLog log = ReadTrainingLog(NotebookOf(json::array({Stream(text)})));
  ASSERT_EQ(log.iterations.size(), 6u);
  ExpectSeconds(log, 3, 42.5);
}

TEST(Notebook, OfColabWithItsCellsBehindALongHead) {
  const std::string text =
      LinesOf(1, 6, 1, [](int epoch) { return fmt::format("Epoch {}/6, Loss: 0.365, Time: 42.50s", epoch); });
  std::string notebook = NotebookOf(json::array({Stream(text)}));
  notebook.replace(
      0, 1,
      R"({"nbformat":4,"nbformat_minor":0,"metadata":{"widgets":")" + std::string(1'000'000, 'x') + R"("},)");
  EXPECT_EQ(ReadTrainingLog(notebook).iterations.size(), 6u);
}

TEST(Notebook, AnErrorEndsTheTraining) {
  const std::string text =
      LinesOf(1, 6, 1, [](int epoch) { return fmt::format("Epoch {}, Loss: 0.5, Time: 42.5s", epoch); });
  const json error = {
      {"output_type", "error"}, {"ename", "OutOfMemoryError"}, {"evalue", "CUDA out of memory."}};
  EXPECT_EQ(ReadTrainingLog(NotebookOf(json::array({Stream(text), error}))).error,
            "OutOfMemoryError: CUDA out of memory");
}

TEST(Notebook, TheBarOfATrainerInHtml) {
  const json bar = {{"output_type", "display_data"},
                    {"data", {{"text/html", {"<div>\n", "[1000/1000 08:20, Epoch 2/2]\n", "</div>"}}}}};
  const json result = {
      {"output_type", "execute_result"},
      {"data",
       {{"text/plain",
         {"TrainOutput(global_step=1000, training_loss=0.26, metrics={'train_runtime': 500.5, "
          "'train_samples_per_second': 32.0, 'train_steps_per_second': 2.0, 'epoch': 2.0})"}}}}};
  const TrainingLog log = ReadTrainingLog(NotebookOf(json::array({bar, result})));
  ASSERT_EQ(log.iterations.size(), 1u);
  EXPECT_EQ(log.iterations[0].iteration, 1000);
  ExpectSeconds(log, 0, 0.5);
}

TEST(Notebook, TheLogThatKaggleKeepsOfARun) {
  json parts = json::array();
  for (int epoch = 1; epoch <= 6; ++epoch)
    parts.push_back({{"stream_name", "stdout"},
                     {"time", 41.5 * epoch},
                     {"data", fmt::format("Epoch {}/6 - loss: 0.5 - time: 41.5s\n", epoch)}});
  std::string text = "[";
  for (const json& part : parts)
    text += fmt::format(R"({}{{"stream_name":"stdout","time":{},"data":{}}})", text.size() > 1 ? "\n," : "",
                        part["time"].dump(), part["data"].dump());
  ExpectSeconds(ReadTrainingLog(text + "\n]"), 3, 41.5);
}

TEST(Notebook, OneWithoutOutputsIsRefused) {
  EXPECT_THAT(RefusalOf(NotebookOf(json::array())), HasSubstr("without the output of a cell"));
  EXPECT_THAT(RefusalOf(NotebookOf(json::array({Stream("hello\n")}))), HasSubstr("no cell printed a log"));
  EXPECT_THAT(RefusalOf(R"({"cells": [{"cell_type": "code")"), HasSubstr("cut or not JSON"));
}

std::string Quoted(double seconds) {
  return "```\n" +
         LinesOf(10, 100, 10,
                 [&](int step) { return fmt::format("step {} loss 2.1, {:.3f} s/step", step, seconds); }) +
         "```\n";
}

TEST(QuotedLog, ADocumentWithASingleLogIsReadAsThat) {
  const std::string text = "# Slow\n\n```bash\npython train.py\n```\n\n" + Quoted(0.25) + "Why?\n";
  ExpectSeconds(ReadTrainingLog(text), 3, 0.25);
}

TEST(QuotedLog, OfTwoLogsNeitherIsRead) {
  EXPECT_THAT(RefusalOf("# Slow\n\n" + Quoted(0.25) + "and\n" + Quoted(0.5)),
              HasSubstr("a document that quotes"));
}

}  // namespace
}  // namespace dladvisor
