// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/slow_paths.h"

#include <re2/re2.h>

#include <array>

namespace dladvisor::training_log {
namespace {

constexpr size_t kLongestOption = 80;  // of a configuration, a line

struct Warning {
  std::string_view words, also, name;  // the words stand in the line, both of them
};

constexpr auto kWarnings = std::to_array<Warning>({
    // Megatron-LM.
    {"constraints for invoking optimized fused softmax kernel are not met", "", "softmax"},
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
    // PyTorch's DataLoader.
    {"Our suggested max number of worker in current system is", "", "crowded"},
    // torch.compile.
    {"torch._dynamo hit config.cache_size_limit", "", "recompiles"},
    {"torch._dynamo hit config.recompile_limit", "", "recompiles"},
    // vLLM, within a training by rewards.
    {"enforce-eager is enabled, async output processor cannot be used", "", "eager"},
    {"Cudagraph is disabled under eager mode", "", "eager"},
    {"is not supported by the V1 Engine. Falling back to V0", "", "engine"},
});

// "FlashAttention2 is not installed. Falling back ..." of Transformers, timm, programs of their own. Where
// another version takes its place, attention is still fast.
bool MissesFlashAttention(std::string_view line) {
  static const RE2 missing(
      R"((?i)flash[-_ ]?(?:attention|attn)(?:[-_ ]?v?\d)?(?:\.\w+)*(?:[<>=]=?[\d.]+)?[`'")]*)"
      R"((?: (?:package|library|module|backend|kernels?))?(?:(?: is| are| was| seems to be)? not| isn't) )"
      R"((?:installed|available))");
  static const RE2 instead(R"((?i)(?:\busing|\bback (?:to|on)|\buses?) flash|\bsdpa\b|scaled_dot_product)");
  return line.find("lash") != std::string_view::npos && RE2::PartialMatch(line, missing) &&
         !RE2::PartialMatch(line, instead);
}

// "Using 2 GPUs via DataParallel", a model that is printed as "DataParallel(": no other class that ends so,
// and not where the line says that it is not, or only may be. Paddle's, which is printed with its _layers,
// has a process for each GPU.
void TakeDataParallel(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 printed(R"(^\s*(?:\(?\w+\)?: *)?(?:torch\.nn\.)?DataParallel\(\s*$)"),
      used(
          R"((?i)\b(?:us(?:e|es|ed|ing)|via|with|in|into|by|through|wrap\w*|enabl\w*)\b[^.;:]{0,40}?[\s(](?:(?:torch\.)?nn\.)?DataParallel(?:[\s).,!]|$))"),
      not_used(
          R"((?i)\b(?:no|not|none|never|without|off|unwrap\w*|remov\w*|strip\w*|import\w*|instead|disabl\w*|false|skip\w*|want\w*|default|availab\w*|deprecat\w*|requir\w*|only|need\w*|if|may|might|can|cannot|could|should|would|consider|recommend\w*|prefer\w*|rather|than|checkpoint|state_dict|load\w*|sav\w*|unused|unlike|1|one|single)\b|\w+n't\b)");
  if (line.find("_layers") != std::string_view::npos && line.find("(_layers):") != std::string_view::npos)
    settings.erase("data_parallel");
  // "dist: False" beside "num_gpu: 8", of BasicSR's configurations and those after it (KAIR), which wrap the
  // model so then.
  static const RE2 alone(R"((?:^|\s)dist: False\s*$)"), several(R"((?:^|\s)num_gpu: (?:[2-9]|\d{2,3})\s*$)");
  if (line.size() < kLongestOption) {
    if (line.find("dist: False") != std::string_view::npos && RE2::PartialMatch(line, alone))
      settings["dist"] = "False";
    if (line.find("num_gpu: ") != std::string_view::npos && RE2::PartialMatch(line, several))
      settings["num_gpu"] = "several";
    if (settings.contains("dist") && settings.contains("num_gpu")) settings["data_parallel"] = "DataParallel";
  }
  if (line.find("DataParallel") == std::string_view::npos) return;
  if (RE2::PartialMatch(line, printed) ||
      (RE2::PartialMatch(line, used) && !RE2::PartialMatch(line, not_used)))
    settings["data_parallel"] = "DataParallel";
}

}  // namespace

void TakeSlowPath(std::string_view line, std::map<std::string, std::string>& settings) {
  if (line.size() > 4096) return;
  // Code that a traceback or a log shows may hold the words, too.
  if (line.find("print(") != std::string_view::npos || line.find("warn(") != std::string_view::npos) return;
  // Lightning's; it tells of products in FP32 whatever the precision is.
  if (line.find("Automatic Mixed Precision (AMP)") != std::string_view::npos)
    settings["mixed_precision"] = "True";
  // Of libraries for images, which are decoded then by the process that trains: "  NUM_WORKERS: 0".
  // Ultralytics': "Using 0 dataloader workers".
  static const RE2 no_workers(R"(^\s*NUM_WORKERS: *0\b|^\W*Using 0 dataloader workers)");
  if ((line.find("NUM_WORKERS") != std::string_view::npos ||
       line.find("dataloader workers") != std::string_view::npos) &&
      RE2::PartialMatch(line, no_workers))
    settings["slow_path_no_workers"] = "0";
  TakeDataParallel(line, settings);
  for (const Warning& warning : kWarnings)
    if (line.find(warning.words) != std::string_view::npos &&
        line.find(warning.also) != std::string_view::npos)
      settings["slow_path_" + std::string(warning.name)] = "warned";
  if (MissesFlashAttention(line)) settings["slow_path_attention"] = "warned";
}

}  // namespace dladvisor::training_log
