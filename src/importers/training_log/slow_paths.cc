// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/slow_paths.h"

#include <array>

namespace dladvisor::training_log {
namespace {

struct Warning {
  std::string_view words, also, name;  // the words stand in the line, both of them
};

constexpr auto kWarnings = std::to_array<Warning>({
    // Megatron-LM.
    {"constraints for invoking optimized fused softmax kernel are not met", "", "softmax"},
    // Transformers, timm, programs of their own: "FlashAttention2 is not installed. Falling back ...".
    {"not installed", "lash", "attention"},
    {"not available", "lash Attention", "attention"},
    {"not available", "lashAttention", "attention"},
    {"not available", "lash attention", "attention"},
    {"not available", "lash-attn", "attention"},
    {"not available", "lash_attn", "attention"},
    {"xFormers not available", "", "attention"},
    {"xFormers is not available", "", "attention"},
    {"No module named 'xformers'", "", "attention"},
    {"The fast path is not available because", "", "recurrence"},
    // nerfstudio without tiny-cuda-nn.
    {"Using a slow implementation for the", "", "networks"},
    {"bnb_4bit_compute_dtype=torch.float32", "slow", "quantized"},
    // DistributedDataParallel.
    {"find_unused_parameters=True was specified in DDP constructor, but did not find any", "", "unused"},
    {"Grad strides do not match bucket view strides", "", "strides"},
    // Lightning.
    {"set `torch.set_float32_matmul_precision", "", "tf32"},
    {"does not have many workers which may be a bottleneck", "train_dataloader", "workers"},
    // torch.compile.
    {"torch._dynamo hit config.cache_size_limit", "", "recompiles"},
    {"torch._dynamo hit config.recompile_limit", "", "recompiles"},
});

}  // namespace

void TakeSlowPath(std::string_view line, std::map<std::string, std::string>& settings) {
  if (line.size() > 4096) return;
  // Code that a traceback or a log shows may hold the words, too.
  if (line.find("print(") != std::string_view::npos || line.find("warn(") != std::string_view::npos) return;
  // Lightning's; it tells of products in FP32 whatever the precision is.
  if (line.find("Automatic Mixed Precision (AMP)") != std::string_view::npos)
    settings["mixed_precision"] = "True";
  for (const Warning& warning : kWarnings)
    if (line.find(warning.words) != std::string_view::npos &&
        line.find(warning.also) != std::string_view::npos)
      settings["slow_path_" + std::string(warning.name)] = "warned";
}

}  // namespace dladvisor::training_log
