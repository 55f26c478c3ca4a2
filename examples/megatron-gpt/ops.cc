// SPDX-License-Identifier: Apache-2.0
#include "examples/megatron-gpt/ops.h"

#include <array>
#include <cstdint>
#include <utility>

namespace dladvisor::example {
namespace {

const std::string kLayer = "/ParallelTransformerLayer::_call_impl/ParallelTransformerLayer::forward";
const std::string kEvaluationLayer =
    "/ParallelTransformerLayer::_call_impl(2)/ParallelTransformerLayer::forward";
const std::string kAttentionRow = "/RowParallelLinear::_call_impl/RowParallelLinear::forward";
const std::string kHidden = "(512, 8, 1024)", kWide = "(512, 8, 4096)", kScores = "(128, 512, 512)",
                  kLogits = "(512, 8, 56320)";

// An op of one transformer layer; `weight` says how its GPU time compares with the others'.
struct LayerOp {
  std::string path, type, module, shape;
  bool gemm;
  int64_t weight;
};

const std::vector<LayerOp>& LayerOps() {
  static const std::vector<LayerOp> ops = {
      {kAttention + kColumn, "linear", "torch.nn.functional", kHidden, true, 30},
      {kAttention, "baddbmm", "torch", kScores, true, 14},
      {kAttention, "bmm", "torch", kScores, true, 12},
      {kAttention + kAttentionRow, "linear", "torch.nn.functional", kHidden, true, 16},
      {kMlp + kColumn, "linear", "torch.nn.functional", kHidden, true, 40},
      {kMlp + kMlpRow, "linear", "torch.nn.functional", kWide, true, 40},
      {"/MixedFusedLayerNorm::_call_impl/MixedFusedLayerNorm::forward", "fused_layer_norm_affine", "apex",
       kHidden, false, 10},
      {"/MixedFusedLayerNorm::_call_impl(2)/MixedFusedLayerNorm::forward", "fused_layer_norm_affine", "apex",
       kHidden, false, 10},
      {kAttention + "/FusedScaleMaskSoftmax::_call_impl/FusedScaleMaskSoftmax::forward", "softmax",
       "torch.nn.functional", kScores, false, 22},
      {kAttention + "/Dropout::_call_impl/Dropout::forward", "dropout", "torch.nn.functional", kScores, false,
       16},
      {kMlp + "/bias_gelu_impl", "bias_gelu", "torch", kWide, false, 14},
      {"/bias_dropout_add", "dropout", "torch.nn.functional", kHidden, false, 9},
  };
  return ops;
}

const char* FunctorOf(const std::string& type) {
  if (type == "dropout") return "at::native::FusedDropoutFunctor";
  if (type == "bias_gelu") return "at::native::GeluFunctor";
  if (type == "add" || type == "add_") return "at::native::AddFunctor";
  if (type == "mul" || type == "sum") return "at::native::MulFunctor";
  return "at::native::FillFunctor";
}

std::string OtherKernel(Precision precision, const std::string& type) {
  if (type == "softmax")
    return precision == Precision::kFp32
               ? "void softmax_warp_forward<float, float, float, (int)9, (bool)0>(T2 *, const T1 *, int, "
                 "int, int)"
               : "void scaled_upper_triang_masked_softmax_warp_forward<__half, __half, float, (int)9>(T2 *, "
                 "const T1 *, T3, int, int, int)";
  if (type == "fused_layer_norm_affine")
    return precision == Precision::kFp32 ? "void cuApplyLayerNorm<float, float, float>(T3 *, T2 *, T2 *, "
                                           "const T1 *, int, int, T2, const T3 "
                                           "*, const T3 *)"
                                         : "void cuApplyLayerNorm<c10::Half, float, c10::Half>(T3 *, T2 *, "
                                           "T2 *, const T1 *, int, int, T2, "
                                           "const T3 *, const T3 *)";
  return ElementwiseKernel(precision, FunctorOf(type));
}

class OpList {
 public:
  OpList(Precision precision, const std::vector<Op>& known) : precision_(precision), known_(known) {}

  std::vector<Op> Build() {
    const std::string evaluation = "/evaluate_and_print_results/evaluate/forward_step";
    const std::string model = Model(), transformer = model + "/ParallelTransformer::_call_impl(2)" +
                                                     "/ParallelTransformer::forward";
    AddLayer(ForwardLayer(precision_), Phase::kForward, Thread::kMain, 800, 10);
    AddLogits(Forward(), Phase::kForward, 100, 20);
    AddLayer(kRecompute, Phase::kBackward, Thread::kAutograd, 800, 10);
    AddLayer("/CheckpointFunctionBackward::apply/backward/ParallelTransformer::custom_forward" + kLayer,
             Phase::kBackward, Thread::kAutograd, 400, 4);
    AddGradients("/_VocabParallelCrossEntropyBackward::apply/backward/backward", 500, 8, true);
    AddGradients("/CheckpointFunctionBackward::apply/backward/backward", 300, 4, false);
    for (const auto& [prefix, phase] :
         {std::pair("/module/pretrain/train" + evaluation, Phase::kEvaluation),
          std::pair("/module/pretrain" + evaluation, Phase::kEndEvaluation),
          std::pair(std::string("/module/pretrain/evaluate_and_print_results(2)/evaluate/forward_step"),
                    Phase::kEndEvaluation)}) {
      AddLayer(prefix + transformer + kEvaluationLayer, phase, Thread::kMain, 120, 2);
      AddLogits(prefix, phase, 10, 4);
    }
    AddSetup();
    AddInput();
    AddLoss();
    AddOptimizer();
    return std::move(ops_);
  }

 private:
  std::string Model() const {
    const std::string half =
        precision_ == Precision::kMixed ? "/Float16Module::_call_impl/Float16Module::forward" : std::string();
    return "/DistributedDataParallel::_call_impl/DistributedDataParallel::forward" + half +
           "/GPTModel::_call_impl/GPTModel::forward/TransformerLanguageModel::_call_impl/"
           "TransformerLanguageModel::forward";
  }
  static std::string Forward() { return kTrainStep + "/forward_backward_no_pipelining/forward_step"; }
  std::string Type() const { return precision_ == Precision::kFp32 ? "float32" : "float16"; }

  // Ops on tensors of the model's own precision.
  void Add(const std::string& parent, const std::string& type, const std::string& module, Phase phase,
           Thread thread, int64_t calls, const std::string& shape, std::vector<Part> parts,
           const std::string& suffix = "") {
    Op op{parent + "/" + type + suffix, type, module, phase, thread, calls, shape, Type(), std::move(parts)};
    for (const Op& known : known_)
      if (known.path == op.path) return;
    ops_.push_back(std::move(op));
  }

  // In FP32, cuBLAS took TF32 kernels for about half of the products; in mixed precision tensor cores do
  // them, beside kernels that transpose their input or add up their partial sums.
  std::vector<Part> GemmParts(int64_t calls, int64_t weight) {
    const size_t n = gemms_++;
    if (precision_ == Precision::kFp32)
      return {n % 2 == 0 ? Part{TensorKernel(precision_, n / 2), Kind::kTensor, weight, calls}
                         : Part{PlainGemmKernel(n / 2), Kind::kEligible, weight, calls}};
    return {{TensorKernel(precision_, n), Kind::kTensor, weight, calls},
            {n % 3 == 0
                 ? CopyKernel()
                 : "void splitKreduce_kernel<(int)32, (int)16, int, float, __half, float, __half, (bool)1, "
                   "(bool)0, (bool)0>(cublasSplitKParams<T6>, const T4 *, const T5 *, T5 *)",
             Kind::kEligible, weight, calls / 2}};
  }

  void AddLayer(const std::string& prefix, Phase phase, Thread thread, int64_t calls, int64_t scale) {
    for (const LayerOp& op : LayerOps()) {
      const int64_t weight = op.weight * scale;
      Add(prefix + op.path, op.type, op.module, phase, thread, calls, op.shape,
          op.gemm ? GemmParts(calls, weight)
                  : std::vector<Part>{{OtherKernel(precision_, op.type), Kind::kOther, weight, calls}});
    }
  }

  // Each product has two gradients: of its input and of its weight. Where activations are recomputed, the
  // first backward pass under a path shows both.
  void AddGradients(const std::string& prefix, int64_t calls, int64_t scale, bool separate) {
    for (const LayerOp& op : LayerOps()) {
      const int64_t weight = op.weight * scale;
      if (!op.gemm) {
        Add(prefix + op.path, op.type + "_backward", "torch", Phase::kBackward, Thread::kAutograd, calls,
            op.shape, {{OtherKernel(precision_, op.type), Kind::kOther, weight, calls}});
        continue;
      }
      const std::string type = op.type == "linear" ? "mm" : "bmm";
      const std::string parent = prefix + op.path + (op.type == "linear" ? "" : "/" + op.type);
      for (const char* suffix : {"", "(2)"}) {
        Add(parent, type, "torch", Phase::kBackward, Thread::kAutograd, calls, op.shape,
            GemmParts(calls, weight), suffix);
        if (!separate) break;
      }
    }
    if (!separate) return;
    for (const char* suffix : {"", "(2)"})
      Add(prefix + "/parallel_lm_logits", "mm", "torch", Phase::kBackward, Thread::kAutograd, 100, kLogits,
          GemmParts(100, 20 * scale), suffix);
  }

  void AddLogits(const std::string& prefix, Phase phase, int64_t calls, int64_t scale) {
    Add(prefix + "/post_language_model_processing/parallel_lm_logits", "linear", "torch.nn.functional", phase,
        Thread::kMain, calls, kLogits, GemmParts(calls, 20 * scale));
  }

  void AddOther(const std::string& parent, const std::string& type, const std::string& module, Phase phase,
                int64_t calls, const std::string& shape, int64_t weight) {
    std::vector<Part> parts;
    if (weight > 0)
      parts = {{type == "copy_" || type == "contiguous" ? CopyKernel() : OtherKernel(precision_, type),
                Kind::kOther, weight, calls}};
    Add(parent, type, module, phase, Thread::kMain, calls, shape, std::move(parts));
  }

  void AddSetup() {
    const std::string setup = "/module/pretrain/setup_model_and_optimizer/get_model";
    AddOther(setup + "/model_provider/GPTModel::__init__/init_method_normal/init_", "normal_", "Tensor",
             Phase::kSetup, 146, "(1024, 4096)", 20);
    AddOther(setup + "/GPTModel::cuda/GPTModel::_apply/lambda", "cuda", "Tensor", Phase::kSetup, 292,
             "(1024, 4096)", 0);
    AddOther(setup + "/DistributedDataParallel::__init__", "zeros", "torch", Phase::kSetup, 2, "(355919872,)",
             12);
  }

  void AddInput() {
    const std::string pin =
        "/Thread::_bootstrap/Thread::_bootstrap_inner/Thread::run_pin_memory_loop/pin_memory/dictcomp/"
        "pin_memory";
    // Kernels that the main thread's work left to this one while it held the queue, products among them.
    Add(pin, "pin_memory", "Tensor", Phase::kInput, Thread::kPinMemory, 40, "(8, 513)",
        {{PlainGemmKernel(0), Kind::kEligible, 200, 320}, {CopyKernel(), Kind::kEligible, 60, 80}});
    AddOther(Forward() + "/get_batch/broadcast_data", "cuda", "Tensor", Phase::kInput, 100, "(8, 513)", 0);
  }

  void AddLoss() {
    const std::string model = Forward() + Model();
    const std::string loss =
        Forward() + "/post_language_model_processing/vocab_parallel_cross_entropy/forward";
    AddOther(model + "/Embedding::_call_impl/Embedding::forward/VocabParallelEmbedding::forward", "embedding",
             "torch.nn.functional", Phase::kForward, 100, "(8, 512)", 40);
    AddOther(model + "/Embedding::_call_impl/Embedding::forward", "add", "Tensor", Phase::kForward, 100,
             kHidden, 12);
    AddOther(loss, "max", "torch", Phase::kForward, 100, kLogits, 150);
    AddOther(loss, "sub_", "Tensor", Phase::kForward, 100, kLogits, 170);
    AddOther(loss, "exp", "torch", Phase::kForward, 100, kLogits, 160);
    AddOther(loss, "sum", "Tensor", Phase::kForward, 100, kLogits, 140);
    AddOther(Forward() + "/loss_func", "mul", "Tensor", Phase::kForward, 100, "(4096,)", 2);
  }

  void AddOptimizer() {
    const bool mixed = precision_ == Precision::kMixed;
    const std::string name = mixed ? "Float16OptimizerWithFloat16Params" : "FP32Optimizer";
    const std::string optimizer = kTrainStep + "/no_grad::decorate_context/" + name + "::step";
    const std::string reduce = kTrainStep + "/DistributedDataParallel::allreduce_gradients";
    AddOther(kTrainStep + "/DistributedDataParallel::zero_grad_buffer", "zero_", "Tensor", Phase::kInput, 100,
             "(355919872,)", 300);
    AddOther(reduce + "/_unflatten_dense_tensors", "narrow", "torch", Phase::kReduce, 100, "(355919872,)", 0);
    Add(optimizer + "/" + name + "::clip_grad_norm/clip_grad_norm_fp32/MultiTensorApply::_call__",
        "multi_tensor_l2norm", "amp_C", Phase::kOptimizer, Thread::kMain, mixed ? 81 : 100, "(355919872,)",
        {{MultiTensorKernel("L2NormFunctor<float>"), Kind::kOther, 420, mixed ? 162 : 200}});
    AddOther(optimizer + "/" + name + "::clip_grad_norm/clip_grad_norm_fp32", "item", "Tensor",
             Phase::kOptimizer, 100, "(1,)", 0);
    AddOther(optimizer + "/wrapper", "record_function", "torch.autograd.profiler", Phase::kOptimizer,
             mixed ? 81 : 100, "", 0);
    if (!mixed) return;
    AddOther(reduce, "copy_", "Tensor", Phase::kReduce, 2920, "(1024, 4096)", 380);
    AddOther(reduce + "/_flatten_dense_tensors", "cat", "torch", Phase::kReduce, 100, "(355919872,)", 360);
    AddOther(reduce, "_itruediv__", "Tensor", Phase::kReduce, 100, "(355919872,)", 350);
    AddOther(optimizer + "/" + name + "::_unscale_main_grads_and_check_for_nan",
             "_amp_foreach_non_finite_check_and_unscale_", "torch", Phase::kOptimizer, 100, "(355919872,)",
             390);
  }

  Precision precision_;
  const std::vector<Op>& known_;
  std::vector<Op> ops_;
  size_t gemms_ = 0;
};

}  // namespace

std::string ForwardLayer(Precision precision) {
  const std::string half =
      precision == Precision::kMixed ? "/Float16Module::_call_impl/Float16Module::forward" : "";
  return kTrainStep + "/forward_backward_no_pipelining/forward_step/DistributedDataParallel::_call_impl/" +
         "DistributedDataParallel::forward" + half +
         "/GPTModel::_call_impl/GPTModel::forward/TransformerLanguageModel::_call_impl/"
         "TransformerLanguageModel::forward/ParallelTransformer::_call_impl(2)/ParallelTransformer::forward/"
         "ParallelTransformer::_checkpointed_forward/checkpoint/forward/ParallelTransformer::custom_forward" +
         kLayer;
}

std::vector<Op> RemainingOps(Precision precision, const std::vector<Op>& known) {
  return OpList(precision, known).Build();
}

std::string TensorKernel(Precision precision, size_t variant) {
  static const std::array<std::string, 3> tf32 = {
      "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x256_16x3_tn_align4>(T1::Params)",
      "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x128_16x3_nn_align4>(T1::Params)",
      "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_16x5_nt_align4>(T1::Params)"};
  static const std::array<std::string, 3> fp16 = {
      "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn",
      "ampere_fp16_s16816gemm_fp16_256x128_ldg8_f2f_stages_32x3_nn",
      "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_nt"};
  return (precision == Precision::kFp32 ? tf32 : fp16)[variant % 3];
}

std::string PlainGemmKernel(size_t variant) {
  static const std::array<std::string, 3> names = {"ampere_sgemm_128x128_tn", "ampere_sgemm_128x64_nn",
                                                   "ampere_sgemm_64x32_sliced1x4_nt"};
  return names[variant % 3];
}

std::string CopyKernel() {
  return "void at::native::unrolled_elementwise_kernel<at::native::copy_device_to_device(at::TensorIterator "
         "&, "
         "bool)::[lambda() (instance 3)]::operator ()() const::[lambda(float) (instance 1)], "
         "at::detail::Array<char *, (int)2>>(int, T1, T2)";
}

std::string ElementwiseKernel(Precision precision, const std::string& functor) {
  return "void at::native::vectorized_elementwise_kernel<(int)4, " + functor +
         (precision == Precision::kFp32 ? "<float>" : "<c10::Half>") +
         ", at::detail::Array<char *, (int)3>>(int, T2, T3)";
}

std::string MultiTensorKernel(const std::string& functor) {
  return "void multi_tensor_apply_kernel<TensorListMetadata<(int)4>, " + functor +
         ", float>(int, volatile int *, T1, T2, T3)";
}

}  // namespace dladvisor::example
