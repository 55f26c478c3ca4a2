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

constexpr std::string_view kSharedMemory =
    "Give the loader's workers more shared memory (--shm-size or --ipc=host of Docker), or use fewer of them";

// Of several the first: what names its cause stands before what only tells of its effects.
constexpr auto kRemedies = std::to_array<Remedy>({
    {"in replica",
     {"outofmemory", "out of memory"},
     "Start a process for each GPU (torchrun --nproc_per_node=gpu, DistributedDataParallel) in place of "
     "nn.DataParallel, which gathers on its first GPU what all compute, and give each a smaller batch"},
    {"while its progress bar stood at 0",
     {"slurm cancelled"},
     "See what the program does before its first step ends: py-spy dump --pid PID shows the line of the "
     "code, "
     "and nvidia-smi whether the GPU is busy (a loader that fills a buffer first, a compiler, a rank that "
     "the "
     "others wait for)"},
    {"test ",
     {"nccl failure"},
     "Run it again with NCCL_DEBUG=WARN, which names the call of NCCL that failed, and mend that: until then "
     "the test shows none of the sizes behind it"},
    {"static tls block",
     {"cannot allocate memory"},
     "Load the library that it names before the others: import it first, or name it in LD_PRELOAD"},
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
     {"insufficient shared memory", "dataloader's workers are out of shared memory",
      "killed by signal: bus error"},
     kSharedMemory},
    // PyTorch's and Python's names of what lies in /dev/shm.
    {"no space left on device", {"/dev/shm", "</torch_", "/psm_"}, kSharedMemory},
    {"resource_exhausted",
     {"out of memory", "trying to allocate", "failed to allocate", "ran out of memory"},
     "Let it need less of the device's memory: a smaller batch, rematerialised activations (jax.checkpoint), "
     "arrays sharded over the devices; see what else holds it, and which share XLA takes of it "
     "(XLA_PYTHON_CLIENT_MEM_FRACTION)"},
    {"",
     {"triton.runtime.errors.outofresources", "out of resource: shared memory"},
     "Take smaller tiles or fewer stages for this Triton kernel, or a version of its library that knows this "
     "GPU"},
    {"",
     {"out of memory", "outofmemory", "alloc_failed"},
     "Let it need less memory: a smaller batch; where it trains, recomputed activations, parameters and "
     "optimizer split over the devices"},
    {"", {"failed to find c compiler"}, "Install a C compiler (gcc), or name one in the variable CC"},
    {"",
     {"passmanager::run failed", "llvm error"},
     "Keep to kernels that its compiler can make for this GPU: a newer Triton, no compilation "
     "(TORCH_COMPILE_DISABLE=1, --enforce-eager of vLLM), or another attention backend"},
    {"",
     {"inductorerror", "backendcompilerfailed"},
     "Run it without compilation (TORCH_COMPILE_DISABLE=1, --enforce-eager of vLLM) to see whether the rest "
     "works, or with a newer PyTorch"},
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
     "Take another port (--master_port of torchrun, --port of a server), or end the process that still holds "
     "it"},
    {"",
     {"no space left on device", "disk quota exceeded"},
     "Free space on the disk that it writes to (checkpoints, caches in ~/.cache), or write to another"},
    {"", {"too many open files"}, "Raise the limit of open files (ulimit -n)"},
    {"",
     {"gated repo", "gatedrepoerror", "couldn't connect to 'http", "we couldn't connect",
      "host='huggingface.co'", "localentrynotfounderror"},
     "Download models and data before the job starts, with a token where they need one (HF_TOKEN), and name "
     "the local copy"},
    {"probability tensor",
     {"inf", "nan"},
     "See why the model's outputs are no numbers: the learning rate, the precision, the loaded weights"},
    {"",
     {"device-side assert"},
     "Read the assertion that the log has above it, which tells whether an index is outside of its table or "
     "a "
     "value is no number, and find the call with CUDA_LAUNCH_BLOCKING=1"},
    {"",
     {"illegal memory access"},
     "Find the kernel with CUDA_LAUNCH_BLOCKING=1 or compute-sanitizer, those of extensions and of Triton "
     "first"},
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
