// SPDX-License-Identifier: Apache-2.0
#include "examples/megatron-gpt/runs.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "examples/megatron-gpt/ops.h"

namespace dladvisor::example {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

Op KnownOp(std::string path, std::string module, Phase phase, Thread thread, int64_t calls, std::string shape,
           std::string dtype, std::vector<Part> parts) {
  std::string type = path.substr(path.rfind('/') + 1);
  return {std::move(path), std::move(type),  std::move(module), phase,           thread,
          calls,           std::move(shape), std::move(dtype),  std::move(parts)};
}

Part Known(std::string kernel, int64_t ns, int64_t launches) {
  return {std::move(kernel), Kind::kKnown, ns, launches};
}

// The GPU time of a mixed-precision product: mostly on tensor cores, the rest in kernels around them.
std::vector<Part> MixedProduct(int64_t ns, int64_t tensor_percent, int64_t calls, size_t variant) {
  const int64_t tensor = ns / 100 * tensor_percent;
  return {Known(TensorKernel(Precision::kMixed, variant), tensor, calls),
          Known(CopyKernel(), ns - tensor, calls / 2)};
}

bool IsProduct(const Op& op) {
  static const std::array<std::string, 5> kTypes = {"linear", "mm", "bmm", "baddbmm", "pin_memory"};
  return std::find(kTypes.begin(), kTypes.end(), op.type) != kTypes.end();
}

bool IsTensor(const Part& part) {
  return part.kernel.find("s1688gemm") != std::string::npos ||
         part.kernel.find("s16816gemm") != std::string::npos;
}

// Gives the weighted parts what the run's totals leave for their kind, to the nanosecond.
void ResolveTimes(Run& run) {
  int64_t left[4] = {0, run.tensor_ns, run.eligible_ns - run.tensor_ns, run.kernel_ns - run.eligible_ns};
  int64_t weights[4] = {0, 0, 0, 0};
  for (const Op& op : run.ops)
    for (const Part& part : op.parts) {
      if (part.kind == Kind::kKnown)
        left[static_cast<int>(IsTensor(part)  ? Kind::kTensor
                              : IsProduct(op) ? Kind::kEligible
                                              : Kind::kOther)] -= part.amount;
      else
        weights[static_cast<int>(part.kind)] += part.amount;
    }
  for (Op& op : run.ops)
    for (Part& part : op.parts) {
      if (part.kind == Kind::kKnown) continue;
      const auto kind = static_cast<size_t>(part.kind);
      if (left[kind] <= 0) throw std::logic_error(run.name + ": the known ops exceed the run's totals");
      const int64_t ns =
          left[kind] / weights[kind] * part.amount + left[kind] % weights[kind] * part.amount / weights[kind];
      left[kind] -= ns;
      weights[kind] -= part.amount;
      part.amount = ns;
      part.kind = Kind::kKnown;
    }
}

Run Finish(Run run, Precision precision, std::vector<Op> known) {
  run.ops = RemainingOps(precision, known);
  run.ops.insert(run.ops.begin(), std::make_move_iterator(known.begin()),
                 std::make_move_iterator(known.end()));
  ResolveTimes(run);
  return run;
}

Op Save(const std::string& parent, Phase phase, int64_t ns) {
  return KnownOp(parent + "/save_checkpoint/save", "torch", phase, Thread::kMain, 1, "", "float32",
                 {Known(CopyKernel(), ns, 320)});
}

}  // namespace

Run NaiveRun() {
  Run run;
  run.name = "gpt3_750m_naive";
  run.wall_ns = 98'412'683'104;
  run.kernel_ns = 27'655'118'420;
  run.eligible_ns = 12'003'417'266;
  run.tensor_ns = 5'101'905'381;
  run.memory_bytes = 48'685 * kMiB;
  run.peak_bytes = 18'690 * kMiB;
  run.steps = 100;
  run.setup_ns = 11'800'000'000;
  run.save_ns = 1'600'000'000;
  run.between_ops_ns = 940'000;
  run.seed = 20210819;
  const std::string optimizer = kTrainStep + "/no_grad::decorate_context/FP32Optimizer::step";
  const std::string reduce = kTrainStep + "/DistributedDataParallel::allreduce_gradients";
  const std::string parameters = "(355919872,)", hidden = "(512, 8, 1024)", wide = "(512, 8, 4096)";
  const auto fp32 = Precision::kFp32;
  return Finish(
      run, fp32,
      {KnownOp(optimizer + "/wrapper/step", "apex.optimizers", Phase::kOptimizer, Thread::kMain, 100,
               parameters, "float32", {Known(MultiTensorKernel("AdamFunctor<float>"), 3'073'524'010, 400)}),
       Save("/module/pretrain", Phase::kEndCheckpoint, 2'121'781'520),
       Save("/module/pretrain/train/save_checkpoint_and_time", Phase::kCheckpoint, 2'113'616'610),
       KnownOp(ForwardLayer(fp32) + kMlp + kColumn + "/linear", "torch.nn.functional", Phase::kForward,
               Thread::kMain, 2400, hidden, "float32", {Known(PlainGemmKernel(0), 1'613'730'568, 2400)}),
       KnownOp(kRecompute + kMlp + kColumn + "/linear", "torch.nn.functional", Phase::kBackward,
               Thread::kAutograd, 2400, hidden, "float32", {Known(PlainGemmKernel(1), 1'611'664'207, 2400)}),
       KnownOp(reduce + "/copy_", "Tensor", Phase::kReduce, Thread::kMain, 29200, "(1024, 4096)", "float32",
               {Known(CopyKernel(), 941'545'051, 29200)}),
       KnownOp(kRecompute + kMlp + kMlpRow + "/linear", "torch.nn.functional", Phase::kBackward,
               Thread::kAutograd, 1529, wide, "float32", {Known(TensorKernel(fp32, 0), 886'010'843, 1529)}),
       KnownOp(optimizer + "/FP32Optimizer::clip_grad_norm/clip_grad_norm_fp32/MultiTensorApply::_call__(2)/"
                           "multi_tensor_scale",
               "amp_C", Phase::kOptimizer, Thread::kMain, 100, parameters, "float32",
               {Known(MultiTensorKernel("ScaleFunctor<float, float>"), 882'259'289, 400)}),
       KnownOp(
           reduce + "/_flatten_dense_tensors/cat", "torch", Phase::kReduce, Thread::kMain, 100, parameters,
           "float32",
           {Known("void at::native::CatArrayBatchedCopy<float, unsigned int, (int)1, (int)128, (int)1>(T1 *, "
                  "at::native::CatArrInputTensorMetadata<T1, T2, T4, T5>, int, T2)",
                  871'612'799, 300)}),
       KnownOp(reduce + "/_itruediv__", "Tensor", Phase::kReduce, Thread::kMain, 100, parameters, "float32",
               {Known(ElementwiseKernel(fp32, "at::native::MulScalarFunctor"), 856'341'817, 100)})});
}

Run MixedRun() {
  Run run;
  run.name = "gpt3_750m_second_run";
  run.wall_ns = 130'187'540'912;
  run.kernel_ns = 21'741'836'305;
  run.eligible_ns = 7'012'380'114;
  run.tensor_ns = 4'853'266'008;
  run.memory_bytes = 48'685 * kMiB;
  run.peak_bytes = 20'160 * kMiB;
  run.steps = 100;
  run.setup_ns = 10'900'000'000;
  run.save_ns = 1'600'000'000;
  run.between_ops_ns = 1'020'000;
  run.seed = 20210820;
  const std::string name = "Float16OptimizerWithFloat16Params";
  const std::string optimizer = kTrainStep + "/no_grad::decorate_context/" + name + "::step";
  const std::string parameters = "(355919872,)", hidden = "(512, 8, 1024)", wide = "(512, 8, 4096)";
  const auto mixed = Precision::kMixed;
  const std::string linear = "torch.nn.functional";
  // Paths as the slides print them, a stray slash within clip_grad_norm_fp32 included.
  return Finish(
      run, mixed,
      {KnownOp(optimizer + "/wrapper/step", "apex.optimizers", Phase::kOptimizer, Thread::kMain, 81,
               parameters, "float32", {Known(MultiTensorKernel("AdamFunctor<float>"), 2'492'911'136, 324)}),
       Save("/module/pretrain/train/save_checkpoint_and_time", Phase::kCheckpoint, 2'182'500'795),
       Save("/module/pretrain", Phase::kEndCheckpoint, 2'052'579'284),
       KnownOp("/Thread::_bootstrap/Thread::_bootstrap_inner/Thread::run_pin_memory_loop/pin_memory/dictcomp/"
               "pin_memory/pin_memory",
               "Tensor", Phase::kInput, Thread::kPinMemory, 40, "(8, 513)", "int64",
               MixedProduct(1'317'276'697, 62, 400, 0)),
       KnownOp(optimizer + "/" + name + "::_copy_model_grads_to_main_grads/float", "Tensor",
               Phase::kOptimizer, Thread::kMain, 29200, "(1024, 4096)", "float16",
               {Known(CopyKernel(), 788'590'231, 29200)}),
       KnownOp(optimizer + "/" + name +
                   "::clip_grad_norm/clip_grad_norm_fn/p32/MultiTensorApply::_call__(2)/multi_tensor_scale",
               "amp_C", Phase::kOptimizer, Thread::kMain, 81, parameters, "float32",
               {Known(MultiTensorKernel("ScaleFunctor<float, float>"), 715'347'840, 324)}),
       KnownOp(kRecompute + kAttention + kColumn + "/linear", linear, Phase::kBackward, Thread::kAutograd,
               2015, hidden, "float16", MixedProduct(673'714'167, 93, 2015, 0)),
       KnownOp(optimizer + "/" + name +
                   "::_copy_main_params_to_model_params/_multi_tensor_copy_this_to_that/copy_",
               "Tensor", Phase::kOptimizer, Thread::kMain, 23652, "(1024, 4096)", "float16",
               {Known(CopyKernel(), 617'281'886, 23652)}),
       KnownOp(kRecompute + kMlp + kColumn + "/linear", linear, Phase::kBackward, Thread::kAutograd, 1616,
               hidden, "float16", MixedProduct(582'065'750, 93, 1616, 1)),
       KnownOp(kRecompute + kMlp + kMlpRow + "/linear", linear, Phase::kBackward, Thread::kAutograd, 1720,
               wide, "float16", MixedProduct(573'974'613, 93, 1720, 2))});
}

SystemInfo MachineOfRuns() {
  SystemInfo system;
  system.gpu_count = 1;
  system.cpu_cores = 64;
  system.host = "workstation";
  system.os = "Ubuntu 20.04.1 LTS";
  system.cpu_model = "AMD Ryzen Threadripper 3970X 32-Core Processor";
  system.driver_version = "460.73.01";
  system.cuda_version = "11.2";
  system.framework = "PyTorch 1.9.0a0+df837d0";
  system.environment = {{"PYTORCH_VERSION", "1.9.0a0+df837d0"}, {"WORLD_SIZE", "1"}, {"RANK", "0"}};
  system.start_utc_ns = 1'629'358'000 * kSecond;
  return system;
}

GpuInfo GpuOf(const Run& run) {
  GpuInfo gpu;
  gpu.name = "RTX A6000";
  gpu.chip = "GA102";
  gpu.bus = "0000:21:00.0";
  gpu.memory_bytes = run.memory_bytes;
  gpu.memory_bandwidth = 768'096'000'000;
  gpu.l2_bytes = 6 * kMiB;
  gpu.clock_hz = 1'800'000'000;
  gpu.sm_count = 84;
  gpu.compute_major = 8;
  gpu.compute_minor = 6;
  return gpu;
}

}  // namespace dladvisor::example
