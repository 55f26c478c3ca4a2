// SPDX-License-Identifier: Apache-2.0
#include "src/trace/error_remedy.h"

#include <algorithm>
#include <array>
#include <string>

namespace dladvisor {
namespace {

struct Remedy {
  // All of the first, and one of the others if there are any, in small letters.
  std::string_view all;
  std::array<std::string_view, 6> any;
  std::string_view text;
};

constexpr std::string_view kOfAnotherRank =
    "Look at the output of the other ranks for what ended or held up one of them first: this error only "
    "tells "
    "that it was gone";

// Of several the first: what names its cause stands before what only tells of its effects.
constexpr auto kRemedies = std::to_array<Remedy>({
    {"in replica",
     {"outofmemory", "out of memory"},
     "Start a process for each GPU (torchrun --nproc_per_node=gpu, DistributedDataParallel) in place of "
     "nn.DataParallel, which gathers on its first GPU what all compute, and give each a smaller batch"},
    {"",
     {"host memory was full", "arraymemoryerror", "defaultcpuallocator", "cannot allocate memory"},
     "Ask for more host memory (--mem of Slurm, the limit of a container), or hold less in it: fewer loader "
     "workers, a smaller prefetch_factor, no data set held in memory"},
    {"",
     {"(sigkill)", "killed by signal: killed"},
     "See whether the host's memory was full (dmesg, sacct -o MaxRSS): then ask for more of it (--mem of "
     "Slurm, the limit of a container), or hold less in it: fewer loader workers, a smaller prefetch_factor, "
     "no data set held in memory"},
    {"",
     {"insufficient shared memory", "unable to open shared memory object", "out of shared memory"},
     "Give the loader's workers more shared memory (--shm-size or --ipc=host of Docker), or use fewer of "
     "them"},
    {"",
     {"out of memory", "outofmemory", "alloc_failed"},
     "Let it need less memory: a smaller micro-batch, recomputed activations, parameters and optimizer split "
     "over the devices"},
    {"",
     {"passmanager::run failed", "inductorerror", "backendcompilerfailed", "triton.compiler", "llvm error",
      "triton.runtime.errors"},
     "Keep to kernels that its compiler can make for this GPU: another attention backend "
     "(VLLM_ATTENTION_BACKEND of vLLM, attn_implementation of Transformers), a newer Triton, or no "
     "compilation (TORCH_COMPILE_DISABLE=1)"},
    {"",
     {"no kernel image is available", "is not compatible with the current pytorch"},
     "Install a build of the library that fits this GPU's architecture"},
    {"",
     {"driver version is insufficient", "driver on your system is too old", "unsupported toolchain"},
     "Update the GPU's driver, or install a build for an older CUDA"},
    {"",
     {"no cuda gpus are available", "not compiled with cuda", "found no nvidia driver",
      "torch.cuda.is_available() is false", "no cuda-capable device"},
     "See that the job is given a GPU (--gres of Slurm, --gpus of Docker, CUDA_VISIBLE_DEVICES) and that "
     "PyTorch is a build for CUDA (torch.version.cuda)"},
    {"",
     {"address already in use", "eaddrinuse"},
     "Take another port (--master_port of torchrun), or end the process that still holds it"},
    {"",
     {"no space left on device", "disk quota exceeded"},
     "Free space on the disk that it writes to (checkpoints, caches in ~/.cache), or write to another"},
    {"", {"too many open files"}, "Raise the limit of open files (ulimit -n)"},
    {"",
     {"gated repo", "gatedrepoerror", "couldn't connect to 'http", "we couldn't connect",
      "host='huggingface.co'", "localentrynotfounderror"},
     "Download models and data before the job starts, with a token where they need one (HF_TOKEN), and name "
     "the local copy"},
    {"",
     {"device-side assert", "illegal memory access"},
     "Find the call with CUDA_LAUNCH_BLOCKING=1: mostly an index is outside of its table, as of a label or a "
     "token"},
    {"gloo", {"connection closed", "connection reset", "socket closed", "timed out"}, kOfAnotherRank},
    {"nccl",
     {"connection closed", "connection reset", "remote process exited", "timed out", "socket timeout"},
     kOfAnotherRank},
});

}  // namespace

std::string_view ErrorRemedy(std::string_view error) {
  // "RuntimeError: ...; NCCL: a collective operation timed out", where a rank's own error tells why others
  // wait.
  std::string words(error.substr(0, error.find("; NCCL: ")));
  for (char& c : words)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (words.starts_with("memoryerror")) words += " cannot allocate memory";
  const auto has = [&](std::string_view part) { return words.find(part) != std::string::npos; };
  for (const Remedy& remedy : kRemedies)
    if (has(remedy.all) &&
        std::ranges::any_of(remedy.any, [&](std::string_view part) { return !part.empty() && has(part); }))
      return remedy.text;
  return {};
}

}  // namespace dladvisor
