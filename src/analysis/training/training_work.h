// SPDX-License-Identifier: Apache-2.0
// FLOPs of a training from the arguments that its log prints.
//
// Of a decoder of transformer layers, for each token, forward: the products with weights of attention and of
// the feed-forward network, the products of queries, keys and values over the whole sequence, and the product
// with the vocabulary; three times that with the backward pass. It is the count of Narayanan et al.,
// "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM" (2021), section 5.1,
// without the recomputed forward pass, extended to grouped queries, gated networks and other sizes of heads.
// What a model has besides makes the work unknown, with the reason.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace dladvisor {

struct TrainingWork {
  std::optional<double> flops_per_sample;
  std::string unknown;  // why there are none
};

TrainingWork WorkOfArguments(const std::map<std::string, std::string>& settings);

// Of the model whose number of parameters the log prints: two for each forward, four backward (Kaplan et al.,
// "Scaling Laws for Neural Language Models", 2020, table 1), without attention's products of scores. Unknown
// of a mixture of experts and of adapters, for which not all parameters work.
std::optional<double> FlopsPerToken(const std::map<std::string, std::string>& settings);

}  // namespace dladvisor
