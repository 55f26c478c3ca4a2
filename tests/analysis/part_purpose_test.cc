// SPDX-License-Identifier: Apache-2.0
#include "src/analysis/training/part_purpose.h"

#include <gtest/gtest.h>

namespace dladvisor {
namespace {

TEST(PartPurpose, IsToldByTheNameOfAPart) {
  const struct {
    const char *name, *purpose;
  } kCases[] = {
      {"data loading", "input"},
      {"DataLoader time", "input"},
      {"data_time", "input"},
      {"load batch", "input"},
      {"read_images", "input"},
      {"h2d", "transfer"},
      {"copy to GPU", "transfer"},
      {"Preprocess", "preprocessing"},
      {"tokenization", "preprocessing"},
      {"detokenize", "postprocessing"},
      {"NMS", "postprocessing"},
      {"opt_step", "optimizer"},
      {"optimizer", "optimizer"},
      {"validation", "evaluation"},
      {"eval_time", "evaluation"},
      {"save checkpoint", "checkpoint"},
      {"Loading checkpoint", "weights"},
      {"Model loading time", "weights"},
      {"load_model", "weights"},
      {"torch.compile", "compilation"},
      {"warmup", "compilation"},
      {"allreduce", "communication"},
      {"grad sync", "communication"},
      {"env step", "environment"},
      {"write results", "output"},
      {"validation data loading", "input"},
  };
  for (const auto& [name, purpose] : kCases) EXPECT_EQ(PartPurpose(name), purpose) << name;
}

TEST(PartPurpose, IsUnknownOfWhatTheModelDoes) {
  for (const char* name :
       {"forward", "backward", "Inference", "decode", "prefill", "transformer", "prompt eval duration",
        "eval duration", "attention", "loss", "training", "database query", "payload", "kernel", "iteration",
        "compile_dataset", "warmup_epochs"})
    EXPECT_EQ(PartPurpose(name), "") << name;
}

}  // namespace
}  // namespace dladvisor
