// SPDX-License-Identifier: Apache-2.0
// The ops of Megatron-LM's GPT pretraining, by what DLProf calls them.
#pragma once

#include <string>
#include <vector>

#include "examples/megatron-gpt/runs.h"

namespace dladvisor::example {

enum class Precision { kFp32, kMixed };

// All ops that the slides do not list, without those whose path is in `known`. Sixty-one ops can use tensor
// cores, the known ones among them.
std::vector<Op> RemainingOps(Precision precision, const std::vector<Op>& known);

// Kernels as PyTorch 1.9 and cuBLAS 11 name them.
std::string TensorKernel(Precision precision, size_t variant);
std::string PlainGemmKernel(size_t variant);
std::string CopyKernel();
std::string ElementwiseKernel(Precision precision, const std::string& functor);
std::string MultiTensorKernel(const std::string& functor);

// Prefixes of paths.
inline const std::string kTrainStep = "/module/pretrain/train/train_step";
inline const std::string kRecompute =
    "/_VocabParallelCrossEntropyBackward::apply/backward/ParallelTransformer::custom_forward/"
    "ParallelTransformerLayer::_call_impl/ParallelTransformerLayer::forward";
inline const std::string kAttention = "/ParallelAttention::_call_impl/ParallelAttention::forward";
inline const std::string kMlp = "/ParallelMLP::_call_impl(2)/ParallelMLP::forward";
inline const std::string kColumn = "/ColumnParallelLinear::_call_impl/ColumnParallelLinear::forward";
inline const std::string kMlpRow = "/RowParallelLinear::_call_impl(2)/RowParallelLinear::forward";
std::string ForwardLayer(Precision precision);  // up to ParallelTransformerLayer::forward

}  // namespace dladvisor::example
