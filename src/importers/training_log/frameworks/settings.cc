// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/frameworks/settings.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "src/importers/training_log/frameworks/printed_options.h"
#include "src/importers/training_log/frameworks/slow_paths.h"
#include "src/importers/training_log/frameworks/torchtitan.h"
#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

// In alphabetical order.
constexpr std::array kVariables = std::to_array<std::string_view>({
    "CUDA_LAUNCH_BLOCKING",
    "NCCL_ALGO",
    "NCCL_BLOCKING_WAIT",
    "NCCL_IB_DISABLE",
    "NCCL_NET",
    "NCCL_P2P_DISABLE",
    "NCCL_PROTO",
    "NCCL_SHM_DISABLE",
    "NCCL_SOCKET_IFNAME",
    "TORCH_NCCL_BLOCKING_WAIT",
});

// What Hugging Face calls them, and what they are called here.
constexpr std::array kTrainerNames = std::to_array<std::pair<std::string_view, const char*>>({
    {"bf16", "bf16"},
    {"dataloader_num_workers", "num_workers"},
    {"fp16", "fp16"},
    {"gradient_accumulation_steps", "gradient_accumulation_steps"},
    {"gradient_checkpointing", "checkpoint_activations"},
    {"per_device_train_batch_size", "train_micro_batch_size_per_gpu"},
});

// In alphabetical order.
constexpr std::array kKnown = std::to_array<std::string_view>({
    "accumulate_allreduce_grads_in_fp32",
    "apply_rope_fusion",
    "attention_backend",
    "batch_size",
    "bf16",
    "bias_dropout_fusion",
    "bias_gelu_fusion",
    "bias_swiglu_fusion",
    "checkpoint_activations",
    "context_parallel_size",
    "cross_entropy_loss_fusion",
    "data_parallel_size",
    "dataloader_type",
    "decoder_seq_length",
    "deepspeed",
    "distributed_backend",
    "eval_interval",
    "eval_iters",
    "expert_model_parallel_size",
    "ffn_hidden_size",
    "fp16",
    "fp8",
    "global_batch_size",
    "gradient_accumulation_fusion",
    "gradient_accumulation_steps",
    "group_query_attention",
    "hidden_size",
    "initial_loss_scale",
    "kv_channels",
    "log_interval",
    "loss_scale",
    "loss_scale_window",
    "manual_gc",
    "masked_softmax_fusion",
    "micro_batch_size",
    "min_loss_scale",
    "model_parallel_size",
    "num_attention_heads",
    "num_experts",
    "num_layers",
    "num_query_groups",
    "num_workers",
    "offload_optimizer",
    "offload_param",
    "overlap_grad_reduce",
    "overlap_p2p_comm",
    "overlap_param_gather",
    "padded_vocab_size",
    "params_dtype",
    "partition_activations",
    "pipe_parallel_size",
    "pipeline_model_parallel_size",
    "rampup_batch_size",
    "recompute_granularity",
    "recompute_method",
    "recompute_num_layers",
    "save_interval",
    "scaled_masked_softmax_fusion",
    "scaled_upper_triang_masked_softmax_fusion",
    "seq_length",
    "sequence_parallel",
    "swiglu",
    "tensor_model_parallel_size",
    "timing_log_level",
    "train_batch_size",
    "train_iters",
    "train_micro_batch_size_per_gpu",
    "transformer_impl",
    "use_distributed_optimizer",
    "use_flash_attn",
    "virtual_pipeline_model_parallel_size",
    "world_size",
    "zero_optimization_stage",
    "zero_stage",
});

// "  name ........ value". DeepSpeed counts in its world_size what it splits the batch over, and may print a
// second dump after the one of the program that calls it.
void TakeRow(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 row(R"(([A-Za-z]\w*) \.{2,} (\S.*?) *)");
  const size_t dots = line.find(" ..");
  const bool of_deepspeed = line.find("[config.py:") != std::string_view::npos;
  std::string name, value;
  std::string_view rest = line;
  if (of_deepspeed) {
    rest.remove_prefix(std::min(line.find(":print]") + std::string_view(":print]").size(), line.size()));
    // "train_micro_batch_size_per_gpu  4": no room for dots.
    static const RE2 wide(R"(([A-Za-z]\w*)(?: \.{2,} |  )(\S.*?) *)");
    if (!RE2::FullMatch(Trim(rest), wide, &name, &value)) return;
    if (name == "world_size") return;
  } else {
    // "  scaled_upper_triang_masked_softmax_fusion  False": no room for dots.
    static const RE2 long_name(R"((\w{32,})  (\S+) *)");
    if (dots == std::string_view::npos) {
      if (!RE2::FullMatch(Trim(line), long_name, &name, &value)) return;
      if (std::binary_search(kKnown.begin(), kKnown.end(), name)) settings[name] = value;
      return;
    }
    // What comes before a row (a rank, a date) ends with a blank.
    const size_t blank = line.find_last_of(" \t", dots == 0 ? 0 : dots - 1);
    rest = blank == std::string_view::npos ? line : line.substr(blank + 1);
    if (!RE2::FullMatch(Trim(rest), row, &name, &value)) return;
  }
  if (value.size() <= 64 && std::binary_search(kKnown.begin(), kKnown.end(), name)) settings[name] = value;
}

// "export NCCL_IB_DISABLE=1;" of a launcher, "NET/Socket : Using [0]eth0:..." of NCCL itself, hosts of a
// launcher.
void TakeEnvironment(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 variable(R"(\b((?:TORCH_)?(?:NCCL|CUDA)_[A-Z0-9_]+)[=:] ?([^\s;,"'\\]{1,32}))"),
      network(R"(NCCL INFO Using network (\w+))"), hosts(R"( -w (\S+))"), nodes(R"(--?nnodes[= ](\d+)\b)");
  std::string name, value;
  if (line.find("NCCL_") != std::string_view::npos || line.find("CUDA_LAUNCH") != std::string_view::npos) {
    re2::StringPiece rest = line;
    while (RE2::FindAndConsume(&rest, variable, &name, &value))
      if (std::binary_search(kVariables.begin(), kVariables.end(), name)) settings[name] = value;
  }
  if (line.find("Using network") != std::string_view::npos && RE2::PartialMatch(line, network, &value))
    settings["nccl_network"] = value;
  if (line.find("nnodes") != std::string_view::npos && RE2::PartialMatch(line, nodes, &value) &&
      value.size() < 7)
    settings["nodes"] = value;
  if (line.find("cmd = pdsh") != std::string_view::npos && RE2::PartialMatch(line, hosts, &value))
    settings["nodes"] = std::to_string(std::ranges::count(value, ',') + 1);
}

// "per_device_train_batch_size=1," of a dump of Hugging Face's TrainingArguments.
void TakeTrainerArgument(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 argument(R"((\w+)=([\w.]+),)");
  std::string name, value;
  if (line.size() > 64 || line.find(' ') != std::string_view::npos ||
      !RE2::FullMatch(line, argument, &name, &value))
    return;
  for (const auto& [theirs, ours] : kTrainerNames)
    if (name == theirs) settings[ours] = value;
}

// "--per_device_train_batch_size 4 --gradient_checkpointing True", the same on the line of a launcher.
void TakeTrainerOptions(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 option(R"(--(\w+)(?:[ =](\w[\w.]*))?(?:\s|$))"), known(R"((?i)true|false|\d+|)");
  // What the options of a program are is no choice of them.
  if (line.find("--per_device_train_batch_size") == std::string_view::npos ||
      line.find("[--") != std::string_view::npos || line.find("usage:") != std::string_view::npos)
    return;
  re2::StringPiece rest = line;
  std::string name, value;
  while (RE2::FindAndConsume(&rest, option, &name, &value))
    for (const auto& [theirs, ours] : kTrainerNames)
      if (name == theirs && RE2::FullMatch(value, known)) settings[ours] = value.empty() ? "True" : value;
}

// "n_workers: 0", "'num_workers': 0,", "num_workers=0," or "num_workers: 0   [default: 4]" on a line of a
// printed configuration. Where loaders of it differ, as those of training and test, the most is kept: none is
// said of a training alone that has none anywhere.
void TakeWorkers(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 workers(
      R"((?:^|[\s|])['"]?(?:data(?:_?loader)?_)?(?:num_?workers|n_workers|workers_per_gpu)['"]? ?[:=] ?(\d{1,3}),?\s*(?:\[default: .*)?$)");
  int count = 0;
  if (line.size() > 256 || line.find("orkers") == std::string_view::npos ||
      !RE2::PartialMatch(line, workers, &count))
    return;
  const auto known = settings.try_emplace("num_workers", std::to_string(count)).first;
  if (count > Integer(known->second).value_or(count)) known->second = std::to_string(count);
}

// DeepSpeed prints its configuration as JSON, a name a line: "offload_param": { and then "device": "cpu",.
// What is told to stay on the GPU (device none) is no setting.
void TakeOffload(std::string_view line, std::string& section, std::map<std::string, std::string>& settings) {
  static const RE2 opens(R"re("(offload_optimizer|offload_param)": *\{)re"),
      device(R"re("device": *"(\w+)")re");
  std::string name, where;
  if (RE2::PartialMatch(line, opens, &name)) section = name;
  if (!section.empty() && RE2::PartialMatch(line, device, &where)) {
    // Where the configurations of a log differ, as of a training and of the frozen models beside it, it is
    // not known which is the training's.
    if (where == "none") settings[section] = where;
    if (const auto known = settings.try_emplace(section, where).first; known->second != "none")
      known->second = where;
    section.clear();
  }
  if (line.find('}') != std::string_view::npos) section.clear();
  // verl's: of the actor, as the reference has no optimizer.
  if (line.find("'optimizer_offload': True") != std::string_view::npos)
    settings["optimizer_offload"] = "True";
  // The optimizer that DeepSpeed takes for it; its first line also names what it replaces.
  if (line.find("DeepSpeed Basic Optimizer = DeepSpeedCPU") != std::string_view::npos)
    settings.try_emplace("offload_optimizer", "cpu");
}

std::string UpperCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](const unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Whether the words before a device are of the training's, as in "2024-05-01 INFO - Using device: cpu" or in
// a dump of arguments, and not of another object's: "model_ema: ModelEma(decay=0.9, device=cpu)", "Loaded
// checkpoint last.pt (device: cpu)".
bool NamesDeviceOfTraining(std::string_view before) {
  static const RE2 dump(R"((?i)(?:namespace|args|arguments|config|options|params|dict)$)"),
      argument(R"(^\((?:.*,)?\s*$)"),
      // Behind a prefix of the line, another setting, a sentence or nothing.
      words(
          R"((?i)(?:(?:^|[\])}|>*#]|={2}|(?:^|\s)-+|[.!]\s|(?:\d|py|root|main__|args|arguments|config\w*|settings|setup): |\w[:=]\s*\S{1,48}[,;]|\b(?:info|debug|notice|warning):?)\s*[({]?|\w:)(?:(?:using|use|used|run|running|train|training|started|selected|set|moving|moved|on|to|the|your|torch|pytorch|default|current|compute|target|main|model|available)\s+)*$)"),
      others(
          R"((?i)(?:\b|_)ema(?:\b|_)|checkpoint|ckpt|\bload|restor|resum|teacher|reference|reward|embed|metric|eval|generat|replay|draft|judge)");
  // "device=device(type='cpu')"
  static const RE2 twice(R"((?i)(?:^|\W)(device *[=:] *)$)");
  if (std::string name; RE2::PartialMatch(before, twice, &name)) before.remove_suffix(name.size());
  size_t depth = 0;
  for (size_t i = before.size(); i-- > 0;) {
    if (before[i] == ')') ++depth;
    if (before[i] != '(') continue;
    if (depth == 0)
      return RE2::PartialMatch(before.substr(0, i), dump) && RE2::PartialMatch(before.substr(i), argument);
    --depth;
  }
  return RE2::PartialMatch(before, words) && !RE2::PartialMatch(before, others);
}

// "Using device: cpu", "device=device(type='cuda', index=0)", "Training started on cpu". A program that names
// a GPU as well computes on it, as on an accelerator that Lightning or DeepSpeed uses. `gpu` says whether the
// log finds no GPU or leaves it unused.
void TakeDevice(std::string_view line, std::map<std::string, std::string>& settings) {
  static const RE2 device(
      R"((?i)(?:(?:^|[^'"\w])(device)(?:\(type)?[ :=]+'?(?:type=')?|\btraining (?:started )?on )(cpu|cuda|gpu|mps|npu|xpu|hpu)\b)"),
      // "Using CPU", and nothing else.
      alone(R"((?i)^\W*using (?:the )?(cpu|cuda|gpu|mps|npu|xpu|hpu)\W*$)"),
      none(
          R"((?i)\bno (?:cuda|gpus?)\b(?: devices?)?(?: (?:found|detected|available|\()|[.,!]|$)|\b(?:cuda|gpu) (?:is )?(?:not available|unavailable)|GPU available: False|(GPU available: True \(cuda\), used: False))"),
      other(R"(\b([THI]PU) available: True, using: [1-9]|\bds_accelerator to ([nxh]pu)\b)"),
      // Lightning's, and JAX's.
      cuda(
          R"(GPU available: True \(cuda\), used: True|LOCAL_RANK: \d+ - CUDA_VISIBLE_DEVICES: \[\d|\bCudaDevice\(id=\d)"),
      // Paths of what runs, as warnings print them, and Megatron-LM's arguments.
      ascend(
          R"(/(?:torch_npu|mindspeed(?:_llm|_mm)?)/[\w/]+\.(?:py|cpp)\b|\bdistributed_backend[ .:='"]+hccl\b)");
  // Where other things are than the model; keys in quotes are of configurations.
  static const RE2 others("(?i)map_location|offload|buffer|storage|loader|tokeniz");
  std::string name, unused;
  if (line.size() > 512) return;
  // TensorFlow's; what it trains goes on without a GPU, and what others train is another matter.
  if (line.find("Cannot dlopen some GPU libraries") != std::string_view::npos ||
      line.find("Could not load dynamic library 'libcublas.so") != std::string_view::npos)
    settings.try_emplace("gpu", "libraries");
  if (line.find("Could not find cuda drivers on your machine, GPU will not be used") !=
      std::string_view::npos)
    settings.try_emplace("gpu", "drivers");
  // Under torch_npu programs name "cuda", and compute on an NPU.
  const auto known = settings.find("device");
  if (known != settings.end() && known->second == "NPU") return;
  if ((line.find("torch_npu") != std::string_view::npos || line.find("mindspeed") != std::string_view::npos ||
       line.find("hccl") != std::string_view::npos) &&
      RE2::PartialMatch(line, ascend)) {
    settings["device"] = "NPU";
    return;
  }
  if ((line.find("CUDA_VISIBLE") != std::string_view::npos ||
       line.find("CudaDevice") != std::string_view::npos ||
       line.find("(cuda), used") != std::string_view::npos) &&
      RE2::PartialMatch(line, cuda)) {
    settings["device"] = "gpu";
    return;
  }
  if (RE2::PartialMatch(line, none, &unused)) {
    settings.try_emplace("device", "cpu");
    settings.try_emplace("gpu", unused.empty() ? "none" : "unused");
  }
  if (std::string deepspeeds; (line.find("available: True, using") != std::string_view::npos ||
                               line.find("ds_accelerator to ") != std::string_view::npos) &&
                              RE2::PartialMatch(line, other, &name, &deepspeeds)) {
    settings["device"] = UpperCase(name + deepspeeds);
    return;
  }
  re2::StringPiece found;
  if (!RE2::PartialMatch(line, alone, &name) &&
      (!RE2::PartialMatch(line, device, &found, &name) || RE2::PartialMatch(line, others)))
    return;
  name = UpperCase(std::move(name));
  if (name == "CPU") {
    const std::string_view before =
        found.empty() ? std::string_view() : line.substr(0, static_cast<size_t>(found.data() - line.data()));
    if (found.empty() || NamesDeviceOfTraining(before)) settings.try_emplace("device", "cpu");
  } else {
    settings["device"] = name == "CUDA" || name == "GPU" ? "gpu" : name;
  }
}

}  // namespace

void KeepGpuOfTensorFlow(bool trains, std::map<std::string, std::string>& settings) {
  const auto gpu = settings.find("gpu");
  if (gpu == settings.end() || (gpu->second != "libraries" && gpu->second != "drivers")) return;
  if (!trains || settings.try_emplace("device", "cpu").first->second != "cpu")
    settings.erase(gpu);
  else if (gpu->second == "drivers")
    gpu->second = "none";
}

// "Step 00020 | Loss 1.9194 | GPU 0.0 MB": PyTorch's allocator, which has something wherever a GPU computes.
void SettingsReader::TakeGpuMemory(std::string_view line, std::map<std::string, std::string>& settings) {
  constexpr int64_t kLeastEmpty = 20;
  static const RE2 memory(
      R"((?i)\b(?:step|iter\w*|batch)\W{1,3}\d.*\bGPU(?:[ _]?mem\w*)?[ :=]{1,3}(\d+(?:\.\d+)?) ?Mi?B\b)");
  double used = 0;
  if (filled_ || line.size() > 512 || line.find("GPU") == std::string_view::npos ||
      !RE2::PartialMatch(line, memory, &used))
    return;
  const auto gpu = settings.find("gpu");
  if (used > 0) {
    filled_ = true;
    if (gpu == settings.end() || gpu->second != "empty") return;
    settings.erase(gpu);
    settings.erase("device");
  } else if (++empty_ == kLeastEmpty && settings.try_emplace("device", "cpu").first->second == "cpu") {
    settings.try_emplace("gpu", "empty");
  }
}

void SettingsReader::Line(std::string_view line, std::map<std::string, std::string>& settings) {
  TakeDevice(line, settings);
  TakeGpuMemory(line, settings);
  TakeSlowPath(line, settings);
  // "episode=880.0000 return=-115.7152", of a training that plays.
  static const RE2 plays(
      R"((?i)\bepisodes?\b[ :=#]{1,3}\d.*\b(?:return|reward|score)s?\b|\bep(?:isode)?_(?:rew(?:ard)?|ret(?:urn)?)\w*\b)");
  if ((line.find("pisode") != std::string_view::npos || line.find("ep_re") != std::string_view::npos) &&
      line.size() < 1024 && RE2::PartialMatch(line, plays))
    settings["plays"] = "True";
  // Of Hugging Face's TRL, whose trainers generate what they train on.
  if (line.find("'completion_length': ") != std::string_view::npos ||
      line.find("'completions/mean_length': ") != std::string_view::npos)
    settings.try_emplace("rollouts", "trainer");
  if (line.find("'rewards/chosen': ") != std::string_view::npos) settings["preferences"] = "True";
  if (line.find("packing") != std::string_view::npos) {
    static const RE2 packs(R"((?:^|[^\w])(?:--)?packing['"]?[=: ]+([Tt]rue|[Ff]alse)\b)");
    if (std::string value; RE2::PartialMatch(line, packs, &value))
      settings["packing"] = value == "True" || value == "true" ? "True" : "False";
  }
  if (line.find("vllm") != std::string_view::npos || line.find("vLLM") != std::string_view::npos)
    settings["rollouts"] = "vllm";
  // Of configurations in YAML: "AMP: False".
  // verl's, of the models that it trains or asks.
  if (line.find("use_remove_padding") != std::string_view::npos) {
    static const RE2 removes(R"(use_remove_padding'?[=:] ?(True|False))");
    re2::StringPiece rest(line.data(), line.size());
    std::string value;
    while (RE2::FindAndConsume(&rest, removes, &value)) {
      const auto known = settings.try_emplace("remove_padding", value).first;
      if (value == "True") known->second = value;
    }
  }
  // OLMo prints its configuration on a line.
  if (line.find("TrainConfig(") != std::string_view::npos &&
      (line.find("(compile=None") != std::string_view::npos ||
       line.find(" compile=None") != std::string_view::npos))
    settings["compile"] = "False";
  static const RE2 amp(
      R"((?:^|\s)(?:AMP|amp|use_amp|USE_AMP|AMP_ENABLE|amp_enabled?) *[:=] *([Ff]alse|[Tt]rue)\s*$)");
  if (std::string value;
      (line.find("AMP") != std::string_view::npos || line.find("amp") != std::string_view::npos) &&
      line.size() <= 512 && RE2::PartialMatch(line, amp, &value))
    settings["amp"] = value.front() == 'f' || value.front() == 'F' ? "False" : "True";
  // Without autocast a program may compute in half precision all the same.
  static const RE2 half(R"((?i)\b(?:bf16|bfloat16|float16)\b|\bfp16\W{1,4}true|\bhalf[-_ ]precision)"),
      denied(R"((?i)false|none|null|\bno\b)");
  if (line.size() <= 512 && !half_ && RE2::PartialMatch(line, half) && !RE2::PartialMatch(line, denied))
    half_ = true;
  if (const auto amp_off = settings.find("amp");
      half_ && amp_off != settings.end() && amp_off->second == "False")
    settings.erase(amp_off);
  // MMEngine's, of which the other computes in FP32.
  if (line.find("OptimWrapper'") != std::string_view::npos) {
    static const RE2 wrapper(R"(\btype'?[=:] ?'(Amp)?OptimWrapper')");
    if (std::string amp_of_it; RE2::PartialMatch(line, wrapper, &amp_of_it))
      settings["amp"] = amp_of_it.empty() ? "False" : "True";
  }
  // timm's.
  if (line.find("AMP not enabled. Training in float32") != std::string_view::npos) settings["amp"] = "False";
  // Of Hugging Face's examples.
  if (line.find("16-bits training: False") != std::string_view::npos) settings["amp"] = "False";
  if (line.find("16-bits training: True") != std::string_view::npos) settings["amp"] = "True";
  if (line.size() <= 4096) TakeOffload(line, section_, settings);
  if (line.find("NCCL") != std::string_view::npos || line.find("nnodes") != std::string_view::npos ||
      line.find("CUDA_LAUNCH_BLOCKING") != std::string_view::npos ||
      line.find("cmd = pdsh") != std::string_view::npos)
    TakeEnvironment(line.substr(0, 16384), settings);
  TakeWorkers(line, settings);
  TakePrintedOptions(line, settings);
  TakeTorchtitanSizes(line, settings);
  TakeTrainerArgument(line, settings);
  TakeTrainerOptions(line.substr(0, 16384), settings);
  if (line.size() > 4096) return;
  if (line.find(" ..") != std::string_view::npos || line.find("[config.py:") != std::string_view::npos ||
      line.find("_fusion  ") != std::string_view::npos) {
    TakeRow(line, settings);
    return;
  }
  std::string value;
  // "> padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)".
  static const RE2 vocabulary(R"(padded vocab \(size: \d+\).*\(new size: (\d+)\))");
  if (line.find("padded vocab (size:") != std::string_view::npos) {
    if (RE2::PartialMatch(line, vocabulary, &value)) settings["padded_vocab_size"] = value;
    return;
  }
  if (line.find("using world size:") != std::string_view::npos) {
    for (const auto& [words, name] :
         {std::pair{"using world size: (\\d+)", "world_size"},
          {"data-parallel[- ]size: (\\d+)", "data_parallel_size"},
          {"(?:tensor-model-parallel|\\bmodel-parallel) size: (\\d+)", "tensor_model_parallel_size"},
          {"pipeline-model-parallel size: (\\d+)", "pipeline_model_parallel_size"}})
      if (RE2::PartialMatch(line, words, &value)) settings[name] = value;
    return;
  }
  if (line.find(" = ") == std::string_view::npos) return;
  for (const auto& [words, name] : {std::pair{std::string_view("Total train batch size"), "train_batch_size"},
                                    {"Instantaneous batch size per device", "train_micro_batch_size_per_gpu"},
                                    {"Gradient Accumulation steps", "gradient_accumulation_steps"},
                                    {"Total optimization steps", "train_iters"}}) {
    if (line.find(words) == std::string_view::npos) continue;
    std::string count(line.substr(line.rfind(" = ") + 3));
    std::erase(count, ',');  // "17,000"
    if (const auto number = Integer(count)) settings[name] = std::to_string(*number);
  }
}

}  // namespace dladvisor::training_log
