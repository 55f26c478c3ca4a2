// SPDX-License-Identifier: Apache-2.0
// What lines around the steps say of the device and of what makes a training slow.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/importers/log_file.h"

namespace dladvisor {
namespace {
using test::ReadTrainingLog;
using test::StepsOf;

TEST(Settings, SizesOfTorchtitan) {
  const std::string start =
      "[rank3]:[titan] - root - INFO - Building device mesh with parallelism: pp=1, dp_replicate=1, "
      "dp_shard=8, cp=1, tp=2, ep=1, etp=1\n"
      "[rank3]:[titan] - root - INFO - CUDA capacity: NVIDIA GeForce RTX 5090 with 31.36GiB memory\n"
      "[rank3]:[titan] - root - INFO - Trainer is initialized with local batch size 8, global batch size "
      "384, "
      "gradient accumulation steps 6, sequence length 260, total steps 100 (warmup 10)\n";
  const TrainingLog log = ReadTrainingLog(start + StepsOf(1, 20));
  EXPECT_EQ(log.settings.at("train_micro_batch_size_per_gpu"), "8");
  EXPECT_EQ(log.settings.at("gradient_accumulation_steps"), "6");
  EXPECT_EQ(log.settings.at("global_batch_size"), "384");
  EXPECT_EQ(log.settings.at("tensor_model_parallel_size"), "2");
  std::string pipeline = start;
  pipeline.replace(pipeline.find("pp=1"), 4, "pp=8");
  EXPECT_FALSE(ReadTrainingLog(pipeline + StepsOf(1, 20)).settings.contains("train_micro_batch_size_per_gpu"))
      << "a pipeline splits the local batch";
}

TEST(Settings, DevicesThatTorchtitanAndUnslothName) {
  const auto step = [](int number) {
    return fmt::format(
        " - root - INFO - step: {}  loss:  8.1  memory: 9.00GiB(28.70%)  tps: 3,000  tflops: 150.30\n",
        number);
  };
  const Trace titan = test::ReadLog(
      "[rank3]:[titan] 2025-01-01 00:00:00,500 - root - INFO - CUDA capacity: NVIDIA GeForce RTX 5090 with "
      "31.36GiB memory\n[rank3]:[titan] 2025-01-01 00:00:10,500" +
      step(10) + "[rank3]:[titan] 2025-01-01 00:00:20,500" + step(20));
  ASSERT_EQ(titan.devices.size(), 1u);
  EXPECT_EQ(titan.devices[0].ordinal, 3);
  EXPECT_EQ(titan.devices[0].name, "NVIDIA GeForce RTX 5090");
  EXPECT_NEAR(static_cast<double>(titan.devices[0].memory_bytes.value_or(0)), 31.36 * 1073741824, 1e6);
  ASSERT_FALSE(titan.training_log.memory.empty());
  EXPECT_TRUE(titan.training_log.memory[0].max_reserved) << "what it prints is of the allocator";
  const Trace unsloth = test::ReadLog(
      "   \\\\   /|    NVIDIA A100-SXM4-80GB. Num GPUs = 1. Max memory: 79.254 GB. Platform: Linux.\n" +
      StepsOf(1, 20));
  ASSERT_EQ(unsloth.devices.size(), 1u);
  EXPECT_EQ(unsloth.devices[0].name, "NVIDIA A100-SXM4-80GB");
}

TEST(Settings, WarningsOfSlowPaths) {
  const TrainingLog log = ReadTrainingLog(
      "WARNING: constraints for invoking optimized fused softmax kernel are not met. We default back.\n"
      "FlashAttention2 is not installed. Falling back to eager attention.\n"
      "    warnings.warn(\"xFormers not available\")\n"
      "(WorkerDict pid=5) WARNING [cuda.py:96] To see benefits of async output processing, enable CUDA "
      "graph. "
      "Since, enforce-eager is enabled, async output processor cannot be used\n" +
      StepsOf(1, 20));
  EXPECT_TRUE(log.settings.contains("slow_path_eager"));
  EXPECT_TRUE(log.settings.contains("slow_path_softmax"));
  EXPECT_TRUE(log.settings.contains("slow_path_attention"));
  EXPECT_FALSE(log.settings.contains("slow_path_unused"));
}

TEST(Settings, AttentionIsOnASlowPathWhereItsFastOneIsWhatIsMissing) {
  for (const char* missing :
       {"Flash Attention not available, using the math kernel", "flash-attn is not installed",
        "WARNING: the package flash_attn seems to be not installed.", "`flash_attn` package not available",
        "FlashAttention (flash-attn) is not installed", "flash-attn>=2.1.0 is not installed",
        "FlashAttention-2 isn't available"})
    EXPECT_TRUE(ReadTrainingLog(missing + ("\n" + StepsOf(1, 20))).settings.contains("slow_path_attention"))
        << missing;
  for (const char* other :
       {"Flash Attention is available. FP8 not available on this GPU.", "flash_attn ok; xla not installed",
        "Some cards are not installed: flash loader; hash lash not installed",
        "FlashAttention-3 is not available, using FlashAttention-2",
        "Flash Attention 3 not available, using PyTorch SDPA fallback",
        "Flash Attention 3 not available. Falling back to Flash Attention 2."})
    EXPECT_FALSE(ReadTrainingLog(other + ("\n" + StepsOf(1, 20))).settings.contains("slow_path_attention"))
        << other;
}

TEST(Settings, StateThatGoesToTheHost) {
  EXPECT_EQ(
      ReadTrainingLog("   'optimizer_offload': True,\n" + StepsOf(1, 20)).settings.at("optimizer_offload"),
      "True");
  EXPECT_FALSE(
      ReadTrainingLog("   'param_offload': True},\n" + StepsOf(1, 20)).settings.contains("optimizer_offload"))
      << "of the reference";
}

TEST(Settings, NoGpuIsTheCpu) {
  EXPECT_EQ(ReadTrainingLog("Using CPU\n" + StepsOf(1, 20)).settings.at("device"), "cpu");
  EXPECT_FALSE(
      ReadTrainingLog("Using CPU threads to read images\n" + StepsOf(1, 20)).settings.contains("device"));
  EXPECT_EQ(
      ReadTrainingLog("COMPUTE_DTYPE: torch.float32 (auto-detected: no CUDA (CPU/MPS))\n" + StepsOf(1, 20))
          .settings.at("device"),
      "cpu");
  EXPECT_EQ(
      ReadTrainingLog("GPU available: True (cuda), used: False\n" + StepsOf(1, 20)).settings.at("device"),
      "cpu");
  EXPECT_EQ(ReadTrainingLog("Using device: mps\n" + StepsOf(1, 20)).settings.at("device"), "MPS");
  EXPECT_FALSE(ReadTrainingLog("no CUDA errors so far\n" + StepsOf(1, 20)).settings.contains("device"));
  EXPECT_EQ(ReadTrainingLog("GPU available: False, used: False\n" + StepsOf(1, 20)).settings.at("gpu"),
            "none");
  EXPECT_EQ(ReadTrainingLog("GPU available: True (cuda), used: False\n" + StepsOf(1, 20)).settings.at("gpu"),
            "unused");
}

TEST(Settings, NoGpuBesideAnotherAcceleratorIsNotTheCpu) {
  for (const char* of : {"TPU available: True, using: 8 TPU cores\n", "HPU available: True, using: 8 HPUs\n",
                         "IPU available: True, using: 4 IPUs\n"}) {
    const TrainingLog log =
        ReadTrainingLog(std::string("GPU available: False, used: False\n") + of + StepsOf(1, 20));
    EXPECT_NE(log.settings.at("device"), "cpu") << of;
  }
  EXPECT_EQ(ReadTrainingLog("GPU available: False, used: False\nTPU available: False, using: 0 TPU cores\n" +
                            StepsOf(1, 20))
                .settings.at("device"),
            "cpu");
}

TEST(Settings, AnotherAcceleratorIsNotAGpu) {
  for (const char* of :
       {"Using device: npu:0\n",
        "/usr/local/lib/python3.10/site-packages/torch_npu/utils/storage.py:38: UserWarning: deprecated\n",
        "/root/MindSpeed/mindspeed/core/tensor_parallel/layers.py:12: UserWarning: deprecated\n",
        "  distributed_backend ............................. hccl\n"})
    EXPECT_EQ(ReadTrainingLog(of + std::string("device: cuda\n") + StepsOf(1, 20)).settings.at("device"),
              "NPU")
        << of;
  EXPECT_EQ(
      ReadTrainingLog(
          "[INFO] [real_accelerator.py:203:get_accelerator] Setting ds_accelerator to npu (auto detect)\n" +
          StepsOf(1, 20))
          .settings.at("device"),
      "NPU");
  EXPECT_EQ(ReadTrainingLog("Using device: xpu\n" + StepsOf(1, 20)).settings.at("device"), "XPU");
  EXPECT_FALSE(ReadTrainingLog("No module named 'torch_npu'\n" + StepsOf(1, 20)).settings.contains("device"));
}

TEST(Settings, PaddingAndCompilation) {
  EXPECT_EQ(ReadTrainingLog("{'model': {'use_remove_padding': False}}\n" + StepsOf(1, 20))
                .settings.at("remove_padding"),
            "False");
  EXPECT_EQ(ReadTrainingLog("actor use_remove_padding=True\nref use_remove_padding=False\n" + StepsOf(1, 20))
                .settings.at("remove_padding"),
            "True");
  EXPECT_EQ(ReadTrainingLog("INFO\tTrainConfig(run_name='m', compile=None, seed=1)\n" + StepsOf(1, 20))
                .settings.at("compile"),
            "False");
  EXPECT_FALSE(ReadTrainingLog("INFO\tTrainConfig(run_name='m', compile=CompilerConfig())\n" + StepsOf(1, 20))
                   .settings.contains("compile"));
  EXPECT_FALSE(ReadTrainingLog("INFO\tTrainConfig(run_name='m', no_compile=None)\n" + StepsOf(1, 20))
                   .settings.contains("compile"));
}

TEST(Settings, PackingAndPairsOfTrl) {
  const auto settings = [](const std::string& line) {
    return ReadTrainingLog(line + "\n" + StepsOf(1, 20)).settings;
  };
  EXPECT_EQ(settings("SFTConfig(packing=True, max_length=500)").at("packing"), "True");
  EXPECT_EQ(settings("python sft.py --packing true --bf16").at("packing"), "True");
  EXPECT_EQ(settings("packing: false").at("packing"), "False");
  EXPECT_FALSE(settings("eval_packing=True").contains("packing"));
  EXPECT_EQ(settings("{'loss': 0.6, 'rewards/chosen': 0.1}").at("preferences"), "True");
}

}  // namespace
}  // namespace dladvisor
