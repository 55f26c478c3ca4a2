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

TEST(Settings, WorkersOfPrintedConfigurations) {
  const auto workers = [](const std::string& lines) -> std::string {
    const auto settings = ReadTrainingLog(lines + StepsOf(1, 20)).settings;
    const auto found = settings.find("num_workers");
    return found == settings.end() ? "none" : found->second;
  };
  EXPECT_EQ(workers("  datasets:[\n      n_workers: 0\n      batch_size: 8\n"), "0");
  EXPECT_EQ(workers("              num_workers: 0                  [default: 4]\n"), "0");
  EXPECT_EQ(workers("    num_workers=0,\n"), "0");
  EXPECT_EQ(workers("  'dataloader_num_workers': 0,\n"), "0");
  EXPECT_EQ(workers("    num_workers=0,\n    num_workers=12,\n    num_workers=1,\n"), "12")
      << "that of the test's loader is not the training's";
  EXPECT_EQ(workers("Starting Ray with num_workers=0 and 4 actors\n"), "none");
  EXPECT_EQ(workers("prefetch workers: 0 failed\n"), "none");
  EXPECT_EQ(workers("set num_workers: 0.5\n"), "none");
}

TEST(Settings, WrapperOfMMEnginesOptimizer) {
  const auto amp = [](const std::string& lines) -> std::string {
    const auto settings = ReadTrainingLog(lines + StepsOf(1, 20)).settings;
    const auto found = settings.find("amp");
    return found == settings.end() ? "none" : found->second;
  };
  EXPECT_EQ(amp("optim_wrapper = dict(\n    type='OptimWrapper')\n"), "False");
  EXPECT_EQ(amp("optim_wrapper = dict(dtype='float16', type='AmpOptimWrapper')\n"), "True");
  EXPECT_EQ(amp("    constructor='LayerDecayOptimWrapperConstructor',\n"), "none");
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

TEST(Settings, TensorFlowWithoutLibrariesComputesOnTheCpu) {
  const std::string lacks =
      "W dso_loader.cc:55] Could not load dynamic library 'libcublas.so.10.0'; dlerror: no\n";
  std::string keras;
  for (int epoch = 1; epoch <= 3; ++epoch)
    keras += fmt::format("Epoch {}/3\n469/469 [==============================] - 3s 5ms/step - loss: 0.4\n",
                         epoch);
  const auto settings = ReadTrainingLog(lacks + keras).settings;
  EXPECT_EQ(settings.at("device"), "cpu");
  EXPECT_EQ(settings.at("gpu"), "libraries");
  const auto named =
      ReadTrainingLog(lacks + "Created device /job:localhost/task:0/device:GPU:0 with 9 MB\n" + keras)
          .settings;
  EXPECT_EQ(named.at("device"), "gpu");
  EXPECT_EQ(named.count("gpu"), 0u);
  const std::string lost =
      "cudart_stub.cc:28] Could not find cuda drivers on your machine, GPU will not be used.\n";
  EXPECT_EQ(ReadTrainingLog(lost + keras).settings.at("gpu"), "none");
  // What imports TensorFlow need not train with it.
  const auto other = ReadTrainingLog(lacks + StepsOf(1, 60)).settings;
  EXPECT_EQ(other.count("device") + other.count("gpu"), 0u);
  EXPECT_EQ(ReadTrainingLog(lost + StepsOf(1, 60)).settings.count("device"), 0u);
}

TEST(Settings, TheDeviceOfAnotherObjectIsNotTheTrainings) {
  const auto device = [](const std::string& line) {
    const auto settings = ReadTrainingLog("start\n" + line + "\n" + StepsOf(1, 60)).settings;
    const auto found = settings.find("device");
    return found == settings.end() ? "" : found->second;
  };
  for (const char* line :
       {"Using device: cpu", "device: cpu", "[2024-05-01 10:00:00] INFO - Using device: cpu",
        "INFO:root:device = cpu", "2024-05-01 10:00:00 INFO Training on device cpu",
        "Training started on cpu", "Namespace(batch_size=4, device='cpu', seed=1)",
        "TrainingArguments(lr=0.1, device=device(type='cpu'))", "Using device: cpu (no CUDA)",
        "Process rank: -1, device: cpu, n_gpu: 0", "CUDA is missing. Using device: cpu",
        "python train.py --device cpu", "10:00:00 | INFO | __main__:main:33 - Device: cpu",
        "[10:00:00,123][train][INFO] - device=cpu", "=> Using device cpu", "train.py:33: device: cpu",
        "config: {seed: 1, device: cpu}"})
    EXPECT_EQ(device(line), "cpu") << line;
  for (const char* line :
       {"model_ema: ModelEma(decay=0.999, device=cpu)", "Loaded checkpoint last.pt (device: cpu)",
        "EMA device: cpu", "ema-device: cpu", "Building optimizer, device: cpu", "Encoder: device: cpu",
        "usage: train.py [--device cpu]", "ema: device=cpu", "Reward model on device: cpu",
        "teacher, device: cpu", "Generator(seed=3, device=cpu)",
        "op MatMul placed on /job:localhost/task:0/device:CPU:0", "tensor([1., 2.], device='cpu')"})
    EXPECT_EQ(device(line), "") << line;
  for (const char* line :
       {"GPU available: True (cuda), used: True", "LOCAL_RANK: 0 - CUDA_VISIBLE_DEVICES: [0,1]",
        "Devices: [CudaDevice(id=0), CudaDevice(id=1)]"})
    EXPECT_EQ(device(std::string(line) + "\nUsing device: cpu"), "gpu") << line;
}

TEST(Settings, OptionsOnALaunchersLine) {
  const auto settings = ReadTrainingLog(
                            "cmd = python -m launch train.py --per_device_train_batch_size 4 "
                            "--gradient_checkpointing True --bf16 --dataloader_num_workers=2\n" +
                            StepsOf(1, 60))
                            .settings;
  EXPECT_EQ(settings.at("checkpoint_activations"), "True");
  EXPECT_EQ(settings.at("train_micro_batch_size_per_gpu"), "4");
  EXPECT_EQ(settings.at("bf16"), "True");
  EXPECT_EQ(settings.at("num_workers"), "2");
}

TEST(Settings, OptionsThatAProgramCouldTakeAreNotChosen) {
  for (const char* usage : {"usage: train.py [-h] --per_device_train_batch_size N [--fp16 [FP16]] "
                            "[--gradient_checkpointing [GC]]",
                            "                --per_device_train_batch_size N [--bf16 [BF16]]",
                            "  --per_device_train_batch_size N"}) {
    const auto settings = ReadTrainingLog(std::string(usage) + "\n" + StepsOf(1, 60)).settings;
    for (const char* name : {"fp16", "bf16", "checkpoint_activations", "train_micro_batch_size_per_gpu"})
      EXPECT_EQ(settings.count(name), 0u) << usage;
  }
}

TEST(Settings, DataParallelIsOneClassOfThatEnd) {
  const auto wrapper = [](const std::string& line) {
    return ReadTrainingLog(line + "\n" + StepsOf(1, 60)).settings.contains("data_parallel");
  };
  EXPECT_TRUE(wrapper("Using 2 GPUs via DataParallel"));
  EXPECT_TRUE(wrapper("DataParallel("));
  EXPECT_FALSE(wrapper("Using DistributedDataParallel"));
  EXPECT_FALSE(wrapper("torch.nn.parallel.DistributedDataParallel is used, not DataParallel"));
  EXPECT_TRUE(wrapper("Wrapping the model with nn.DataParallel."));
  EXPECT_TRUE(wrapper("  (module): DataParallel("));
  EXPECT_TRUE(wrapper("  dist: False\n  num_gpu: 8"));
  EXPECT_TRUE(wrapper("21-12-01 10:00:00.120 :   num_gpu: 2\n  dist: False"));
  EXPECT_FALSE(wrapper("  dist: False\n  num_gpu: 1"));
  EXPECT_FALSE(wrapper("  dist: True\n  num_gpu: 8"));
  for (const char* line :
       {"DataParallel: None", "multi_gpu via DataParallel: off", "DataParallel is deprecated",
        "use DataParallel only with several GPUs", "can't use DataParallel here",
        "Saved with DataParallel, loading", "Stripped the prefix module. of a checkpoint in DataParallel",
        "Single GPU, running without DataParallel", "You may want to wrap it in DataParallel",
        "using paddle.DataParallel"})
    EXPECT_FALSE(wrapper(line)) << line;
  EXPECT_FALSE(wrapper("DataParallel(\n  (_layers): ResNet("))
      << "Paddle's, which has a process for each GPU";
}

// Also within a document, where it is the log of one run.
TEST(LogSettings, EmptyMemoryOfTheGpuTellsOfTheCpu) {
  const auto text = [](double last) {
    std::string lines = "# GCN\n```\n";
    for (int step = 0; step < 60; ++step)
      lines += fmt::format("Epoch 00000 | Step {:05} | Loss 1.9 | Time 0.98 | GPU {:.1f} MB\n", step,
                           step == 59 ? last : 0.0);
    return lines + "```\n";
  };
  const TrainingLog log = ReadTrainingLog(text(0));
  EXPECT_EQ(log.iterations.size(), 60u);
  EXPECT_EQ(log.settings.at("device"), "cpu");
  EXPECT_EQ(log.settings.at("gpu"), "empty");
  EXPECT_FALSE(ReadTrainingLog(text(812.5)).settings.contains("device"));
}

}  // namespace
}  // namespace dladvisor
