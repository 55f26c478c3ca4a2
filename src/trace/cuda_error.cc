// SPDX-License-Identifier: Apache-2.0
#include "src/trace/cuda_error.h"

#include <algorithm>
#include <array>

namespace dladvisor {
namespace {

constexpr std::string_view kArchitecture =
    "Compile for this GPU's architecture (-arch=native of nvcc, CMAKE_CUDA_ARCHITECTURES, "
    "TORCH_CUDA_ARCH_LIST)";
constexpr std::string_view kNewerPtx =
    "Compile for this GPU's architecture (-arch=native of nvcc), or update the driver: the program holds PTX "
    "of a "
    "newer CUDA than the driver can compile";
constexpr std::string_view kPtx =
    "Compile for this GPU's architecture (-arch=native of nvcc), so that the driver has no PTX to compile; "
    "where "
    "the program makes PTX itself, read the log of that compilation (CU_JIT_ERROR_LOG_BUFFER)";
constexpr std::string_view kMemory =
    "Let it need less of the GPU's memory, and see what else holds it (nvidia-smi)";
constexpr std::string_view kArguments =
    "Check what is passed to the call: threads of a block, shared memory and sizes within what the GPU has, "
    "pointers, directions of copies, and managed memory where it is prefetched";
constexpr std::string_view kResources =
    "Launch fewer threads a block, or let the kernel need fewer registers (__launch_bounds__, -maxrregcount)";
constexpr std::string_view kDriver =
    "Update the GPU's driver, or build with an older CUDA; after an update of the driver restart the machine";
constexpr std::string_view kDevice =
    "See that the program is given a GPU (CUDA_VISIBLE_DEVICES, --gres of Slurm, --gpus of Docker)";
constexpr std::string_view kAddress =
    "Run the program once under compute-sanitizer, which names the kernel and the line of the wrong access";
constexpr std::string_view kException =
    "Run the program once under compute-sanitizer, which names the kernel that fails";
constexpr std::string_view kStack =
    "Let the failing kernel need less stack (calls of itself, large arrays of a thread), or raise "
    "cudaLimitStackSize; compute-sanitizer names the kernel, and what writes over its stack";

constexpr auto kErrors = std::to_array<CudaError>({
    {1, "invalid value", kArguments},
    {2, "out of memory", kMemory},
    {9, "invalid configuration", kArguments},
    {11, "invalid value", kArguments},
    {35, "driver older than the CUDA runtime", kDriver},
    {98, "invalid device function", kArchitecture},
    {100, "no GPU", kDevice},
    {101, "invalid GPU", kDevice},
    {200, "invalid kernel image", kArchitecture},
    {209, "no kernel image for this GPU", kArchitecture},
    {218, "failed compilation of PTX", kPtx},
    {222, "PTX of a version that the driver does not know", kNewerPtx},
    {700, "illegal address", kAddress},
    {701, "too many resources for a launch", kResources},
    {710, "assertion of a kernel", "Read the assertion in the program's output"},
    {714, "error in the call stack of a kernel", kStack},
    {715, "illegal instruction", kException},
    {716, "misaligned address", kAddress},
    {717, "invalid address space", kException},
    {718, "invalid program counter", kException},
    {719, "failure within a kernel", kAddress},
    {720, "more blocks than fit at once for a cooperative launch",
     "Launch no more blocks than cudaOccupancyMaxActiveBlocksPerMultiprocessor says times the "
     "multiprocessors"},
    {803, "driver and its libraries of different versions", kDriver},
});

}  // namespace

const CudaError* FindCudaError(int64_t code) {
  const auto found = std::ranges::find(kErrors, code, &CudaError::code);
  return found == kErrors.end() ? nullptr : &*found;
}

}  // namespace dladvisor
