// SPDX-License-Identifier: Apache-2.0
#include "src/importers/training_log/program/program_words.h"

#include <re2/re2.h>

#include "src/importers/training_log/lines/log_line.h"

namespace dladvisor::training_log {
namespace {

// Of the words that other texts have, too, so many together.
constexpr size_t kLeastWords = 3;

}  // namespace

void LearningSigns::Line(std::string_view line) {
  static const RE2 alone(
      R"((?i)(?:\b|_)(?:torch|pytorch|tensorflow|keras|jax|xla|cuda|cudnn|nccl|rocm|gpus?|npus?|tpus?|nvidia|onnx|onnxruntime|tensorrt|transformers|huggingface|vllm|sglang|ollama|llama\w*|gguf|deepspeed|lightning|megatron|safetensors|diffusers|checkpoints?|ckpt|tokenizers?|dataloaders?|epochs?)(?:\b|_))"),
      together(
          R"((?i)(?:\b|_)(tokens?|models?|batch(?:es)?|train(?:ing|er)?|inference|embeddings?|datasets?|loss|accuracy|logits|attention|layers?|weights|evaluat(?:e|ion|ing)|predictions?)(?:\b|_))");
  if (shown_) return;
  re2::StringPiece rest(line.data(), line.size());
  std::string word;
  while (words_.size() < kLeastWords && RE2::FindAndConsume(&rest, together, &word))
    words_.insert(Lower(word));
  shown_ = words_.size() >= kLeastWords || RE2::PartialMatch(line, alone);
}

bool NothingFollows(std::string_view line) {
  // An error is told by a level or by an exception: results speak of errors, too.
  static const RE2 failure(
      R"(\bERROR\b|\bCRITICAL\b|\bFATAL\b|\[error\]|\b[A-Za-z]+(?:Error|Exception): [^\d\s-]|)"
      R"((?i:got|received|caught|by|with) (?:[\w-]+ )?signal\b|\bsignal \d|)"
      R"(\b[Ss]hut(?:ting)? ?down\b|\b[Ee]xit(?:ed|ing)?\b|\b[Tt]erminat)"),
      pause(
          R"((?i)\bsleep(?:s|ing)?\b|\bwait(?:s|ing)? for\b|\bqueued\b|\bpending\b|\bidle\b|\bpaus(?:ed|ing)\b|\bsuspend|\bnothing to do\b|)"
          // A server that waits for its next request, by what it says as it starts and by its list of
          // answers.
          R"(press ctrl\+c to quit|\brunning on https?://|\blistening (?:on|at)\b|\bapplication startup complete|)"
          R"("(?:GET|POST|PUT|HEAD) /\S* HTTP/\d\.\d" \d{3}\b)");
  return RE2::PartialMatch(line, failure) || RE2::PartialMatch(line, pause);
}

bool OfLibrary(std::string_view line) {
  static const RE2 library(
      R"((?:tensorflow|torch|jax|xla|absl|transformers|accelerate|deepspeed|site-packages)/|\bds_accelerator\b|\.(?:cc|cpp|cu|h):|\bNCCL (?:INFO|WARN)\b|)"
      R"(HTTP Request: (?:GET|HEAD) https?://|\bhuggingface_hub\b|\burllib3\b)");
  return RE2::PartialMatch(line, library);
}

}  // namespace dladvisor::training_log
